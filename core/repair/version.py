"""The version of the repair loop. A run's settings hold it, so that no run and no experiment is a
mixture of two programs."""

from __future__ import annotations

LOOP = 3
"""Raise it with every change that lets the same question, prompts, model and seed end otherwise: in
`mends`, `hints`, the extraction of SQL from answers, the classifier, or the loop itself.

A changed prompt or strategy row needs no new number, since runs know both by their content. Shared
answers do not depend on it: they are found by the prompt that was sent. 1 stands for everything
before the number was kept; such runs have none."""
