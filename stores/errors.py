"""What can go wrong with the file, each as one sentence that names it and the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core.errors import MeritoError, UsageMistake


class StoreTrouble(MeritoError):
    """The store's file cannot be used as asked."""


class NoStore(StoreTrouble, UsageMistake):
    """There is no file where a store was to be opened."""


class StoreInUse(StoreTrouble):
    """Another process writes to the store."""


class StoreConflict(MeritoError):
    """What should be written contradicts what is stored; nothing was written."""


RESTORE = (
    "Restore a backup over it, or move it away together with the files beside it whose names end in "
    "-wal and -shm, and start a new store with --store."
)

SENTENCES: tuple[tuple[str, str, str], ...] = (
    ("SQLITE_FULL", "no space is left for it", "Free some space and go on; nothing stored is lost."),
    ("SQLITE_READONLY", "it cannot be written to", "Check its permissions, or choose another --store."),
    ("SQLITE_PERM", "it cannot be written to", "Check its permissions, or choose another --store."),
    ("SQLITE_CANTOPEN", "it cannot be opened", "Check the folder and its permissions."),
    ("SQLITE_CORRUPT", "it is damaged", RESTORE),
    ("SQLITE_NOTADB", "it is no Merito store", "Name another file with --store."),
    ("SQLITE_IOERR", "the disk refuses to read or write it", "Check the disk's space and health."),
    ("SQLITE_BUSY", "another process keeps it locked", "Wait for that process, or end it."),
    ("SQLITE_LOCKED", "another process keeps it locked", "Wait for that process, or end it."),
    ("SQLITE_TOOBIG", "a text is too long for it", "Shorten the question or its schema."),
    ("SQLITE_CONSTRAINT", "what should be written contradicts it", "Run `merito doctor` to check it."),
)
"""SQLite's error names (their beginning) with what they mean here; the first that fits counts."""


def trouble(path: Path, error: Exception, what: str = "store") -> StoreTrouble:
    """An error about the store (or backup) at `path` in the user's words."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if isinstance(error, msgspec.MsgspecError):
        name = "SQLITE_CORRUPT"
    for beginning, problem, mend in SENTENCES:
        if name.startswith(beginning):
            return StoreTrouble(f"The {what} {path}: {problem} ({error}).", mend)
    return StoreTrouble(f"The {what} {path} failed: {error}.", "Run `merito doctor` to check it.")


@contextmanager
def in_words(path: Path, what: str = "store") -> Iterator[None]:
    """Turn every error of SQLite and every text that is no event into a StoreTrouble about `path`."""
    try:
        yield
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        raise trouble(path, error, what) from error
