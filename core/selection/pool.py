"""Pool files: questions with the candidates that were generated for them (map-sql.md, "Candidates").

One JSON object a line. A record that is broken is named in one line and left out; the rest is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from core.datasets.records import Record, parse_json, read_text
from core.errors import MeritoError
from core.question import Question


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One SQL text and who wrote it."""

    sql: str
    source: str = ""


class PooledQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its candidates, in the file's order. `gold` is for the evaluator alone."""

    question: Question
    candidates: tuple[Candidate, ...]
    id: int | str
    """The question's id as the file writes it."""
    gold: str = msgspec.field(default="")

    def __repr__(self) -> str:
        return f"PooledQuestion(id={self.id!r}, {len(self.candidates)} candidates)"


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds, and a line for each record that had to be left out."""

    questions: tuple[PooledQuestion, ...]
    problems: tuple[str, ...] = ()


def read_pool(path: Path) -> Pool:
    """Read a pool file. Raises MeritoError where the file cannot be read or nothing in it can."""
    questions: dict[str, PooledQuestion] = {}
    problems: list[str] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}, record {number}"
        try:
            pooled = _pooled(Record(place, _object(place, line)), number - 1)
            if pooled.question.id in questions:
                raise MeritoError(f"{place}: the id {pooled.id!r} is taken already.")
        except MeritoError as broken:
            problems.append(broken.problem)
        else:
            questions[pooled.question.id] = pooled
    if not questions:
        why = problems[0] if problems else f"{path}: the file is empty."
        raise MeritoError(why, "Give one JSON object a line: question_id, db_id, question, candidates.")
    return Pool(questions=tuple(questions.values()), problems=tuple(problems))


def _object(place: str, line: str) -> dict[str, Any]:
    found = parse_json(place, line)
    if not isinstance(found, dict):
        raise MeritoError(f"{place}: an object with fields was expected.")
    return found


def _pooled(record: Record, index: int) -> PooledQuestion:
    identity = record.number_or_text(("question_id", "id"), index)
    question = Question(
        id=identity,
        database=record.text(("db_id", "database"), required=True),
        text=record.text(("question",), required=True),
        evidence=record.text(("evidence",)),
        difficulty=record.text(("difficulty",)),
    )
    written = record.fields.get("question_id", record.fields.get("id"))
    return PooledQuestion(
        question=question,
        candidates=_candidates(record),
        id=written if isinstance(written, int) else identity,
        gold=record.text(("gold_sql", "gold", "query", "SQL")),
    )


def _candidates(record: Record) -> tuple[Candidate, ...]:
    listed = record.fields.get("candidates")
    if not isinstance(listed, list):
        raise record.wrong("candidates", "is missing" if listed is None else "is not a list")
    return tuple(_candidate(record.place, number, each) for number, each in enumerate(listed, 1))


def _candidate(place: str, number: int, fields: object) -> Candidate:
    if isinstance(fields, str):
        fields = {"sql": fields}
    where = f"{place}, candidate {number}"
    if not isinstance(fields, dict):
        raise MeritoError(f"{where}: an object with source and sql was expected.")
    record = Record(where, fields)
    if not isinstance(fields.get("sql"), str):
        raise record.wrong("sql", "is missing" if fields.get("sql") is None else "is not text")
    return Candidate(sql=record.text(("sql",)), source=record.text(("source",)))
