"""What the console needs of a store's memories, as a small protocol; `stored_library.py` answers it
from a store, tests from lists. Reading and writing leave the event loop inside the implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

import msgspec

from core.errors import MeritoError
from core.memory.entry import MemoryEntry, ReviewDecision

if TYPE_CHECKING:
    from stores.entry_rows import EntryRow, EntryUse
    from stores.library import Decided
    from tui.console.restraint import Restraint

Told = Callable[[str], None]
"""Hears how far a long piece of work is, in words."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one memory."""

    entry: MemoryEntry
    history: tuple[ReviewDecision, ...] = ()
    """Every decision, oldest first."""
    uses: tuple[EntryUse, ...] = ()
    """The prompts it went into, newest first."""


class Library(Protocol):
    """The memories, and the decisions about them. Every method raises MeritoError where the store
    cannot be read or written."""

    @property
    def read_only(self) -> bool:
        """Whether decisions are refused."""
        ...

    async def entries(self) -> Sequence[EntryRow]:
        """Every memory, oldest first."""
        ...

    async def moved(self) -> Sequence[EntryRow]:
        """The memories that are new or changed since `entries` or `moved` was last asked; quick where
        nothing is."""
        ...

    async def page(self, memory: str) -> Page:
        """One memory as a whole."""
        ...

    async def matching(self, words: str) -> frozenset[str]:
        """The memories in which every word occurs; beginnings count."""
        ...

    async def alike(self, words: str, told: Told) -> Sequence[str]:
        """The memories nearest in meaning, best first. Raises MeritoError where there is no encoder."""
        ...

    async def groups(self) -> Mapping[str, str]:
        """The centre of each memory's group of near-duplicates; itself where it stands alone."""
        ...

    async def stale(self) -> Mapping[str, tuple[str, ...]]:
        """The memories whose database is no longer what they say, with the differences, unless a
        person has decided knowing these."""
        ...

    async def decide(self, decisions: Sequence[ReviewDecision], seen: Mapping[str, int]) -> Decided:
        """Record decisions of somebody who had seen so many earlier ones about each memory; those that
        clash with what somebody else decided meanwhile are held back."""
        ...

    async def write_out(self, folder: Path, memories: Sequence[str]) -> str:
        """Export memories with their reviews; says what was written."""
        ...

    async def take_in(self, paths: Sequence[Path]) -> str:
        """Import memories from files or folders; says what came."""
        ...

    async def close(self) -> None:
        """Let go of what was started for searching."""
        ...


class ReadOnly:
    """A library that anybody may look at and nobody may change, whatever the interface asks."""

    read_only = True

    def __init__(self, library: Library, restraint: Callable[[], Restraint]) -> None:
        """`restraint` says why nobody may, when somebody tries."""
        self._restraint = restraint
        self.entries = library.entries
        self.moved = library.moved
        self.page = library.page
        self.matching = library.matching
        self.alike = library.alike
        self.groups = library.groups
        self.stale = library.stale
        self.write_out = library.write_out
        self.close = library.close

    async def decide(self, decisions: Sequence[ReviewDecision], seen: Mapping[str, int]) -> Decided:
        """Always refuses."""
        self._refuse(f"{len(decisions)} decisions were not recorded")

    async def take_in(self, paths: Sequence[Path]) -> str:
        """Always refuses."""
        self._refuse("Nothing was imported")

    def _refuse(self, what: str) -> NoReturn:
        why = self._restraint()
        raise MeritoError(f"{what}. {why.what}.", why.instead)
