"""The store's tables. `events` is the truth; every other table but `meta` is computed from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x4D525354
"""Tells a Merito store from any other SQLite file."""


@dataclass(frozen=True)
class Table:
    """One table: its columns in order, its key, which columns may be NULL, what it points at."""

    columns: dict[str, type]
    key: tuple[str, ...]
    optional: frozenset[str] = frozenset()
    points_at: dict[str, tuple[str, str]] = field(default_factory=dict)
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()


RUN = {"run": ("runs", "id")}

TRUTH: dict[str, Table] = {
    "meta": Table({"key": str, "value": str}, ("key",)),
    "events": Table(
        {"number": int, "run": str, "seq": int, "at": float, "kind": str, "body": str},
        ("number",),
        unique=(("run", "seq"),),
    ),
}
"""`number` orders the events of all runs as they were committed; run '' is the library's own log."""

# Prompts and answers are long, and stand in the events already: `calls` names them by their numbers.
PROJECTED: dict[str, Table] = {
    "runs": Table(
        {
            "id": str,
            "started": float,
            "last_at": float,
            "state": str,
            "dataset": str,
            "strategy": str,
            "model": str,
            "settings": str,
            "questions": int,
            "sessions": int,
            "last_seq": int,
            "seconds": float,
        },
        ("id",),
        indexes=(("started",),),
    ),
    "questions": Table(
        {
            "run": str,
            "position": int,
            "id": str,
            "database": str,
            "text": str,
            "evidence": str,
            "difficulty": str,
        },
        ("run", "position"),
        points_at=RUN,
    ),
    "memories": Table(
        {
            "number": int,
            "id": str,
            "origin": str,
            "run": str,
            "position": int,
            "polarity": str,
            "failure": str,
            "database": str,
            "question": str,
            "source_key": str,
            "failed_sql": str,
            "revised_sql": str,
            "delta": str,
            "message": str,
            "confirmed": int,
            "at": float,
            "entry": str,
        },
        ("number",),
        unique=(("id",),),
        indexes=(("run", "position"), ("database",)),
    ),
    "episodes": Table(
        {
            "run": str,
            "position": int,
            "first_seq": int,
            "started": float,
            "ended": float,
            "outcome": str,
            "attempts": int,
            "memory": str,
            "note": str,
            "seconds": float,
        },
        ("run", "position"),
        optional=frozenset({"ended", "outcome", "attempts", "memory", "note", "seconds"}),
        points_at={**RUN, "memory": ("memories", "id")},
    ),
    "attempts": Table(
        {
            "run": str,
            "position": int,
            "attempt": int,
            "at": float,
            "sql": str,
            "status": str,
            "message": str,
            "failure": str,
            "rule": str,
            "confirmed": int,
            "judge": str,
            "remark": str,
            "repeats": int,
            "refused": str,
            "correction": str,
            "skipped": int,
            "limit_hit": int,
        },
        ("run", "position", "attempt"),
        optional=frozenset({"failure", "repeats"}),
        points_at=RUN,
    ),
    "calls": Table(
        {
            "run": str,
            "seq": int,
            "position": int,
            "attempt": int,
            "purpose": str,
            "template": str,
            "sampling": str,
            "prompt_seq": int,
            "answer_seq": int,
            "prompt_tokens": int,
            "cached_tokens": int,
            "output_tokens": int,
            "seconds": float,
            "finish": str,
            "reused": int,
        },
        ("run", "seq"),
        optional=frozenset(
            {
                "template",
                "sampling",
                "prompt_seq",
                "answer_seq",
                "prompt_tokens",
                "cached_tokens",
                "output_tokens",
                "seconds",
                "finish",
                "reused",
            }
        ),
        points_at=RUN,
        indexes=(("run", "position", "attempt"),),
    ),
    "executions": Table(
        {
            "run": str,
            "seq": int,
            "position": int,
            "attempt": int,
            "outcome": str,
            "row_count": int,
            "error": str,
            "seconds": float,
        },
        ("run", "seq"),
        points_at=RUN,
    ),
    "retrievals": Table(
        {
            "run": str,
            "seq": int,
            "channel": str,
            "position": int,
            "attempt": int,
            "legal": int,
            "typed": int,
            "fallback": int,
            "pool": int,
            "taken": int,
            "seconds": float,
        },
        ("run", "seq", "channel"),
        points_at=RUN,
    ),
    "retrieved": Table(
        {
            "run": str,
            "seq": int,
            "memory": str,
            "position": int,
            "attempt": int,
            "channel": str,
            "taken": int,
            "source_run": str,
            "source_position": int,
            "source_key": str,
            "rank": int,
            "score": float,
            "dense": float,
            "dense_norm": float,
            "bm25": float,
            "bm25_norm": float,
            "type_match": int,
        },
        ("run", "seq", "memory"),
        optional=frozenset(
            {
                "source_key",
                "rank",
                "score",
                "dense",
                "dense_norm",
                "bm25",
                "bm25_norm",
                "type_match",
            }
        ),
        points_at=RUN,
        indexes=(("memory", "taken"),),
    ),
    "reviews": Table(
        {
            "memory": str,
            "at": float,
            "state": str,
            "who": str,
            "remark": str,
            "number": int,
            "place": int,
        },
        ("memory", "at", "state", "who"),
        points_at={"memory": ("memories", "id")},
    ),
    "predictions": Table({"key": str, "run": str, "seq": int}, ("key",), points_at=RUN),
}
"""In an order in which each table comes after those that it points at."""

SEARCHED = ("question", "database", "failed_sql", "revised_sql", "delta", "message")

EXTRAS: tuple[str, ...] = (
    f"CREATE VIRTUAL TABLE memories_fts USING fts5({', '.join(SEARCHED)}, content='memories',"
    " content_rowid='number')",
)
"""Full-text search over memories; it holds no text of its own."""


def create_tables(db: Database) -> None:
    """Version 1. Runs inside the caller's transaction."""
    for name, table in (TRUTH | PROJECTED).items():
        db.create_table(
            name,
            table.columns,
            pk=table.key[0] if len(table.key) == 1 else table.key,
            not_null=[column for column in table.columns if column not in table.optional],
            foreign_keys=[(column, *target) for column, target in table.points_at.items()],
            strict=True,
        )
        for columns in table.unique:
            db.table(name).create_index(columns, unique=True)
        for columns in table.indexes:
            db.table(name).create_index(columns)
    for statement in EXTRAS:
        db.execute(statement)


MIGRATIONS: tuple[Callable[[Database], None], ...] = (create_tables,)
"""Step i leads from version i to i + 1; a store's version is the number of steps it has seen. A step
runs inside a transaction that is rolled back when it fails; the projections are computed anew
after the last one."""
