"""How a database is opened so that reading never changes it.

Standard library only, since the sandbox's worker runs without the project's packages.
"""

# ruff: noqa: PTH110, PTH116, PTH123
# Paths stay strings here: SQLite takes nothing else, and pathlib would double the worker's start.

from __future__ import annotations

import os
import sqlite3
import stat

HEADER = b"SQLite format 3\x00"
HEADER_BYTES = 100
WAL_VERSION = b"\x02"
_WRITE_VERSION_AT = 18
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:")

PRAGMAS = (
    "query_only=1",
    "trusted_schema=0",
    "cell_size_check=1",
    "mmap_size=0",
    "temp_store=2",
)
"""Set on every connection to a user's database (quality.md, "SQL written by a model")."""

HOT_JOURNAL = "SQLITE_READONLY_ROLLBACK"
"""SQLite's name for: an interrupted write waits to be rolled back, and this reader may not."""


def read_header(path: str) -> bytes:
    """The file's first 100 bytes. Raises OSError; anything but a regular file raises it too."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(f"not a regular file: {path}")
    with open(path, "rb") as file:
        return file.read(HEADER_BYTES)


def is_wal(header: bytes) -> bool:
    """Whether the header belongs to a database in write-ahead-log mode."""
    return header[: len(HEADER)] == HEADER and header[_WRITE_VERSION_AT:][:1] == WAL_VERSION


def opens_immutable(path: str, header: bytes) -> bool:
    """True for a WAL-mode file with no log beside it: a plain reader would have to create files.

    Anywhere else `immutable` would hide another program's changes, or a half-finished write.
    """
    journal = path + "-journal"
    interrupted = os.path.exists(journal) and os.stat(journal).st_size > 0
    return is_wal(header) and not os.path.exists(path + "-wal") and not interrupted


def read_only_uri(path: str, *, immutable: bool) -> str:
    """The URI that opens `path` for reading alone, whatever characters its name has."""
    name = os.fsencode(path.replace(os.sep, "/"))
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in name)
    root = "" if quoted.startswith("/") else "/"
    return f"file:{root}{quoted}?mode=ro" + ("&immutable=1" if immutable else "")


def connect_read_only(path: str, *, busy_seconds: float = 0.25) -> sqlite3.Connection:
    """A connection that cannot write, in autocommit mode and with the reading pragmas set.

    Raises OSError where the file cannot be read and sqlite3.Error where SQLite refuses it.
    """
    path = os.path.realpath(path)
    immutable = opens_immutable(path, read_header(path))
    connection = sqlite3.connect(
        read_only_uri(path, immutable=immutable),
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        cached_statements=0,
    )
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()
    return connection
