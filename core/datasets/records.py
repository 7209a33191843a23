"""Records of a file: one by one, each with the words that name its place in an error."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from core.errors import MeritoError

STDIN = "-"


class Record(msgspec.Struct, frozen=True):
    """One record and where it stands."""

    place: str
    """File and record number, as a sentence about it begins."""
    fields: dict[str, Any]
    trouble: str = ""
    """Why it is no record at all, in one line; only where somebody asked for such, too."""

    def text(self, names: tuple[str, ...], *, required: bool = False) -> str:
        """The text of the first of `names` that is there; empty where none is and none must be.

        Raises MeritoError for a missing or empty field that is required, and for anything but text.
        """
        name = self._present(names)
        value = self.fields.get(name)
        if value is None and not required:
            return ""
        if value is None:
            raise self.wrong(name, "is missing")
        if not isinstance(value, str):
            raise self.wrong(name, f"is {_KIND.get(type(value), 'no text')}, not text")
        if required and not value.strip():
            raise self.wrong(name, "is empty")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self.wrong(name, "holds half a character (a lone surrogate)") from None
        return value

    def number_or_text(self, names: tuple[str, ...], default: int) -> str:
        """An id: text, or a whole number as text; `default` where there is none."""
        name = self._present(names)
        value = self.fields.get(name)
        if value is None:
            return str(default)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text((name,), required=True)

    def wrong(self, field: str, what: str) -> MeritoError:
        """The error that names file, record and field."""
        return MeritoError(f"{self.place}: the field '{field}' {what}.", "Correct the record.")

    def _present(self, names: tuple[str, ...]) -> str:
        return next((name for name in names if self.fields.get(name) is not None), names[0])


_KIND = {int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


def read_records(path: str | Path, *, broken_too: bool = False) -> list[Record]:
    """All records of a JSON, JSON lines or CSV file, or of standard input (JSON lines).

    Raises MeritoError for a file that cannot be read, is not UTF-8, or is not what its name says,
    and for a broken record; with `broken_too` such a one comes as a Record with its `trouble`.
    """
    return list(_sound(_read(path), broken_too))


Reading = Iterator[Callable[[], Record]]
"""Record by record, each read only when it is called: one that is broken does not end the rest."""


def _sound(reading: Reading, broken_too: bool) -> Iterator[Record]:
    for read in reading:
        try:
            yield read()
        except MeritoError as broken:
            if not broken_too:
                raise
            yield Record("", {}, broken.problem)


def _read(path: str | Path) -> Reading:
    if str(path) == STDIN:
        return _json_lines("standard input", _decoded("standard input", sys.stdin.buffer.read()))
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None and path.is_file():
        raise MeritoError(
            f"{path}: the name does not say what kind of file it is.",
            f"Use one of the endings {', '.join(_READERS)}.",
        )
    text = read_text(path)
    if not text.strip():
        raise MeritoError(f"{path}: the file is empty.", "Give a file with questions.")
    return (reader or _json_lines)(str(path), text)


def read_text(path: Path) -> str:
    """A UTF-8 file's text, with or without a byte order mark. Raises MeritoError."""
    try:
        return _decoded(str(path), path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MeritoError(f"{path}: cannot be read: {reason}.", "Check the path.") from None


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise MeritoError(
            f"{name}: the text is not UTF-8 (line {line}).", "Save the file as UTF-8."
        ) from None


def parse_json(place: str, text: str) -> Any:
    """The value that a JSON text stands for. Raises MeritoError, with the line where it breaks."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f" at line {error.lineno}, column {error.colno}" if "\n" in text.strip() else ""
        raise MeritoError(f"{place}: broken JSON{where}: {error.msg}.", "Correct the file.") from None
    except (ValueError, RecursionError):
        raise MeritoError(
            f"{place}: broken JSON: a number too long, or nested too deeply.", "Correct the file."
        ) from None


def _json(name: str, text: str) -> Reading:
    found = parse_json(name, text)
    if not isinstance(found, list):
        raise MeritoError(
            f"{name}: a list of records was expected.", "One object a line belongs in a .jsonl file."
        )
    for number, fields in enumerate(found, 1):
        yield partial(_record, f"{name}, record {number}", fields)


def _json_lines(name: str, text: str) -> Reading:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield partial(_line, f"{name}, record {number}", line)


def _line(place: str, line: str) -> Record:
    return _record(place, parse_json(place, line))


def _record(place: str, fields: Any) -> Record:
    if not isinstance(fields, dict):
        raise MeritoError(f"{place}: an object with fields was expected.", "Correct the record.")
    return Record(place, fields)


def _csv(name: str, text: str, delimiter: str = ",") -> Reading:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    number = 0
    try:
        header = [cell.strip() for cell in next(rows)]
        _check_header(name, header)
        for number, row in enumerate(rows, 1):
            if row:
                yield partial(_csv_record, f"{name}, record {number}", header, row)
    except csv.Error as error:
        raise MeritoError(f"{name}, record {number + 1}: broken CSV: {error}.", "Correct it.") from None


def _check_header(name: str, header: list[str]) -> None:
    twice = next((cell for cell in header if header.count(cell) > 1), None)
    if twice is not None:
        raise MeritoError(f"{name}: the header names '{twice}' twice.", "Rename one of the columns.")
    if "question" not in header:
        raise MeritoError(
            f"{name}: the first line is no header: it has no column 'question'.",
            "Begin the file with: database,question,gold,evidence",
        )


def _csv_record(place: str, header: list[str], row: list[str]) -> Record:
    if len(row) > len(header):
        raise MeritoError(
            f"{place}: {len(row)} cells under {len(header)} column names.",
            "Put cells that hold a comma between double quotes.",
        )
    # An empty cell says nothing, except where the question should be.
    cells = dict(zip(header, row, strict=False))
    return Record(place, {name: cell for name, cell in cells.items() if cell or name == "question"})


_READERS: dict[str, Callable[[str, str], Reading]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _csv,
    ".tsv": lambda name, text: _csv(name, text, "\t"),
}
