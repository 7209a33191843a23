"""The open file: its one connection, its transactions, and the events in it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import msgspec

from core.run.events import AnyEvent, Event, RunEnded, TokenDelta
from stores.errors import StoreConflict, StoreTrouble, in_words
from stores.journal import LIBRARY, StoredEvent, decode, encode, kind
from stores.opening import Turn, connect, is_claimed, version
from stores.projections import project
from stores.transactions import give_up, immediate

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from sqlite_utils import Database

E = TypeVar("E", bound=Event)

PAGE = 500
"""Rows that are read at a time, so that no cursor stays open between two calls."""

POLL_SECONDS = 0.1

LOOK_SECONDS = 1.0
"""Between two looks at whether a run that is followed still has a writer."""


class Ledger:
    """An open store, as far as events go. `Store` adds what can be asked of it."""

    def __init__(
        self,
        path: Path,
        conn: sqlite3.Connection,
        lock: BaseFileLock | None,
        notice: str = "",
        turn: Turn | None = None,
    ) -> None:
        """`lock` is the lease, with which runs are recorded; `turn` lets the library's own log be
        written; without it the store is read-only. A store without the lease has a connection that
        only reads, and opens another for each of its transactions: a connection that may write is
        never open outside a turn, except the lease holder's."""
        self.path = path
        self.notice = notice
        """Why the store does not record runs although it was to, or that another process writes it;
        empty otherwise."""
        self._conn = conn
        self._lock = lock
        self._turn = turn
        self._wrote = False
        self._guard = threading.RLock()

    @property
    def read_only(self) -> bool:
        """Whether this store can only be read."""
        return self._turn is None

    @property
    def records_runs(self) -> bool:
        """Whether this store holds the lease, so that runs can be recorded in it."""
        return self._lock is not None

    def written(self) -> bool:
        """Whether runs are being recorded in the store right now, by whichever process."""
        return self.records_runs or is_claimed(self.path)

    def close(self) -> None:
        """Fold the WAL into the file and give the lock back. Closing twice does nothing."""
        with self._guard:
            try:
                with in_words(self.path):
                    self._conn.close()
                    self._fold_after_review()
            finally:
                if self._lock is not None:
                    self._lock.release()

    def _fold_after_review(self) -> None:
        """What a reviewer wrote goes into the file where nobody else has it open; what cannot be
        folded now stays in the WAL, which is as safe."""
        turn, self._turn = self._turn, None
        if self._lock is None and turn is not None and self._wrote:
            with suppress(StoreTrouble, sqlite3.Error), turn.taken():
                connect(self.path, "rw").close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def database(self) -> Database:
        """The same connection through sqlite-utils, for queries beyond those offered here."""
        from stores.birth import database

        return database(self._conn)

    def append(self, events: Iterable[AnyEvent]) -> None:
        """Commit events and what they change, all or nothing, durable when this returns.

        An event that is stored already is passed over. Raises StoreConflict where another event has
        its place, where a number is left out, or where it contradicts what is stored; StoreTrouble
        where the file cannot be written, or where this store does not hold the lease.
        """
        if not (self.records_runs or self.read_only):
            raise StoreTrouble(
                f"The store {self.path} is open for reviewing, not for recording runs.",
                self.notice or "Open it for writing.",
            )
        lines = [as_stored(event) for event in events if not isinstance(event, TokenDelta)]
        if not lines:
            return
        with self._transaction() as conn:
            for event, body in lines:
                _append(conn, event, body)

    def append_own(self, events: Sequence[StoredEvent]) -> None:
        """Commit events of the library's own log; they are numbered here."""
        with self._transaction() as conn:
            self._add_own(conn, events)

    def _add_own(self, conn: sqlite3.Connection, events: Iterable[StoredEvent]) -> None:
        """The same inside a transaction that is open already."""
        last = _last_seq(conn, LIBRARY)
        for seq, event in enumerate(events, start=last + 1):
            _append(conn, *as_stored(msgspec.structs.replace(event, seq=seq)))

    def events(self, run: str, after: int = 0) -> Iterator[AnyEvent]:
        """The stored events of a run in order, from the one that follows number `after`. `run` is
        the whole id."""
        while page := self._page(run, after):
            yield from page
            after = page[-1].seq

    async def follow(self, run: str, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The stored events of a run, then those that its writer adds, as they are committed. Ends
        after a RunEnded that nothing follows, or where nobody is left to add anything."""
        seen, looked = -1, monotonic()
        last: AnyEvent | None = None
        while True:
            version = self.rows("PRAGMA data_version")[0][0]
            if version != seen:
                for event in self.events(run, after):
                    yield event
                    last, after = event, event.seq
                seen = version
            if isinstance(last, RunEnded):
                return
            if monotonic() - looked >= LOOK_SECONDS:
                # What a writer added before it went is read once more before the end.
                alone = not self.written()
                if alone and self.rows("PRAGMA data_version")[0][0] == seen:
                    return
                looked = monotonic()
            await asyncio.sleep(POLL_SECONDS)

    def _page(self, run: str, after: int) -> list[AnyEvent]:
        return self.decoded(
            "SELECT body FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
            (run, after, PAGE),
        )

    def decoded(self, sql: str, parameters: Sequence[Any] = ()) -> list[AnyEvent]:
        """The events of a run whose bodies a query selects."""
        with in_words(self.path):
            return [cast("AnyEvent", decode(row[0])) for row in self.rows(sql, parameters)]

    def rows(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[sqlite3.Row]:
        """All rows of a query. Raises StoreTrouble where the file cannot be read."""
        with self._guard, in_words(self.path):
            return self._conn.execute(sql, parameters).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside the block is of one moment, whatever a writer adds meanwhile."""
        with self._guard, in_words(self.path):
            if self._conn.in_transaction:
                yield
                return
            self._conn.execute("BEGIN")
            try:
                yield
            finally:
                give_up(self._conn)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """BEGIN IMMEDIATE ... COMMIT within a turn; whatever goes wrong rolls everything back."""
        if self._turn is None:
            raise StoreTrouble(
                f"The store {self.path} is open read-only.",
                self.notice or "Open it for writing to change it.",
            )
        with (
            self._guard,
            self._turn.taken(),
            in_words(self.path),
            self._writing_connection() as conn,
            immediate(conn),
        ):
            yield conn

    @contextmanager
    def _writing_connection(self) -> Iterator[sqlite3.Connection]:
        """The lease holder's own connection, or one for this turn alone."""
        if self._lock is not None:
            yield self._conn
            return
        with closing(connect(self.path, "rw")) as conn:
            found = conn.execute("PRAGMA user_version").fetchone()[0]
            if found != version():
                raise StoreTrouble(
                    f"The store {self.path} has version {found} now; this Merito writes {version()}.",
                    "Open it again with the newest Merito. Nothing was written.",
                )
            conn.execute("PRAGMA synchronous = FULL")
            self._wrote = True
            yield conn


def as_stored(event: E) -> tuple[E, str]:
    """The event as it will be read back, and its text: nothing is stored that cannot be read."""
    body = encode(event)
    try:
        return cast("E", decode(body)), body
    except msgspec.ValidationError as wrong:
        raise StoreConflict(
            f"Event {event.seq} ({kind(event)}) of the run {event.run} cannot be stored: {wrong}."
        ) from wrong


def _append(conn: sqlite3.Connection, event: StoredEvent, body: str) -> None:
    last = _last_seq(conn, event.run)
    if event.seq <= last:
        _same(conn, event, body)
        return
    if event.seq != last + 1:
        raise StoreConflict(
            f"Event {event.seq} of the run {event.run} cannot follow event {last}.",
            "Resume the run from the store.",
        )
    try:
        cursor = conn.execute(
            "INSERT INTO events (run, seq, at, kind, body) VALUES (?, ?, ?, ?, ?)",
            (event.run, event.seq, event.at, kind(event), body),
        )
        assert cursor.lastrowid is not None
        project(conn, cursor.lastrowid, event)
    except sqlite3.IntegrityError as contradiction:
        raise StoreConflict(
            f"Event {event.seq} ({kind(event)}) of the run {event.run} contradicts what is stored:"
            f" {contradiction}."
        ) from contradiction


def _same(conn: sqlite3.Connection, event: StoredEvent, body: str) -> None:
    stored = conn.execute(
        "SELECT body FROM events WHERE run = ? AND seq = ?", (event.run, event.seq)
    ).fetchone()
    if stored is None or stored[0] != body:
        raise StoreConflict(
            f"The run {event.run} has another event {event.seq} already.",
            "Resume the run from the store.",
        )


def _last_seq(conn: sqlite3.Connection, run: str) -> int:
    return int(
        conn.execute("SELECT coalesce(max(seq), 0) FROM events WHERE run = ?", (run,)).fetchone()[0]
    )
