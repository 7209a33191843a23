"""What selection keeps beside the store: specification memories, the answers to its calls, and
the newest choice that each method made for each question of a pool.

A file of its own, in SQLite's rollback mode: a commit is durable when it returns, and several
processes may read and write it (the WAL defect that the store must mind does not exist here). What
is kept can always be made again from training pairs and calls, so it is no part of the events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from core.models.chat import Answer
from core.question import Question
from core.selection.grouped import Candidates
from core.selection.selection import Selection
from core.selection.specification import SpecificationMemory
from stores import schema
from stores.errors import StoreTrouble, in_words
from stores.opening import connect
from stores.transactions import immediate

APPLICATION_ID = 0x4D525350
VERSION = 2
"""1 had no selections."""
_BUSY_SECONDS = 10.0
_TABLES = """
CREATE TABLE specification (
    id TEXT PRIMARY KEY, source_key TEXT NOT NULL, body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE answer (key TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
"""
_SELECTIONS = """
CREATE TABLE IF NOT EXISTS selection (
    pool TEXT NOT NULL, question TEXT NOT NULL, method TEXT NOT NULL, place INTEGER NOT NULL,
    at REAL NOT NULL, body BLOB NOT NULL, PRIMARY KEY (pool, question, method)
) STRICT, WITHOUT ROWID;
"""


_HEADER = b"SQLite format 3\0"


def specs_path(store: Path) -> Path:
    """The file that belongs to a store. Raises StoreTrouble where `store` is something else, so that
    nothing is made beside it."""
    try:
        ours = not store.exists() or (store.is_file() and _is_ours(store))
    except (OSError, ValueError) as wrong:
        raise StoreTrouble(f"{store} cannot be read: {wrong}.", "Name another with --store.") from None
    if not ours:
        raise StoreTrouble(f"{store} is no Merito store.", "Name another file with --store.")
    return store.with_name(f"{store.name}.specs")


def _is_ours(path: Path) -> bool:
    """Whether a file is a store, or specifications themselves, or still empty."""
    with path.open("rb") as file:
        header = file.read(len(_HEADER))
    if header != _HEADER:
        return not header
    with in_words(path), closing(connect(path, "ro")) as connection:
        identity = connection.execute("PRAGMA application_id").fetchone()[0]
    return identity in (schema.APPLICATION_ID, APPLICATION_ID)


class KeptSelection(msgspec.Struct, frozen=True, kw_only=True):
    """What a method chose for a question of a pool, with what it rests on. Gold is not in it."""

    pool: str
    place: int
    """The question's place in its pool, from 0."""
    at: float
    """Seconds since the epoch."""
    question: Question
    candidates: Candidates
    selection: Selection
    consistent: bool | None = None


class KeptPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool that selections were kept of."""

    pool: str
    questions: int
    methods: tuple[str, ...]
    at: float
    """When the newest choice was made."""


class Specs:
    """The open file; a context manager. Raises StoreTrouble for whatever is wrong with it."""

    def __init__(self, path: Path, *, create: bool = True, read_only: bool = False) -> None:
        """Without `create` a missing file is an error and not made by a typo. `read_only`: nothing
        can be written, whoever asks."""
        if not create and not path.exists():
            raise StoreTrouble(
                f"There are no specifications at {path}.", "Make them with: merito specs build TRAIN"
            )
        self.path, self._read_only = path, read_only
        mode = "ro" if read_only else "rwc" if create else "rw"
        if create:
            _folder_of(path)
        with in_words(path, "file of specifications"):
            uri = f"{path.resolve().as_uri()}?mode={mode}"
            self._connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # Specifications

    def keep(self, memories: Iterable[SpecificationMemory]) -> int:
        """Add memories, all or none; those that are there already stay as they are. Returns how
        many were new; they are durable then."""
        rows = [(each.id, each.source_key, msgspec.json.encode(each)) for each in memories]
        with in_words(self.path, "file of specifications"), immediate(self._connection):
            before = self._count()
            self._connection.executemany("INSERT OR IGNORE INTO specification VALUES (?, ?, ?)", rows)
            return self._count() - before

    def memories(self) -> list[SpecificationMemory]:
        """All memories, by id."""
        with in_words(self.path, "file of specifications"):
            rows = self._connection.execute("SELECT body FROM specification ORDER BY id").fetchall()
            return [msgspec.json.decode(body, type=SpecificationMemory) for (body,) in rows]

    def ids(self) -> set[str]:
        """The ids of all memories."""
        with in_words(self.path, "file of specifications"):
            return {row[0] for row in self._connection.execute("SELECT id FROM specification")}

    def memory(self, beginning: str) -> SpecificationMemory:
        """The memory whose id begins so. Raises StoreTrouble where there is none, or several."""
        found = [each for each in self.memories() if each.id.startswith(beginning)]
        if len(found) != 1:
            how = "No specification has" if not found else f"{len(found)} specifications have"
            raise StoreTrouble(f"{how} an id that begins with '{beginning}'.", "See: merito specs list")
        return found[0]

    # Answers (core.selection.calls.KeptAnswers)

    def answer(self, key: str) -> Answer | None:
        """The answer to an earlier call, or None."""
        with in_words(self.path, "file of specifications"):
            row = self._connection.execute("SELECT body FROM answer WHERE key = ?", (key,)).fetchone()
            return None if row is None else msgspec.json.decode(row[0], type=Answer)

    def keep_answer(self, key: str, answer: Answer) -> None:
        """Keep an answer; it is durable when this returns."""
        with in_words(self.path, "file of specifications"):
            self._connection.execute(
                "INSERT OR IGNORE INTO answer VALUES (?, ?)", (key, msgspec.json.encode(answer))
            )

    # Selections

    def keep_selections(self, kept: Iterable[KeptSelection]) -> None:
        """Keep choices in place of earlier ones by the same method; durable when this returns."""
        rows = [
            (e.pool, e.question.id, e.selection.method, e.place, e.at, msgspec.json.encode(e))
            for e in kept
        ]
        with in_words(self.path, "file of specifications"), immediate(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO selection VALUES (?, ?, ?, ?, ?, ?)", rows
            )

    def pools(self) -> list[KeptPool]:
        """Every pool with its methods, the newest first."""
        found: dict[str, KeptPool] = {}
        if not self._has_selections:
            return []
        with in_words(self.path, "file of specifications"):
            rows = self._connection.execute(
                "SELECT pool, method, count(*), max(at) FROM selection GROUP BY pool, method"
            ).fetchall()
        for pool, method, questions, at in rows:
            known = found.get(pool, KeptPool(pool=pool, questions=0, methods=(), at=0.0))
            found[pool] = KeptPool(
                pool=pool,
                questions=max(known.questions, questions),
                methods=(*known.methods, method),
                at=max(known.at, at),
            )
        return sorted(found.values(), key=lambda each: -each.at)

    def selections(self, pool: str) -> list[KeptSelection]:
        """The choices kept of a pool, by the questions' places, then by method."""
        with in_words(self.path, "file of specifications"):
            rows = self._connection.execute(
                "SELECT body FROM selection WHERE pool = ? ORDER BY place, question, method", (pool,)
            ).fetchall()
            return [msgspec.json.decode(body, type=KeptSelection) for (body,) in rows]

    def _count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM specification").fetchone()[0])

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA trusted_schema = 0")
        execute("PRAGMA synchronous = FULL")
        if not execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            self._found()
        identity, version = (
            execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if identity != APPLICATION_ID:
            raise StoreTrouble(
                f"{self.path} is an SQLite database, but holds no specifications.",
                "Move it away, or name another store with --store.",
            )
        if version > VERSION:
            raise StoreTrouble(
                f"The specifications at {self.path} have version {version}; this Merito reads up to"
                f" {VERSION}.",
                "Update Merito. The file was not touched.",
            )
        self._has_selections = version >= VERSION or not self._read_only
        if not self._read_only:
            # Also where nothing is missing: what cannot be written to says so before any work begins.
            with immediate(self._connection):
                self._make(_SELECTIONS)
                execute(f"PRAGMA user_version = {VERSION}")

    def _found(self) -> None:
        """Make the tables, unless another process has just done so."""
        with immediate(self._connection):
            if not self._connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                self._make(_TABLES)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._connection.execute("PRAGMA user_version = 1")

    def _make(self, tables: str) -> None:
        for statement in filter(str.strip, tables.split(";")):
            self._connection.execute(statement)


def _folder_of(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        why = wrong.strerror or wrong
        raise StoreTrouble(
            f"There is no folder {path.parent} and none can be made: {why}.", "Check --store."
        ) from None


def export_lines(memories: Sequence[SpecificationMemory]) -> Iterator[bytes]:
    """Memories as JSON lines."""
    for memory in memories:
        yield msgspec.json.encode(memory) + b"\n"
