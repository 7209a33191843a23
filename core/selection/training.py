"""Training pairs that specifications are made from: questions with gold SQL and a schema, which a
database or a line of Spider's `tables.json` gives."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.database.files import DatabaseFolder
from core.database.schema import Schema, read_schema
from core.datasets.records import Record, parse_json, read_records, read_text
from core.errors import MeritoError, UsageMistake
from core.selection.specification import Repair, memory_id

_GOLD = ("query", "SQL", "gold_sql", "gold", "sql")


class TrainingPair(msgspec.Struct, frozen=True, kw_only=True):
    """One question with its correct query."""

    id: str
    database: str
    question: str
    gold: str
    evidence: str = ""
    schema: Schema = Schema(database="", tables=())
    """Of its database, or of that part of it that is known."""
    repair: Repair | None = None
    """The repair that confirmed the query; None where a file gives it."""


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs, and a line for each that was left out."""

    pairs: tuple[TrainingPair, ...]
    problems: tuple[str, ...] = ()


def read_training(
    path: Path, *, root: Path | None = None, limit: int | None = None, seed: int = 0
) -> Training:
    """Read a file of training pairs. With `limit` so many are drawn by `seed`.

    Schemas come from every `*tables.json` beside the file, else from the databases under `root`
    (default: the file's folder). A record that is broken, or of which something is missing, is a
    problem and left out. Raises MeritoError where the file, or every pair, is of no use.
    """
    described, undescribed = _described(path.parent)
    folder = DatabaseFolder(root) if root is not None else None
    if folder is None and not described:
        folder = DatabaseFolder(path.parent)
    pairs, problems = _pairs(read_records(path, broken_too=True))
    if limit is not None and limit < len(pairs):
        pairs = random.Random(seed).sample(pairs, limit)
    # Pairs of one database after one another: their prompts begin alike.
    pairs.sort(key=lambda pair: pair.database)
    schemas: dict[str, Schema] = {}
    kept = []
    for pair in pairs:
        try:
            if pair.database not in schemas:
                schemas[pair.database] = _schema(pair.database, described, folder)
            kept.append(msgspec.structs.replace(pair, schema=schemas[pair.database]))
        except MeritoError as missing:
            problems.append(f"{pair.database}: {missing}")
    problems = list(dict.fromkeys([*undescribed, *problems]))
    if not kept:
        why = problems[0] if problems else f"{path}: it holds no pairs."
        raise MeritoError(why, "Put tables.json beside the file, or give --root DIR.")
    return Training(pairs=tuple(kept), problems=tuple(problems))


def _pairs(records: list[Record]) -> tuple[list[TrainingPair], list[str]]:
    """One pair an id: the same question with the same query is one memory."""
    pairs: dict[str, TrainingPair] = {}
    problems = []
    for record in records:
        if record.trouble:
            problems.append(record.trouble)
            continue
        try:
            database = record.text(("db_id", "database"), required=True)
            question = record.text(("question",), required=True)
            gold = record.text(_GOLD, required=True)
            evidence = record.text(("evidence",))
        except MeritoError as broken:
            problems.append(broken.problem)
            continue
        name = memory_id(database, question, gold)
        pair = TrainingPair(id=name, database=database, question=question, gold=gold, evidence=evidence)
        pairs.setdefault(name, pair)
    return list(pairs.values()), problems


def _described(folder: Path) -> tuple[dict[str, Schema], list[str]]:
    """Schemas from Spider's description files in the folder, and what is wrong with others there."""
    found: dict[str, Schema] = {}
    problems = []
    for file in sorted(folder.glob("*tables.json")):
        listed = parse_json(str(file), read_text(file))
        if not isinstance(listed, list):
            problems.append(f"{file}: it holds no list of schemas, so it is passed over.")
            continue
        for record in listed:
            try:
                schema = Schema.from_spider_tables(record)
            except MeritoError as broken:
                problems.append(f"{file}: {broken.problem}")
            else:
                found[schema.database] = schema
    return found, problems


def _schema(database: str, described: Mapping[str, Schema], folder: DatabaseFolder | None) -> Schema:
    if folder is not None and database in folder:
        return read_schema(folder.path(database))
    if database in described:
        return described[database]
    if folder is not None:
        return read_schema(folder.path(database))
    raise UsageMistake(f"There is no schema of the database '{database}'.", "Give --root DIR.")
