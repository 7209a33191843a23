"""How far an interrupted run had come."""

from __future__ import annotations

import msgspec

from core.memory.entry import MemoryEntry, ReviewState
from core.run.events import AnyEvent, EpisodeEnded


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What the store gives back so that a run goes on as if it had never stopped."""

    finished: dict[int, EpisodeEnded] = {}
    """Final episodes by position; they are not repeated."""
    unfinished: dict[int, tuple[AnyEvent, ...]] = {}
    """Committed events of episodes that are not final, by position."""
    seen: dict[int, dict[str, ReviewState]] = {}
    """Of episodes that are not final: memory -> its review state when the episode began, where
    people have decided about it since."""
    next_seq: int = 1
    entries: tuple[MemoryEntry, ...] = ()
    """What the finished episodes taught, oldest first."""

    @property
    def begun(self) -> bool:
        """Whether the run had started at all."""
        return self.next_seq > 1
