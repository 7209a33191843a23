"""Specification memories of similar questions (MAP-SQL, step 2, equation 2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from core.question import Question
from core.selection.specification import SpecificationMemory

if TYPE_CHECKING:
    from core.memory.embedding import Encoder
    from core.memory.vectors import Vectors
    from core.repair.experience import VectorShelf

CONSIDERED = 512
"""Nearest memories that may stand in a prompt: beyond any window in use."""


class MemoryBank:
    """Memories by the similarity of their questions. Nothing is embedded before the first look-up."""

    def __init__(
        self,
        memories: Sequence[SpecificationMemory],
        encoder: Encoder,
        shelf: VectorShelf | None = None,
    ) -> None:
        self.memories = tuple(memories)
        self._encoder, self._shelf = encoder, shelf
        self._sources = [memory.source_key for memory in self.memories]
        self._vectors: Vectors | None = None

    async def nearest(self, question: Question) -> list[SpecificationMemory]:
        """Memories by falling similarity to the question, equal ones by id; never its own."""
        import asyncio

        import numpy as np

        if not self.memories:
            return []
        vectors = await self._embedded()
        query = (await self._encoder.embed([question.text]))[0]
        own = question.source_key
        legal = np.array([source != own for source in self._sources])
        scores = await asyncio.to_thread(vectors.scores, query, legal)
        order = sorted(
            np.flatnonzero(legal).tolist(), key=lambda i: (-float(scores[i]), self.memories[i].id)
        )
        return [self.memories[index] for index in order[:CONSIDERED]]

    async def _embedded(self) -> Vectors:
        if self._vectors is None:
            from core.memory.vectors import Vectors

            space = await self._encoder.space()
            ids = [memory.id for memory in self.memories]
            known = dict(self._shelf.fetch(space, ids)) if self._shelf else {}
            missing = [memory for memory in self.memories if memory.id not in known]
            if missing:
                fresh = await self._encoder.embed([memory.question for memory in missing])
                known |= {memory.id: row for memory, row in zip(missing, fresh, strict=True)}
                if self._shelf:
                    self._shelf.keep(space, [memory.id for memory in missing], fresh)
            vectors = Vectors(space.dimensions)
            for name in ids:
                vectors.append(known[name])
            self._vectors = vectors
        return self._vectors


async def longest_fitting(count: int, tokens: Callable[[int], Awaitable[int]], room: int) -> int:
    """The most of the first `count` memories whose tokens fit into `room`; found by halving, since
    each more is longer. `tokens(k)` counts the first k as they will be shown."""
    fits, over = 0, count + 1
    while fits + 1 < over:
        middle = (fits + over) // 2
        if await tokens(middle) <= room:
            fits = middle
        else:
            over = middle
    return fits
