"""How far a long download has come, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One state of a download or check."""

    step: str
    """What happens now, in a few words."""
    done: int = 0
    """Bytes."""
    total: int = 0
    """Bytes; 0 where unknown."""


Listener = Callable[[Progress], None]


def silent(_progress: Progress) -> None:
    """A listener for those who show nothing."""
