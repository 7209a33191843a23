"""What the console needs of a store's runs, as a small protocol; `stored.py` answers it from a
store, tests from lists (its memories: `shelves.py`). Reading leaves the event loop inside the
implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from core.run.events import AnyEvent, EpisodeOutcome, RunSettings
from tui.view.reel import Reel


class StoredRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as the list of runs shows it."""

    id: str
    began: float
    """Seconds since the epoch."""
    about: str
    """Data set, strategy and model in a few words."""
    questions: int
    finished: int
    ended: str = ""
    """Why its last session ended; empty where it was cut off or goes on."""
    settings: RunSettings | None = None
    model: str = ""
    """Engine and name."""
    last_at: float = 0.0
    """Time of its last event, in seconds since the epoch."""
    last_seq: int = 0
    """Number of its last event: where this is the same, the run is."""
    seconds: float = 0.0
    """Time worked."""
    outcomes: Mapping[EpisodeOutcome, int] = {}
    """Final episodes by outcome."""


class Archive(Protocol):
    """The stored runs."""

    @property
    def notice(self) -> str:
        """What was to be known of the store's writer when the store was opened; empty where there
        was none."""
        ...

    async def written(self) -> bool:
        """Whether somebody records runs in the store right now."""
        ...

    async def runs(self) -> Sequence[StoredRun]:
        """Every run, newest first."""
        ...

    async def moved(self, known: Mapping[str, int]) -> Sequence[StoredRun]:
        """The runs whose last event is another than `known` says, newest first; quick where nothing
        moved."""
        ...

    async def events(self, run: str, after: int = 0) -> Sequence[AnyEvent]:
        """A run's events in order, from the one that follows number `after`."""
        ...

    async def reel(self, run: str) -> Reel:
        """A run's events by their place, as many as there are now."""
        ...

    async def episode(self, run: str, position: int) -> Sequence[AnyEvent]:
        """The events of one episode in order."""
        ...
