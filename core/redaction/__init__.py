"""Redaction: what may leave the house without its values."""
