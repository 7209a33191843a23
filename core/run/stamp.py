"""Gives each event its run, its place and its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from core.run.events import Event, TokenDelta

E = TypeVar("E", bound=Event)


class Stamp:
    """Numbers the events of one run without a gap, starting where an earlier session ended."""

    def __init__(self, run: str, next_seq: int = 1, clock: Callable[[], float] = time.time) -> None:
        self.run = run
        self._next = next_seq
        self._clock = clock

    def __call__(self, kind: type[E], **fields: Any) -> E:
        """Make an event of `kind`. Deltas take no number: they are never stored."""
        seq = 0
        if kind is not TokenDelta:
            seq = self._next
            self._next += 1
        return kind(run=self.run, seq=seq, at=self._clock(), **fields)
