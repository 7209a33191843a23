"""The console's library, answered from a store; nothing here blocks the interface."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import MeritoError
from core.memory.entry import ReviewDecision
from stores.entry_rows import EntryRow
from stores.library import Decided
from stores.store import Store
from tui.console.memory_library import Page, Told

if TYPE_CHECKING:
    from core.memory.duplicates import Grouping
    from core.memory.embedding import Encoder

NEAREST = 200
"""Memories that a search by meaning shows."""

_EMBEDDED = 256
"""Memories embedded at a time, after which is told how far it is."""


class StoreLibrary:
    """The memories of a store. `encoder` replaces the one that the settings name."""

    def __init__(self, store: Store, encoder: Encoder | None = None) -> None:
        self._store = store
        self._encoder = encoder
        self._read_to = 0
        self._grouping: Grouping | None = None
        self._grouped_to = 0
        self._meaning: dict[str, Any] = {}

    @property
    def read_only(self) -> bool:
        """Whether the store was opened for reading alone."""
        return self._store.read_only

    async def entries(self) -> Sequence[EntryRow]:
        """Every memory, oldest first."""
        return await asyncio.to_thread(self._entries)

    def _entries(self) -> list[EntryRow]:
        with self._store.snapshot():
            self._read_to = self._store.newest_event()
            return self._store.shelf_rows()

    async def moved(self) -> Sequence[EntryRow]:
        """The memories that are new or changed since this or `entries` was last asked."""
        return await asyncio.to_thread(self._moved)

    def _moved(self) -> list[EntryRow]:
        with self._store.snapshot():
            newest = self._store.newest_event()
            if newest == self._read_to:
                return []
            ids = self._store.moved_entries(self._read_to)
            self._read_to = newest
            return self._store.shelf_rows(ids) if ids else []

    async def page(self, memory: str) -> Page:
        """One memory with its history and its uses."""
        return await asyncio.to_thread(self._page, memory)

    def _page(self, memory: str) -> Page:
        with self._store.snapshot():
            return Page(
                entry=self._store.entry(memory),
                history=tuple(self._store.history(memory)),
                uses=tuple(self._store.entry_uses(memory)),
            )

    async def matching(self, words: str) -> frozenset[str]:
        """Full text."""
        return await asyncio.to_thread(self._store.matching, words)

    async def groups(self) -> Mapping[str, str]:
        """Near-duplicates; what came since the last time joins the groups there are."""
        return await asyncio.to_thread(self._groups)

    def _groups(self) -> Mapping[str, str]:
        from core.memory.duplicates import Grouping, Transition

        if self._grouping is None:
            self._grouping = Grouping()
        for number, fields in self._store.transitions(self._grouped_to):
            self._grouping.add([Transition(*fields)])
            self._grouped_to = number
        return dict(self._grouping.centres)

    async def stale(self) -> Mapping[str, tuple[str, ...]]:
        """Memories that their database contradicts."""
        from tui.stale import stale_memories

        return await asyncio.to_thread(stale_memories, self._store)

    async def decide(self, decisions: Sequence[ReviewDecision], seen: Mapping[str, int]) -> Decided:
        """Commit decisions, all or none but those that clash."""
        return await asyncio.to_thread(self._store.decide, decisions, seen)

    async def write_out(self, folder: Path, memories: Sequence[str]) -> str:
        """Export."""
        return await asyncio.to_thread(self._write_out, folder, memories)

    def _write_out(self, folder: Path, memories: Sequence[str]) -> str:
        from core.memory.jsonl import FILES, Reviewed, write

        wanted = frozenset(memories)
        with self._store.snapshot():
            chosen = [entry for entry in self._store.entries() if entry.id in wanted]
            reviewed = [Reviewed(entry=e, reviews=tuple(self._store.history(e.id))) for e in chosen]
        counts = write(folder, reviewed)
        return ", ".join(f"{count:,} in {folder / FILES[kind]}" for kind, count in counts.items())

    async def take_in(self, paths: Sequence[Path]) -> str:
        """Import."""
        return await asyncio.to_thread(self._take_in, paths)

    def _take_in(self, paths: Sequence[Path]) -> str:
        from core.memory.jsonl import read_some
        from tui.memory_lines import import_line

        imported = read_some(paths)
        entries = [memory.entry for memory in imported.memories]
        reviews = {memory.entry.id: memory.reviews for memory in imported.memories}
        new = self._store.keep(entries, at=time.time(), reviews=reviews)
        known = len(entries) - new
        return import_line({"new": new, "known": known, "duplicates": imported.duplicates})

    async def alike(self, words: str, told: Told) -> Sequence[str]:
        """By meaning: what has no vector yet is embedded first, a part at a time."""
        import numpy as np

        encoder = self._encoder_in_use()
        told("loading the encoder ...")
        await encoder.space()
        await self._embed_missing(encoder, told)
        if not self._meaning:
            return []
        (asked,) = await encoder.embed([words])

        def ranked() -> list[str]:
            ids = list(self._meaning)
            scores = np.stack([self._meaning[each] for each in ids]) @ asked
            return [ids[place] for place in np.argsort(-scores, kind="stable")[:NEAREST]]

        return await asyncio.to_thread(ranked)

    def _encoder_in_use(self) -> Encoder:
        if self._encoder is None:
            from core.memory.embedding import DEFAULT_MODEL, EncoderProcess
            from tui import settings

            model = settings.value("encoder") or DEFAULT_MODEL
            self._encoder = EncoderProcess(model, log=settings.log_file())
        return self._encoder

    async def _embed_missing(self, encoder: Encoder, told: Told) -> None:
        from core.memory.texts import dense_memory_text
        from tui.kept_vectors import KeptVectors

        space, shelf = await encoder.space(), KeptVectors(self._store.vectors_file)
        entries = [e for e in await asyncio.to_thread(self._store.entries) if e.id not in self._meaning]
        if not entries:
            return
        self._meaning |= await asyncio.to_thread(shelf.fetch, space, [entry.id for entry in entries])
        missing = [entry for entry in entries if entry.id not in self._meaning]
        for start, chunk in _chunks(missing):
            told(f"reading {start:,} of {len(missing):,} memories ...")
            vectors = await encoder.embed([dense_memory_text(entry) for entry in chunk])
            self._meaning |= dict(zip((entry.id for entry in chunk), vectors, strict=True))
        if missing:
            import numpy as np

            names = [entry.id for entry in missing]
            rows = np.stack([self._meaning[name] for name in names])
            await asyncio.to_thread(shelf.keep, space, names, rows)

    async def close(self) -> None:
        """End the encoder, if it was started."""
        if self._encoder is not None:
            with suppress(MeritoError):
                await self._encoder.close()


def _chunks(missing: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    for start in range(0, len(missing), _EMBEDDED):
        yield start, missing[start : start + _EMBEDDED]
