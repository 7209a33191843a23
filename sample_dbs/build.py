"""Builds every sample database and question file from `sources/`: `python -m sample_dbs.build`."""

from __future__ import annotations

import importlib
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from sample_dbs import folder
from sample_dbs.sources.draw import Draw, Tables
from sample_dbs.verify import faults, mirrored

SOURCES = "sources"
QUESTION_FIELDS = ("question_id", "db_id", "question", "query", "evidence", "difficulty")
SPIDER_TYPES = {"INTEGER": "number", "REAL": "number", "TEXT": "text"}


class SourceQuestion(TypedDict, total=False):
    """One record of `sources/<db>/questions.json`; `lesson` names what it shares with others."""

    question_id: int
    question: str
    query: str
    evidence: str
    difficulty: str
    lesson: str
    empty: bool


def names(root: Path) -> list[str]:
    """The databases there are sources for, in alphabetical order."""
    return sorted(schema.parent.name for schema in (root / SOURCES).glob("*/schema.sql"))


def source_questions(root: Path, name: str) -> list[SourceQuestion]:
    """The questions of one database as their author wrote them."""
    text = (root / SOURCES / name / "questions.json").read_text(encoding="utf-8")
    questions: list[SourceQuestion] = json.loads(text)
    return questions


def build_database(root: Path, name: str, target: Path) -> None:
    """Make the database `name` at `target`: its schema, then its rows, seeded by its name."""
    schema = (root / SOURCES / name / "schema.sql").read_text(encoding="utf-8")
    module = importlib.import_module(f"sample_dbs.{SOURCES}.{name}.rows")
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(target)) as connection:
        connection.executescript(f"PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';\n{schema}")
        for table, rows in module.rows(Draw(name), _handwritten(root, name)).items():
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        connection.commit()
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise ValueError(f"{name}: rows without their parent: {broken[:3]}")
        connection.execute("VACUUM")


def _handwritten(root: Path, name: str) -> Tables:
    text = (root / SOURCES / name / "handwritten.json").read_text(encoding="utf-8")
    return {table: [tuple(row) for row in rows] for table, rows in json.loads(text).items()}


def dump(database: Path) -> str:
    """Everything a database holds, as SQL: equal for two files that differ in bytes alone."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return "\n".join(connection.iterdump())


def spider_tables(database: Path) -> dict[str, object]:
    """One record of Spider's `tables.json`: names, types and keys by column number."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        listing = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
        tables = [name for (name,) in connection.execute(listing)]
        columns = [
            (number, column, kind, bool(key))
            for number, table in enumerate(tables)
            for _, column, kind, _, _, key in connection.execute(f'PRAGMA table_info("{table}")')
        ]
        place = {(tables[column[0]], column[1]): index for index, column in enumerate(columns, 1)}
        foreign = [
            [place[table, key[3]], place[key[2], key[4]]]
            for table in tables
            for key in connection.execute(f'PRAGMA foreign_key_list("{table}")')
        ]
    return {
        "db_id": database.stem,
        "table_names_original": tables,
        "table_names": [table.replace("_", " ").lower() for table in tables],
        "column_names_original": [[-1, "*"], *([c[0], c[1]] for c in columns)],
        "column_names": [[-1, "*"], *([c[0], c[1].replace("_", " ").lower()] for c in columns)],
        "column_types": ["text", *(SPIDER_TYPES[c[2]] for c in columns)],
        "primary_keys": [index for index, column in enumerate(columns, 1) if column[3]],
        "foreign_keys": sorted(foreign),
    }


def problems(database: Path, questions: list[SourceQuestion]) -> Iterator[str]:
    """Every fault of the gold queries of one database, each with its question's number."""
    path = f"file:{database}?mode=ro"
    with (
        closing(sqlite3.connect(path, uri=True)) as connection,
        closing(mirrored(connection)) as mirror,
    ):
        for record in questions:
            empty = record.get("empty", False)
            for fault in faults(connection, mirror, record["query"], may_be_empty=empty):
                yield f"{database.stem} {record['question_id']}: {fault}"


def build(root: Path) -> list[str]:
    """Make everything below `root` again and return the faults found.

    A database whose contents are unchanged keeps its file, so that a rebuild with another
    SQLite changes nothing. The question files are written only where there is no fault.
    """
    found: list[str] = []
    records: list[dict[str, object]] = []
    for name in names(root):
        target = root / "database" / name / f"{name}.sqlite"
        _refresh(root, name, target)
        questions = source_questions(root, name)
        found += problems(target, questions)
        records += [_published(name, question) for question in questions]
    found += _repeated_numbers(records)
    if not found:
        tables = [spider_tables(root / "database" / name / f"{name}.sqlite") for name in names(root)]
        _write(root / "dev.json", records)
        _write(root / "tables.json", tables)
    return found


def _refresh(root: Path, name: str, target: Path) -> None:
    with TemporaryDirectory() as scratch:
        fresh = Path(scratch) / target.name
        build_database(root, name, fresh)
        if not target.exists() or dump(target) != dump(fresh):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(fresh.read_bytes())


def _published(name: str, question: SourceQuestion) -> dict[str, object]:
    known: dict[str, object] = {"evidence": "", **question, "db_id": name}
    return {field: known[field] for field in QUESTION_FIELDS}


def _repeated_numbers(records: list[dict[str, object]]) -> list[str]:
    times = Counter(record["question_id"] for record in records)
    return [
        f"question_id {number} is used {count} times" for number, count in times.items() if count > 1
    ]


def _write(path: Path, records: object) -> None:
    path.write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Build in place; print every fault, and return 1 where there is one."""
    found = build(folder())
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
