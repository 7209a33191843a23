"""A few values of each column, for prompts and screens."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from core.database import opening
from core.database.files import check_database
from core.database.rows import Value
from core.database.schema import Schema, Table
from core.sql import fold

_ROWS_READ = 200
"""First rows of a table that are looked through: a table may be as large as it likes."""
_OPCODES_BETWEEN_LOOKS = 10_000


def read_samples(
    path: Path, schema: Schema, *, values: int = 3, seconds: float = 2.0
) -> dict[str, dict[str, tuple[Value, ...]]]:
    """Table -> column -> up to `values` different values that are not NULL, names case-folded.

    Views are passed over, and what was not read within `seconds` is missing. Raises MeritoError
    (see `check_database`).
    """
    until = time.monotonic() + seconds
    sampled: dict[str, dict[str, tuple[Value, ...]]] = {}
    try:
        with closing(opening.connect_read_only(str(path), busy_seconds=1.0)) as connection:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            connection.set_progress_handler(lambda: time.monotonic() >= until, _OPCODES_BETWEEN_LOOKS)
            for table in schema.tables:
                if not table.is_view and table.columns:
                    sampled[fold(table.name)] = _sample_table(connection, table, values)
    except (OSError, sqlite3.Error):
        if time.monotonic() < until:
            check_database(path)
    return sampled


def _sample_table(
    connection: sqlite3.Connection, table: Table, most: int
) -> dict[str, tuple[Value, ...]]:
    name = table.name.replace('"', '""')
    columns = ", ".join('"' + column.name.replace('"', '""') + '"' for column in table.columns)
    rows = connection.execute(f'SELECT {columns} FROM "{name}" LIMIT {_ROWS_READ}').fetchall()
    return {
        fold(column.name): _different(values, most)
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=False)
    }


def _different(values: tuple[Value, ...], most: int) -> tuple[Value, ...]:
    seen = dict.fromkeys(value for value in values if value is not None and value != "")
    return tuple(list(seen)[:most])
