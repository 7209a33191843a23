"""Gives each event its run and its time, and its number when it leaves the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from core.run.events import Event, TokenDelta

E = TypeVar("E", bound=Event)


class Stamp:
    """Numbers the events of one run without a gap, starting where an earlier session ended.

    Numbers follow the order in which events leave: of several episodes under way, one may make an
    event before another's and be heard after it, or never.
    """

    def __init__(self, run: str, next_seq: int = 1, clock: Callable[[], float] = time.time) -> None:
        self.run = run
        self._next = next_seq
        self._clock = clock

    def __call__(self, kind: type[E], **fields: Any) -> E:
        """Make an event of `kind`, without a number yet."""
        return kind(run=self.run, seq=0, at=self._clock(), **fields)

    def numbered(self, event: E) -> E:
        """The event with the next number. Deltas take none: they are never stored."""
        if isinstance(event, TokenDelta):
            return event
        seq, self._next = self._next, self._next + 1
        return msgspec.structs.replace(event, seq=seq)
