"""Prediction and gold files in the two benchmarks' own forms (for `merito eval`).

The published scripts' way of reading is kept, blank lines and placeholders included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from core.datasets.records import parse_json, read_records, read_text
from core.errors import MeritoError
from core.wording import counted

BIRD_SEPARATOR = "\t----- bird -----\t"
VALUE_PLACEHOLDER = (" value ", " 1 ")
"""Spider's script puts a number where a prediction leaves a value open."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One prediction and the gold query it is compared with."""

    index: int
    """Position in the files, from 0; blank lines are not counted."""
    db_id: str
    predicted: str
    gold: str = msgspec.field(default="")

    def __repr__(self) -> str:
        return f"Pair(index={self.index}, db_id={self.db_id!r})"


def read_pairs(dataset: str, gold: Path, predicted: Path) -> list[Pair]:
    """The pairs of two files in the form of `dataset` (spider or bird).

    Raises MeritoError, one line that names file and line, for files that do not fit their form or
    each other.
    """
    read_golds, read_predictions = _FORMS[dataset]
    golds, predictions = read_golds(gold), read_predictions(predicted)
    if not golds:
        raise MeritoError(f"{gold}: it holds no gold queries.", "Give the benchmark's gold file.")
    if [len(part) for part in golds] != [len(part) for part in predictions]:
        raise MeritoError(_unequal(gold, predicted, golds, predictions), _ONE_EACH)
    flat = zip(
        (g for part in golds for g in part), (p for part in predictions for p in part), strict=True
    )
    return [
        Pair(index=index, db_id=db_id, predicted=sql, gold=gold_sql)
        for index, ((gold_sql, db_id), sql) in enumerate(flat)
    ]


def key_notice(dataset: str, predicted: Path) -> str:
    """What is odd about the keys of a BIRD prediction file, in one line; empty where nothing is. They
    decide nothing: predictions are paired by their place, as published. Raises MeritoError."""
    if dataset != "bird":
        return ""
    found = parse_json(str(predicted), read_text(predicted))
    keys = list(found) if isinstance(found, dict) else []
    odd = [place for place, key in enumerate(keys) if key != str(place)]
    if not odd:
        return ""
    return (
        f"{predicted}: {len(odd):,} of {counted(len(keys), 'key')} are not their place (place {odd[0]}"
        f" has the key {keys[odd[0]]!r}). Predictions are paired by place, as published scripts do;"
        " where the keys say otherwise, sort the file by them."
    )


def read_decisions(path: Path) -> dict[int, bool | None]:
    """Index -> whether it is right (null: its gold is broken), from lines that `merito eval --json` has
    printed. Raises MeritoError that names file, record and field."""
    found: dict[int, bool | None] = {}
    for record in read_records(path):
        index, correct = record.fields.get("index"), record.fields.get("correct", "")
        if type(index) is not int or index in found:
            raise record.wrong("index", "is no whole number, or there twice")
        if correct is not None and not isinstance(correct, bool):
            raise record.wrong("correct", "is neither true, false nor null")
        found[index] = correct
    return found


_ONE_EACH = "Both need the same questions in the same order, one a line."

Gold = tuple[str, str]
"""SQL and database id."""


def _unequal(gold: Path, predicted: Path, golds: list[list[Gold]], predictions: list[list[str]]) -> str:
    wanted, found = sum(map(len, golds)), sum(map(len, predictions))
    if wanted != found:
        return f"{gold} has {counted(wanted, 'query', 'queries')}, {predicted} has {found:,}."
    return (
        f"The blank lines of {gold} and {predicted} stand in different places; they end a conversation."
    )


def _lines(path: Path) -> list[str]:
    """Lines without surrounding spaces, ended as Python's text files end them."""
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", read_text(path))]
    return lines if lines[-1] else lines[:-1]


def _conversations(path: Path) -> list[list[tuple[int, str]]]:
    """Numbered lines, cut at blank lines; a conversation can be empty, except the last."""
    parts: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(_lines(path), 1):
        if line:
            parts[-1].append((number, line))
        else:
            parts.append([])
    return parts if parts[-1] else parts[:-1]


def _spider_golds(path: Path) -> list[list[Gold]]:
    return [[_gold(path, number, line) for number, line in part] for part in _conversations(path)]


def _spider_predictions(path: Path) -> list[list[str]]:
    return [
        [line.split("\t")[0].replace(*VALUE_PLACEHOLDER) for _, line in part]
        for part in _conversations(path)
    ]


def _gold(path: Path, number: int, line: str) -> Gold:
    sql, tab, db_id = line.rpartition("\t")
    if not tab or "\t" in sql:
        raise MeritoError(
            f"{path}, line {number}: expected SQL, one tab, and the database id.", "Correct the line."
        )
    return sql.strip(), db_id


def _bird_golds(path: Path) -> list[list[Gold]]:
    lines = _lines(path)
    while lines and not lines[-1]:
        lines.pop()
    return [[_gold(path, number, line) for number, line in enumerate(lines, 1)]] if lines else []


def _bird_predictions(path: Path) -> list[list[str]]:
    """Paired by their place in the object, as published, whatever their keys say."""
    found = parse_json(str(path), read_text(path))
    if not isinstance(found, dict):
        raise MeritoError(
            f'{path}: expected a JSON object of "index": "SQL{BIRD_SEPARATOR}db_id".'.replace(
                "\t", "\\t"
            ),
            "Correct the file.",
        )
    return [[_bird_sql(value) for value in found.values()]]


def _bird_sql(value: object) -> str:
    if not isinstance(value, str):  # the published generator writes 0 where it failed
        return ""
    parts = value.split(BIRD_SEPARATOR)
    return parts[0] if len(parts) == 2 else value.strip()


_FORMS: dict[str, tuple[Callable[[Path], list[list[Gold]]], Callable[[Path], list[list[str]]]]] = {
    "spider": (_spider_golds, _spider_predictions),
    "bird": (_bird_golds, _bird_predictions),
}
