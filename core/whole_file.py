"""A file that is complete or not there: whoever looks sees the old one or the new one, never half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import MeritoError

_DATABASE = (b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""How a database and what waits to become part of one (a WAL, in either byte order) begin."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write `path` anew: the block's bytes take its place when the block ends, and are thrown away
    where it raises. What is no ordinary file (a device, a pipe) is written as it is. A database is
    never replaced: no file of ours is one, so its name was given by mistake.

    Raises MeritoError that names the file where it cannot be written.
    """
    path = path.expanduser()
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        path = path.resolve()
        _spare_database(path)
        # Not mkstemp: what is made to be shared gets the permissions that the user's files have.
        draft = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}")
        try:
            with draft.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as wrong:
        raise MeritoError(
            f"{path} cannot be written: {wrong.strerror or wrong}.", "Name another file."
        ) from wrong


def _spare_database(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb") as file:
        if file.read(len(_DATABASE[0])).startswith(_DATABASE):
            raise MeritoError(f"{path} is a database and would be lost.", "Name another file.")
