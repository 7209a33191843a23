"""The memory of one run: what its episodes may recall, and what they learn."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import MeritoError
from core.memory.embedding import Encoder, Space
from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState, first_state
from core.memory.making import with_cut
from core.memory.policy import Asking, RetrievalPolicy
from core.memory.retrieval import MemoryIndex, Recalled, embedded
from core.memory.texts import RetrievalQuery, dense_memory_text
from core.models.chat import ModelTrouble

Vector = NDArray[np.float32]


@dataclass
class Sight:
    """What an open episode may see of what changes while it is open."""

    overlapping: frozenset[int] = frozenset()
    """Lower positions that were not final when it began."""
    seen: dict[str, ReviewState] = field(default_factory=dict)
    """Review states as they were when it began, of memories decided about since."""


class VectorShelf(Protocol):
    """Where vectors of earlier sessions are kept; a cache, never the truth."""

    def fetch(self, space: Space, ids: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are at hand, by id."""
        ...

    def keep(self, space: Space, ids: Sequence[str], vectors: Vector) -> None:
        """Keep these for the next session."""
        ...


class NoShelf:
    """Every session embeds anew."""

    def fetch(self, space: Space, ids: Sequence[str]) -> Mapping[str, Vector]:
        """Nothing."""
        return {}

    def keep(self, space: Space, ids: Sequence[str], vectors: Vector) -> None:
        """Nowhere."""


class EncoderTrouble(ModelTrouble):
    """The encoder failed: nothing can be ranked or learned."""

    part = "encoder"


@contextmanager
def _encoder_trouble() -> Iterator[None]:
    """The encoder's failure is the engine's, not the question's: the run waits or stops for it."""
    try:
        yield
    except MeritoError as wrong:
        raise EncoderTrouble(wrong.problem, wrong.mend) from wrong


class Experience:
    """Library entries first, then the run's own in the order in which they became final."""

    def __init__(
        self,
        run: str,
        encoder: Encoder | None,
        *,
        library: Sequence[MemoryEntry] = (),
        states: Mapping[str, ReviewState] | None = None,
        include_pending: bool = False,
        holds: bool = False,
        shelf: VectorShelf | None = None,
    ) -> None:
        """`encoder` may be None where no policy ranks by embeddings. `library` holds entries of
        earlier runs that were final when this one began. `holds`: confirmed entries of this run
        wait for a review too."""
        self.run = run
        self._encoder = encoder
        self._library = tuple(library)
        self._states = dict(states or {})
        self._include_pending = include_pending
        self._holds = holds
        self._shelf: VectorShelf = shelf or NoShelf()
        self._own: tuple[MemoryEntry, ...] = ()
        self._places: dict[str, int] = {}
        """Position by id, of the entries that this run taught."""
        self._sights: dict[int, Sight] = {}
        self._index: MemoryIndex | None = None
        self._vectors: dict[str, Vector] = {}
        self._loading: asyncio.Task[MemoryIndex] | None = None

    def start(self, own: Sequence[MemoryEntry]) -> None:
        """Load library and the run's earlier entries in the background, while the model works."""
        self._own = tuple(own)
        self._places = {entry.id: entry.provenance.position for entry in own}
        self._loading = asyncio.get_running_loop().create_task(self._loaded(self._own))

    def begin(
        self,
        position: int,
        overlapping: Collection[int] = (),
        seen: Mapping[str, ReviewState] | None = None,
    ) -> None:
        """Fix what the episode at `position` may recall: what `overlapping` ones teach comes too
        late for it, and so do decisions from now on. `seen` holds older states, for an episode that
        began in an earlier session."""
        self._sights[position] = Sight(frozenset(overlapping), dict(seen or {}))

    def end(self, position: int) -> None:
        """The episode at `position` is final and asks no more."""
        self._sights.pop(position, None)

    async def recall(
        self,
        query: RetrievalQuery,
        position: int,
        source_key: str,
        database: str,
        policy: RetrievalPolicy,
    ) -> Recalled:
        """The best legal memories for a failed attempt at `position`."""
        with _encoder_trouble():
            index = await self._ready()
            vector = await embedded(self._encoder, query) if policy.dense and self._encoder else None
        sight = self._sights.get(position, Sight())
        asking = Asking(
            run=self.run,
            position=position,
            source_key=source_key,
            database=database,
            library=len(self._library),
            include_pending=self._include_pending,
            only=self._final_then(sight) if sight.overlapping else None,
            seen=sight.seen,
        )
        return await index.recall(query, asking, policy, vector)

    def _final_then(self, sight: Sight) -> frozenset[str]:
        """The run's own entries without those of overlapping episodes."""
        places = self._places.items()
        return frozenset(memory for memory, place in places if place not in sight.overlapping)

    async def encoded(self, entry: MemoryEntry) -> MemoryEntry:
        """The entry with its vector at hand and a note of what the encoder's window cut."""
        if self._encoder is None:
            return entry
        text = dense_memory_text(entry)
        with _encoder_trouble():
            vector = (await self._encoder.embed([text]))[0]
            (cut,) = await self._encoder.cuts([text])
        self._vectors[entry.id] = vector
        return with_cut(entry, cut)

    async def learn(self, entry: MemoryEntry) -> None:
        """Take in what a final episode taught. An id that is there already changes nothing."""
        with _encoder_trouble():
            index = await self._ready()
        if entry.id not in index:
            vector = self._vectors.pop(entry.id, None)
            if vector is None:
                vector = (await self._embed([entry]))[0]
            index.append(entry, vector, self._state_of(entry))
            self._places[entry.id] = entry.provenance.position

    async def review(self, decisions: Sequence[ReviewDecision]) -> None:
        """Apply decisions that people took while the run went on. They count from the next episode
        on: an open one goes on seeing what it saw."""
        index = await self._ready()
        for decision in decisions:
            before = index.state(decision.memory)
            for sight in self._sights.values():
                if before is not None:
                    sight.seen.setdefault(decision.memory, before)
            self._states[decision.memory] = decision.state
            if decision.memory in index:
                index.set_state(decision.memory, decision.state)

    async def close(self) -> None:
        """Stop loading."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)

    def _state_of(self, entry: MemoryEntry) -> ReviewState:
        holds = self._holds and entry.provenance.run == self.run
        return self._states.get(entry.id) or first_state(entry, holds=holds)

    async def _ready(self) -> MemoryIndex:
        if self._index is None:
            if self._loading is None:
                self.start(self._own)
            assert self._loading is not None
            try:
                self._index = await asyncio.shield(self._loading)
            except MeritoError:
                self._loading = None  # the next call tries again
                raise
        return self._index

    async def _loaded(self, own: tuple[MemoryEntry, ...]) -> MemoryIndex:
        entries = (*self._library, *own)
        dimensions = (await self._encoder.space()).dimensions if self._encoder else 1
        index = MemoryIndex(dimensions)
        vectors = await self._embed(entries)
        for entry, vector in zip(entries, vectors, strict=True):
            index.append(entry, vector, self._state_of(entry))
        return index

    async def _embed(self, entries: Sequence[MemoryEntry]) -> Vector:
        """One row an entry; what the shelf has is not embedded again."""
        if self._encoder is None or not entries:
            return np.zeros((len(entries), 1), dtype=np.float32)
        space = await self._encoder.space()
        known = dict(self._shelf.fetch(space, [entry.id for entry in entries]))
        missing = [entry for entry in entries if entry.id not in known]
        if missing:
            fresh = await self._encoder.embed([dense_memory_text(entry) for entry in missing])
            known.update(zip((entry.id for entry in missing), fresh, strict=True))
        vectors = np.stack([known[entry.id] for entry in entries])
        if missing:
            self._shelf.keep(space, [entry.id for entry in entries], vectors)
        return vectors
