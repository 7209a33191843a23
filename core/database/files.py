"""Database files: where they are, and whether they can be read."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from core.database import opening
from core.errors import MeritoError, UsageMistake

_SUFFIXES = (".sqlite", ".db")
_NESTED = ("", "database", "dev_databases")
"""Folders under the root that hold one folder a database: plain, Spider's, BIRD's."""
_NAMES_SHOWN = 5
_APPLICATION_ID = 68
"""Where SQLite's header has it."""
_OWN = b"MRS"
"""How the application id of a store and of a file of specifications begins."""
_LONGEST_ID = 200
"""Bytes. File systems refuse names much longer, and not by saying that there is no such file."""


def check_database(path: Path) -> None:
    """Return where `path` is a database that can be read now.

    Raises MeritoError, which names what is in the way: the file is missing, a folder, unreadable,
    empty, not SQLite, damaged, locked, or waits for an interrupted write to be rolled back.
    """
    header = _header(path)
    if not header:
        raise MeritoError(f"The database {path} is empty (0 bytes).", "Give a file that holds tables.")
    if header[: len(opening.HEADER)] != opening.HEADER:
        raise MeritoError(
            f"The file {path} is not an SQLite database.", "It may be encrypted, compressed or cut off."
        )
    try:
        with closing(opening.connect_read_only(str(path), busy_seconds=0.5)) as connection:
            tables = connection.execute(
                "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view')"
            ).fetchone()[0]
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    except OSError as error:
        raise _unreadable(path, error) from error
    if not tables:
        raise MeritoError(
            f"The database {path} is empty: it holds no tables.", "Give a file that holds tables."
        )


def _header(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UsageMistake(f"{path} is a folder, not a database file.", _inside(path))
        return opening.read_header(str(path))
    except FileNotFoundError as error:
        raise UsageMistake(f"There is no database {path}.", _beside(path)) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _inside(folder: Path) -> str:
    files = sorted(file.name for file in folder.iterdir() if file.suffix in _SUFFIXES)
    return f"It holds {', '.join(files[:_NAMES_SHOWN])}: name the file." if files else "Name a file."


def _beside(path: Path) -> str:
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except OSError:
        return f"The folder {path.parent} is missing too: check the path."
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"Did you mean {near[0]}?" if near else "Check the path."


def _unreadable(path: Path, error: Exception) -> MeritoError:
    reason = getattr(error, "strerror", None) or str(error)
    return MeritoError(
        f"The database {path} cannot be read: {reason}.", "Check its path and permissions."
    )


_EXPLANATIONS = (
    (
        opening.HOT_JOURNAL,
        "has a hot journal: a write was interrupted and waits to be rolled back",
        "Open it once with a program that may write, for example: sqlite3 FILE 'PRAGMA quick_check'.",
    ),
    (
        "SQLITE_BUSY",
        "is locked by another program",
        "Wait until that program has finished, or read a copy.",
    ),
    ("SQLITE_CORRUPT", "is damaged", "Restore it from a backup, or try: sqlite3 FILE .recover."),
    ("SQLITE_NOTADB", "is damaged, or encrypted", "Restore it from a backup, or decrypt it."),
    (
        "SQLITE_CANTOPEN",
        "cannot be opened for reading",
        "With a -wal file beside it, its folder must be writable: open it once with its own program.",
    ),
    (
        "SQLITE_READONLY",
        "has a write-ahead log that this user may not read along with it",
        "Make the folder writable, or let its own program close the database.",
    ),
)
"""What SQLite calls the trouble (the start of its name), what it means, and the way out."""


def _explained(path: Path, error: sqlite3.Error) -> MeritoError:
    name = getattr(error, "sqlite_errorname", "")
    for start, problem, mend in _EXPLANATIONS:
        if name.startswith(start):
            return MeritoError(f"The database {path} {problem}.", mend.replace("FILE", str(path)))
    return MeritoError(f"The database {path} cannot be read: {error}.", "Check it with: sqlite3.")


class DatabaseFolder:
    """Databases under one folder, in Spider's, BIRD's or a flat layout.

    Raises MeritoError where `root` is no folder.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise UsageMistake(f"There is no folder {root} with databases.", "Give it with --root DIR.")
        self.root = root

    def path(self, db_id: str) -> Path:
        """The file of a database. Raises MeritoError, which names the nearest ids."""
        found = self._find(db_id)
        if found is None:
            shown = db_id[:_LONGEST_ID]
            raise UsageMistake(
                f"There is no database {shown!r} under {self.root}.", self.others_than(shown)
            )
        return found

    def __contains__(self, db_id: object) -> bool:
        return isinstance(db_id, str) and self._find(db_id) is not None

    def test_cases(self, db_id: str) -> tuple[Path, ...]:
        """The database and every `*.sqlite` beside it in its own folder (Spider's test suite)."""
        named = self.path(db_id)
        if named.parent.name != db_id:
            return (named,)
        others = (path for path in named.parent.glob("*.sqlite") if path.is_file() and path != named)
        return (named, *sorted(others))

    def names(self) -> tuple[str, ...]:
        """Every id that `path` finds, sorted."""
        return tuple(sorted(set(self._ids())))

    def users_databases(self) -> tuple[str, ...]:
        """The ids of files that begin as databases do and are none of Merito's own, sorted."""
        return tuple(name for name in self.names() if _is_users_database(self.path(name)))

    def _find(self, db_id: str) -> Path | None:
        # An id is a plain name: "../x" must not lead out of the root.
        if db_id in ("", ".", "..") or any(mark in db_id for mark in "/\\\0"):
            return None
        if len(db_id.encode("utf-8", "surrogatepass")) > _LONGEST_ID:
            return None
        nested = (self.root / under / db_id / f"{db_id}.sqlite" for under in _NESTED)
        flat = (self.root / f"{db_id}{suffix}" for suffix in _SUFFIXES)
        return next((path for path in (*nested, *flat) if path.is_file()), None)

    def _ids(self) -> Iterator[str]:
        for under in _NESTED:
            for entry in _entries(self.root / under):
                if (entry / f"{entry.name}.sqlite").is_file():
                    yield entry.name
        for entry in _entries(self.root):
            if entry.suffix in _SUFFIXES and entry.is_file():
                yield entry.stem

    def others_than(self, db_id: str) -> str:
        """What to say to somebody who asked for a database that is not here: the nearest ids, or the
        first. Files that are no databases are none of them."""
        names = self.users_databases()
        if not names:
            return "It holds no database: expected ID/ID.sqlite, database/ID/ID.sqlite or ID.sqlite."
        by_folded = {name.casefold(): name for name in names}
        near = difflib.get_close_matches(db_id[:_LONGEST_ID].casefold(), by_folded, n=3, cutoff=0.5)
        if near:
            return f"Did you mean {', '.join(by_folded[each] for each in near)}?"
        more = ", ..." if len(names) > _NAMES_SHOWN else ""
        return f"There are: {', '.join(names[:_NAMES_SHOWN])}{more}."


def _is_users_database(path: Path) -> bool:
    """Whether a file begins as a database does, and is none of Merito's own."""
    try:
        header = opening.read_header(str(path))
    except OSError:
        return False
    return header.startswith(opening.HEADER) and not header[_APPLICATION_ID:].startswith(_OWN)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
