"""New stores, and old ones brought up to this program's version."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from stores import schema
from stores.backups import copy_checked
from stores.errors import StoreTrouble, in_words
from stores.opening import beside, connect, has_content, sync_folder, version
from stores.projections import replay_all
from stores.transactions import immediate

if TYPE_CHECKING:
    from sqlite_utils import Database


def database(conn: sqlite3.Connection) -> Database:
    """The connection through sqlite-utils. Imported late: it brings numpy along."""
    from sqlite_utils import Database

    return Database(conn, recursive_triggers=False, execute_plugins=False)


def give_birth(path: Path) -> None:
    """Create an empty store. It is made under another name and then renamed, so that a store is
    either whole or not there. The caller holds the lease. Raises StoreTrouble, also where the log
    of a store that is gone still lies there: SQLite would replay it into the new one."""
    _refuse_orphan(beside(path, "-wal"), path)
    newborn = beside(path, ".new")
    for leftover in (newborn, beside(newborn, "-wal"), beside(newborn, "-shm")):
        leftover.unlink(missing_ok=True)
    try:
        with in_words(path):
            conn = connect(newborn, "rwc")
            try:
                conn.execute("PRAGMA journal_mode = WAL")
                _step_up(conn, 0)
            finally:
                conn.close()
        for leftover in (beside(path, "-wal"), beside(path, "-shm")):
            leftover.unlink(missing_ok=True)
        newborn.replace(path)
        sync_folder(path.parent)
    except OSError as wrong:
        raise StoreTrouble(
            f"The store {path} cannot be created: {wrong.strerror or wrong}.",
            "Check the folder's permissions and space, or choose another --store.",
        ) from None


def _refuse_orphan(log: Path, path: Path) -> None:
    """Nothing is thrown away unasked: the log holds the newest that the store which is gone knew."""
    if has_content(log):
        raise StoreTrouble(
            f"There is no store at {path}, but {log.name} of an earlier one is still beside it, with "
            "what that one stored last.",
            f"Move {log.name} and {path.name}-shm to where the earlier store is now, under its name,"
            " or delete both; or choose another --store. Nothing was changed.",
        )


def migrate(conn: sqlite3.Connection, path: Path, found: int) -> Path | None:
    """Bring an older store up to date, all or nothing, after a checked backup beside it. The caller
    holds the lock. Returns the backup, or None where there was nothing to do."""
    if found == version():
        return None
    backup = beside(path, f".v{found}.backup")
    copy_checked(conn, path, backup)
    try:
        _step_up(conn, found)
    except Exception as wrong:
        raise StoreTrouble(
            f"The store {path} could not be brought from version {found} to {version()}: {wrong}.",
            f"It is unchanged; a copy is at {backup}. Use the Merito that made it.",
        ) from wrong
    return backup


def _step_up(conn: sqlite3.Connection, found: int) -> None:
    db = database(conn)
    with immediate(conn):
        conn.execute("PRAGMA defer_foreign_keys = 1")
        for step in schema.MIGRATIONS[found:]:
            step(db)
        replay_all(conn)
        conn.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        conn.execute(f"PRAGMA user_version = {version()}")
