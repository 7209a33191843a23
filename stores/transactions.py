"""One way to change a file of SQLite: everything a block does, or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def immediate(conn: sqlite3.Connection) -> Iterator[None]:
    """BEGIN IMMEDIATE ... COMMIT on a connection without transactions of its own making. Whatever
    goes wrong rolls everything back, and is what is raised."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        conn.execute("COMMIT")
    except BaseException:
        give_up(conn)
        raise


def give_up(conn: sqlite3.Connection) -> None:
    """Roll back, unless SQLite has done so by itself, as it does on a full disk."""
    if conn.in_transaction:
        conn.execute("ROLLBACK")
