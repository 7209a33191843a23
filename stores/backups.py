"""Copies of a store that are checked before they replace anything, and the way back."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from stores import schema
from stores.errors import StoreTrouble, in_words
from stores.opening import Turn, beside, claim, connect, inspect, sync_folder


def copy_checked(conn: sqlite3.Connection, source: Path, target: Path) -> None:
    """Copy the open store `source` to `target` through SQLite's backup API. What was at `target` is
    replaced only once the copy is whole and sound. Raises StoreTrouble."""
    if target.resolve() == source.resolve():
        raise StoreTrouble(f"{target} is the store itself.", "Name another file for the backup.")
    wal = beside(target, "-wal")
    if wal.exists() and wal.stat().st_size:
        raise StoreTrouble(
            f"{target} is a store with work in progress.", "Name another file for the backup."
        )
    draft = beside(target, ".partial")
    try:
        draft.unlink(missing_ok=True)
        with in_words(target, "backup"):
            _copy(conn, draft)
        wal.unlink(missing_ok=True)
        beside(target, "-shm").unlink(missing_ok=True)
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as wrong:
        raise StoreTrouble(
            f"The backup {target} cannot be written: {wrong.strerror or wrong}.",
            "Check the folder's permissions and space.",
        ) from None
    finally:
        _remove(draft)


def _copy(conn: sqlite3.Connection, draft: Path) -> None:
    wanted = conn.execute("SELECT count(*) FROM events").fetchone()
    copy = connect(draft, "rwc")
    try:
        conn.backup(copy)
        # A copy in rollback mode is one file, whole without side files wherever it is carried.
        copy.execute("PRAGMA journal_mode = DELETE")
        _check(copy, draft)
        if copy.execute("SELECT count(*) FROM events").fetchone() < wanted:
            raise StoreTrouble(f"The backup {draft} lacks events.", "Try again.")
    finally:
        copy.close()


def _use_wal(draft: Path) -> None:
    conn = connect(draft, "rw")
    try:
        conn.execute("PRAGMA journal_mode = WAL")
    finally:
        conn.close()


def _check(conn: sqlite3.Connection, path: Path) -> None:
    problems = damage(conn)
    if problems:
        raise StoreTrouble(f"{path} is damaged: {problems[0]}.", "Use another copy.")
    if conn.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
        raise StoreTrouble(f"{path} is no Merito store.", "Use another copy.")


def damage(conn: sqlite3.Connection) -> tuple[str, ...]:
    """What SQLite's quick_check finds wrong, one line each; nothing where the file is sound."""
    try:
        lines = [str(row[0]) for row in conn.execute("PRAGMA quick_check(20)")]
    except sqlite3.DatabaseError as error:
        return (str(error),)
    broken_keys = [] if lines != ["ok"] else conn.execute("PRAGMA foreign_key_check").fetchmany(20)
    lines += [f"a row of {table} points at nothing in {parent}" for table, _, parent, _ in broken_keys]
    return tuple(line for line in lines if line != "ok")


def restore(backup: Path, path: Path) -> Path | None:
    """Put a checked backup in the store's place. Returns where the replaced store is kept, or None
    where there was none. Raises StoreInUse and StoreTrouble; then nothing has changed."""
    inspect(backup)
    lock = claim(path)
    try:
        draft = beside(path, ".partial")
        draft.unlink(missing_ok=True)
        with in_words(backup, "backup"):
            source = connect(backup, "ro")
            try:
                _check(source, backup)
                _copy(source, draft)
            finally:
                source.close()
            _use_wal(draft)
        with Turn(path).taken():
            kept = _set_aside(path)
            draft.replace(path)
        sync_folder(path.parent)
        return kept
    except OSError as wrong:
        raise StoreTrouble(
            f"The store {path} cannot be replaced: {wrong.strerror or wrong}.",
            "Check the folder's permissions and space.",
        ) from None
    finally:
        _remove(beside(path, ".partial"))
        lock.release()


def _set_aside(path: Path) -> Path | None:
    """Rename the store with all that belongs to it. Its WAL goes first into the file where that
    is possible, so that the one file is everything. The log of a store that is gone is renamed, too:
    SQLite would replay it into whatever comes in that store's place."""
    there = path.exists()
    try:
        conn = connect(path, "rw")
        try:
            conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            conn.close()
    except sqlite3.Error:
        pass  # Missing, or damaged: it is kept as it is, with its side files.
    kept = beside(path, f".replaced-{time.time_ns()}")
    for ending in ("-shm", "-wal", ""):
        if beside(path, ending).exists():
            beside(path, ending).replace(beside(kept, ending))
    return kept if there else None


def _remove(draft: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        beside(draft, ending).unlink(missing_ok=True)
