"""Rows as they go into a table."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import msgspec

_canonical = msgspec.json.Encoder(order="sorted")


def canonical(value: object) -> str:
    """JSON that is equal exactly where the values are equal."""
    return _canonical.encode(value).decode()


def insert(conn: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Add one row; columns that it leaves out are NULL."""
    conn.execute(_insertion(table, tuple(row)), tuple(row.values()))


def place(event: Any) -> dict[str, Any]:
    """Where an event belongs: run, number, position, attempt."""
    return {name: getattr(event, name) for name in ("run", "seq", "position", "attempt")}


@cache
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{column}"' for column in columns)
    return f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(columns))})'
