"""How the store's file is opened: looked at before it is touched, and changed by one at a time.

Two locks between processes, both given back by the system when a process dies:

- the *lease* is held for as long as a store is open for writing: only its holder adds to runs;
- the *turn* is held for the length of one transaction: whoever changes the file, the holder of the
  lease included, takes it, so that reviewers decide while a run goes on.

SQLite before 3.51.3 can corrupt a WAL file when a checkpoint meets another process's write. All
writes, and with them all checkpoints, happen within a turn; readers open the file read-only, which
never checkpoints.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stores import schema
from stores.errors import RESTORE, NoStore, StoreInUse, StoreTrouble, in_words

if TYPE_CHECKING:
    from filelock import BaseFileLock

MAGIC = b"SQLite format 3\x00"
HEADER = 100
BUSY_SECONDS = 5.0

PROBE_SECONDS = 0.2
"""Reviewers take the lease for a moment to see whether a run goes on; that is no reason to give up."""

TURN_SECONDS = 30.0
"""The longest wait for another process's transaction; an import of 100,000 entries takes most of it."""


def version() -> int:
    """The version of stores that this program writes."""
    return len(schema.MIGRATIONS)


def beside(path: Path, ending: str) -> Path:
    """A file that belongs to the store: its lock, its WAL, its vectors, its backups."""
    return path.with_name(path.name + ending)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection that begins and ends transactions only where it is told to.

    `mode` is SQLite's: ro, rw, rwc. A file on a medium that cannot hold SQLite's side files is read
    as it is, as long as nothing waits in a WAL beside it.
    """
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    try:
        return _connected(uri)
    except sqlite3.OperationalError:
        if mode != "ro" or has_content(beside(path, "-wal")):
            raise
        return _connected(uri + "&immutable=1")


def _connected(uri: str) -> sqlite3.Connection:
    conn = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
    )
    try:
        for pragma in ("trusted_schema = 0", "cell_size_check = 1", "foreign_keys = 1"):
            conn.execute(f"PRAGMA {pragma}")
        conn.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    except BaseException:
        conn.close()
        raise
    return conn


def inspect(path: Path) -> int:
    """The version of the store at `path`, found without changing a byte of it. Raises StoreTrouble
    where it is missing, something else, cut short, or newer than this program."""
    _inspect_header(path)
    with in_words(path):
        conn = connect(path, "ro")
        try:
            identity = conn.execute("PRAGMA application_id").fetchone()[0]
            found = int(conn.execute("PRAGMA user_version").fetchone()[0])
        finally:
            conn.close()
    if identity != schema.APPLICATION_ID:
        raise StoreTrouble(
            f"{path} is an SQLite database, but no Merito store.", "Name another file with --store."
        )
    if found > version():
        raise StoreTrouble(
            f"The store {path} has version {found}; this Merito reads up to {version()}.",
            "Update Merito, or name another file with --store. The store was not touched.",
        )
    return found


def _inspect_header(path: Path) -> None:
    try:
        if path.is_dir():
            raise NoStore(f"{path} is a folder, not a store.", "Name a file with --store.")
        if path.exists() and not path.is_file():
            raise NoStore(f"{path} is no file that can hold a store.", "Name one with --store.")
        with path.open("rb") as file:
            header = file.read(HEADER)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        raise NoStore(
            f"There is no store at {path}.",
            "Check the path (--store, MERITO_STORE); 'merito demo' and 'merito run' start a new one.",
        ) from None
    except OSError as wrong:
        raise StoreTrouble(
            f"The store {path} cannot be read: {wrong.strerror}.", "Check its permissions."
        ) from None
    if len(header) < HEADER or not header.startswith(MAGIC):
        what = "is empty" if not header else "is no Merito store"
        raise StoreTrouble(f"{path} {what}; it was not touched.", "Name another file with --store.")
    page = struct.unpack(">H", header[16:18])[0]
    pages = struct.unpack(">I", header[28:32])[0]
    whole = pages * (65536 if page == 1 else page)
    if size < whole and not has_content(beside(path, "-wal")):
        raise StoreTrouble(
            f"The store {path} is cut short: it has {size:,} of its {whole:,} bytes.",
            RESTORE,
        )


def has_content(path: Path) -> bool:
    """Whether a file is there, and not empty."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def claim(path: Path) -> BaseFileLock:
    """Take the lease. Raises StoreInUse where another process has it, StoreTrouble where the folder
    cannot be written to."""
    from filelock import FileLock, Timeout

    lock = FileLock(beside(path, ".lock"), timeout=PROBE_SECONDS, thread_local=False)
    try:
        lock.acquire(poll_interval=0.01)
    except Timeout:
        raise StoreInUse(
            f"Another Merito is writing to {path}.",
            "Wait until it has ended, or name a store of your own: --store FILE. Reading and reviewing"
            " go on meanwhile.",
        ) from None
    except OSError as wrong:
        raise _not_writable(path, wrong) from None
    return lock


def is_claimed(path: Path) -> bool:
    """Whether a process records runs in the store right now. Nothing is waited for."""
    from filelock import FileLock, Timeout

    file = beside(path, ".lock")
    if not file.exists():
        return False
    lock = FileLock(file, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


class Turn:
    """The right to change the file at `path`, for one transaction at a time."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock

        self._path = path
        self._file = _identity(path)
        self._lock = FileLock(beside(path, ".turn"), timeout=TURN_SECONDS, thread_local=False)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Nobody else changes the store inside the block. Raises StoreInUse where somebody goes on
        doing so, StoreTrouble where the folder cannot be written or the file was replaced."""
        from filelock import Timeout

        try:
            self._lock.acquire(poll_interval=0.003)
        except Timeout:
            raise StoreInUse(
                f"Another Merito has been changing {self._path} for {TURN_SECONDS:.0f} seconds.",
                "Wait until it has ended, or end it, and try again.",
            ) from None
        except OSError as wrong:
            raise _not_writable(self._path, wrong) from None
        try:
            if _identity(self._path) != self._file:
                raise StoreTrouble(
                    f"The store {self._path} was replaced while it was open; nothing was written.",
                    "Open it again.",
                )
            yield
        finally:
            self._lock.release()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at `path` right now; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _not_writable(path: Path, wrong: OSError) -> StoreTrouble:
    return StoreTrouble(
        f"The store {path} cannot be written: {path.parent}: {wrong.strerror or wrong}.",
        "Check the folder's permissions and space, or choose another --store.",
    )


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut, where the platform can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
