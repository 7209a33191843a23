"""Experiments: many runs compared, with statistics that can be trusted (evaluation.md)."""
