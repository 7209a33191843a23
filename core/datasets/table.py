"""Plain JSON lines or CSV: database and question, and as one likes gold, evidence, id."""

from __future__ import annotations

from core.datasets.dataset import Layout

TABLE = Layout(
    name="table",
    protocol="bird",
    id=("id", "question_id"),
    database=("database", "db_id"),
    gold=("gold", "gold_sql", "query", "SQL", "sql"),
    gold_is_all_or_none=False,
)
"""Compared by BIRD's rule, which asks nothing of the gold query's text."""
