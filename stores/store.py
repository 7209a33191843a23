"""The store: one SQLite file that holds everything that happened and everything that was learned."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal, Self

import msgspec

from stores import schema
from stores.backups import copy_checked, damage
from stores.birth import database, give_birth, migrate
from stores.entry_rows import EntryRows
from stores.errors import StoreConflict, StoreInUse, StoreTrouble, in_words
from stores.opening import Turn, beside, claim, connect, inspect, version
from stores.permission import may_write, refuse_writing
from stores.projections import replay_all
from stores.runs import RunReading

Mode = Literal["write", "review", "read", "prefer-write"]
Durability = Literal["FULL", "OFF"]


class Store(RunReading, EntryRows):
    """One open store. Its methods may be called from any thread; none waits for the event loop."""

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        mode: Mode = "write",
        create: bool = False,
        durability: Durability = "FULL",
    ) -> Self:
        """Open the store at `path`.

        "write" makes this process the one that records runs, and brings an older store up to date
        after a backup; "review" adds to the library's own log (decisions, imports) whether another
        process records a run or not, which `notice` then tells; "read" never changes it;
        "prefer-write" writes where nobody else does and otherwise reviews. `create` starts a new
        store where there is no file. `durability` OFF gives up safety against power cuts, for
        measurements alone.

        Raises StoreInUse where "write" finds another writer, and StoreTrouble where the file is
        missing, damaged, newer than this program, or something else, or where this process promised
        only to read. Nothing is then changed.
        """
        path = Path(path).expanduser()
        if mode == "read" or (mode in ("review", "prefer-write") and not may_write()):
            return cls._reading(path)
        try:
            if mode == "review":
                return cls._reviewing(path, create)
            return cls._writing(path, create, durability)
        except StoreInUse as busy:
            if mode == "write":
                raise
            notice = f"{busy.problem} What it records is followed live, and can be reviewed."
            return cls._reading(path, notice, Turn(path))

    @classmethod
    def create(cls, path: Path | str) -> Self:
        """Start a new store. Raises StoreTrouble where there is a file already."""
        path = Path(path).expanduser()
        if path.exists():
            raise StoreTrouble(f"{path} exists already.", "Open it, or name another file.")
        return cls._writing(path, True, "FULL")

    @classmethod
    def _reviewing(cls, path: Path, create: bool) -> Self:
        """Without the lease, so that a run can begin meanwhile; a store that is missing or old is
        made or brought up to date first. Raises StoreInUse where a run goes on."""
        if (create and not path.exists()) or inspect(path) < version():
            cls._writing(path, create, "FULL").close()
        refuse_writing(path)
        claim(path).release()
        return cls._reading(path, turn=Turn(path))

    @classmethod
    def _reading(cls, path: Path, notice: str = "", turn: Turn | None = None) -> Self:
        found = inspect(path)
        if found < version():
            raise StoreTrouble(
                f"The store {path} has version {found}, this Merito reads {version()}.",
                "Open it for writing once, and it is brought up to date after a backup.",
            )
        with in_words(path):
            return cls(path, connect(path, "ro"), None, notice, turn)

    @classmethod
    def _writing(cls, path: Path, create: bool, durability: Durability) -> Self:
        refuse_writing(path)
        if create:
            _make_folder(path.parent)
        else:
            inspect(path)
        lock = claim(path)
        try:
            if create and not path.exists():
                give_birth(path)
            found = inspect(path)
            turn = Turn(path)
            with turn.taken(), in_words(path):
                conn = connect(path, "rw")
                try:
                    conn.execute("PRAGMA journal_mode = WAL")
                    conn.execute(f"PRAGMA synchronous = {durability}")
                    migrate(conn, path, found)
                except BaseException:
                    conn.close()
                    raise
            return cls(path, conn, lock, turn=turn)
        except BaseException:
            lock.release()
            raise

    def rebuild(self) -> None:
        """Compute every projection anew from the events."""
        with self._transaction() as conn:
            conn.execute("PRAGMA defer_foreign_keys = 1")
            replay_all(conn)

    def check(self) -> tuple[str, ...]:
        """What differs between the stored projections and those computed anew, one line each."""
        fresh = sqlite3.connect(":memory:", isolation_level=None)
        try:
            with self.snapshot():
                schema.create_tables(database(fresh))
                try:
                    replay_all(fresh, self._conn)
                except (StoreConflict, sqlite3.IntegrityError, msgspec.MsgspecError) as wrong:
                    return (f"events: {wrong}",)
                return tuple(_differences(self._conn, fresh)) + _gaps(self._conn)
        finally:
            fresh.close()

    def quick_check(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the file, one line each; nothing where it is sound."""
        with self._guard:
            return damage(self._conn)

    def backup(self, target: Path | str) -> Path:
        """Copy the store to `target`; what was there is replaced once the copy is checked."""
        target = Path(target).expanduser()
        with self._guard:
            copy_checked(self._conn, self.path, target)
        return target

    @property
    def vectors_file(self) -> Path:
        """Where the cache of the memories' vectors lives."""
        return beside(self.path, ".vectors.npz")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise StoreTrouble(
            f"The folder {folder} cannot be made: {wrong.strerror}.", "Choose another --store."
        ) from None


def _differences(stored: sqlite3.Connection, fresh: sqlite3.Connection) -> list[str]:
    lines = []
    for name, table in schema.PROJECTED.items():
        columns = ", ".join(f'"{column}"' for column in table.columns)
        query = f'SELECT {columns} FROM "{name}"'
        there, computed = (set(conn.execute(query)) for conn in (stored, fresh))
        lines += [f"{name}: {_key(row, table)} is not what the events say" for row in there - computed]
        lines += [f"{name}: {_key(row, table)} is missing or wrong" for row in computed - there]
    return sorted(lines)


def _key(row: tuple[object, ...], table: schema.Table) -> str:
    values = dict(zip(table.columns, row, strict=True))
    return " ".join(f"{column}={values[column]}" for column in table.key)


def _gaps(conn: sqlite3.Connection) -> tuple[str, ...]:
    rows = conn.execute(
        "SELECT run, count(*), max(seq) FROM events GROUP BY run"
        " HAVING count(*) <> max(seq) OR min(seq) <> 1"
    )
    return tuple(f"events: run {run!r} has {count} of {last} events" for run, count, last in rows)
