"""What the console needs of the store, as two small protocols; `stored.py` answers them from a
store, tests from lists. Reading and writing leave the event loop inside the implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from core.errors import MeritoError
from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from core.run.events import AnyEvent, EpisodeOutcome, RunSettings
from tui.view.reel import Reel


class Shelved(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as the library lists it."""

    entry: MemoryEntry
    state: ReviewState
    retrieved: int = 0
    """Attempts whose prompt held it."""
    helped: int = 0
    """Those of them that came out right."""


class Library(Protocol):
    """The memories, and the decisions about them."""

    @property
    def read_only(self) -> bool:
        """Whether decisions are refused."""
        ...

    async def entries(self) -> Sequence[Shelved]:
        """Every memory, oldest first. Raises MeritoError where the store cannot be read."""
        ...

    async def history(self, memory: str) -> Sequence[ReviewDecision]:
        """Every decision about one memory, oldest first."""
        ...

    async def decide(self, decisions: Sequence[ReviewDecision]) -> None:
        """Record decisions. Raises MeritoError where that is not allowed or fails."""
        ...


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


class ReadOnly:
    """A library that anybody may look at and nobody may change, whatever the interface asks."""

    read_only = True

    def __init__(self, library: Library) -> None:
        self._library = library

    async def entries(self) -> Sequence[Shelved]:
        """As the library behind it."""
        return await self._library.entries()

    async def history(self, memory: str) -> Sequence[ReviewDecision]:
        """As the library behind it."""
        return await self._library.history(memory)

    async def decide(self, decisions: Sequence[ReviewDecision]) -> None:
        """Always refuses."""
        raise MeritoError(
            f"{len(decisions)} decisions were not recorded: this console is read-only.",
            "Start it without --read-only to review.",
        )
