"""BIRD's column descriptions: `database_description/TABLE.csv` beside a database."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from core.sql import fold

_FOLDER = "database_description"
_ENCODINGS = ("utf-8-sig", "cp1252", "latin-1")
"""The published files mix the first two; the last reads anything."""
_NAME = "original_column_name"
_PARTS = ("column_name", "column_description", "value_description")


def read_descriptions(database: Path) -> dict[str, dict[str, str]]:
    """Table -> column -> description for the database file; names are case-folded.

    {} where there is no folder of descriptions. Rows and files without a column name are passed
    over: a description is a help, and its absence no error.
    """
    files = sorted((database.parent / _FOLDER).glob("*.csv"))
    return {file.stem.strip().casefold(): _read_table(file) for file in files}


def _read_table(file: Path) -> dict[str, str]:
    described: dict[str, str] = {}
    for row in csv.DictReader(io.StringIO(_decoded(file.read_bytes()), newline="")):
        cells = {(key or "").strip(): _text(value) for key, value in row.items()}
        name = cells.get(_NAME, "")
        if name:
            described[fold(name)] = _described(name, [cells.get(part, "") for part in _PARTS])
    return described


def _decoded(content: bytes) -> str:
    for encoding in _ENCODINGS:
        try:
            return content.decode(encoding).replace("\x00", "")
        except UnicodeDecodeError:
            continue
    return ""


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _described(name: str, parts: list[str]) -> str:
    """The parts that say something new, in order."""
    told = [name.casefold(), name.casefold().replace("_", " ")]
    kept = []
    for part in parts:
        if part and part.casefold() not in told:
            told.append(part.casefold())
            kept.append(part)
    return "; ".join(kept)
