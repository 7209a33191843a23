"""Whether this process may write stores at all. Interfaces hide what is not allowed; here it is
refused, whoever asks and by whichever way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stores.errors import StoreTrouble

_promises = 0
"""Promises in force. One count for the process and not a context variable: threads and tasks that
began elsewhere are bound by them too."""


@contextmanager
def only_reading() -> Iterator[None]:
    """Within it no store of this process is opened for writing, and so no run can begin."""
    global _promises
    _promises += 1
    try:
        yield
    finally:
        _promises -= 1


def may_write() -> bool:
    """Whether nobody promised only to read."""
    return not _promises


def refuse_writing(path: Path) -> None:
    """Raises StoreTrouble where this process promised only to read."""
    if not may_write():
        raise StoreTrouble(
            f"{path} is not opened for writing: Merito was started read-only.",
            "Start it without --read-only.",
        )
