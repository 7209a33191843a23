"""The memories of past episodes, and the only way to get any out: a legal, ranked retrieval."""

from __future__ import annotations

import asyncio
import random
import time
from threading import Lock
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.errors import MeritoError
from core.memory.bm25 import Bm25, Tokenizer, ascii_tokens
from core.memory.embedding import Encoder
from core.memory.entry import ChannelRetrieval, MemoryEntry, RankedEntry, Retrieval, ReviewState
from core.memory.legality import Candidates, Facts
from core.memory.policy import Asking, RetrievalPolicy
from core.memory.ranking import Pool, best, min_max
from core.memory.texts import RetrievalQuery, lexical_memory_text
from core.memory.vectors import Vectors


class QueryVector(msgspec.Struct, frozen=True, kw_only=True):
    """A query's embedding, and what it took."""

    values: NDArray[np.float32]
    seconds: float = 0.0
    cut: int = 0
    """Word pieces of the query beyond the encoder's window."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """What a retrieval gave: its record, and the entries for the prompt in the prompt's order."""

    retrieval: Retrieval
    entries: tuple[MemoryEntry, ...]


async def embedded(encoder: Encoder, query: RetrievalQuery) -> QueryVector:
    """The query's vector; await it beside other work, it needs nothing of the index."""
    begun = time.perf_counter()
    values = (await encoder.embed([query.text]))[0]
    (cut,) = await encoder.cuts([query.text])
    return QueryVector(values=values, seconds=time.perf_counter() - begun, cut=cut)


class MemoryIndex:
    """Entries with their vectors and term counts, in the order in which they became final.

    No entry leaves it but through `retrieve`, which applies the rules of legality itself: callers
    state who asks and cannot forget to filter. May be used from several threads.
    """

    def __init__(self, dimensions: int, tokenize: Tokenizer = ascii_tokens) -> None:
        self._entries: list[MemoryEntry] = []
        self._ids: list[str] = []
        self._facts = Facts()
        self._vectors = Vectors(dimensions)
        self._bm25 = Bm25(tokenize)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, memory: str) -> bool:
        return self._facts.row(memory) is not None

    def append(self, entry: MemoryEntry, vector: NDArray[np.floating[Any]], state: ReviewState) -> None:
        """Add a final entry with the vector of its dense text.

        Raises MeritoError on an id that is there already, or a vector of another encoder.
        """
        text = lexical_memory_text(entry)
        with self._lock:
            if entry.id in self:
                raise MeritoError(f"The memory {entry.id} is in the index already.")
            self._vectors.append(vector)
            self._bm25.append(text)
            self._facts.append(entry, state)
            self._entries.append(entry)
            self._ids.append(entry.id)

    def set_state(self, memory: str, state: ReviewState) -> None:
        """Apply a review decision. Raises MeritoError where there is no such memory."""
        with self._lock:
            row = self._facts.row(memory)
            if row is None:
                raise MeritoError(f"There is no memory {memory}.", "See `merito memory list`.")
            self._facts.set_state(row, state)

    def state(self, memory: str) -> ReviewState | None:
        """The review state in force; None where there is no such memory."""
        with self._lock:
            row = self._facts.row(memory)
            return None if row is None else self._facts.state(row)

    def retrieve(
        self,
        query: RetrievalQuery,
        asking: Asking,
        policy: RetrievalPolicy,
        vector: QueryVector | None = None,
        *,
        explain: bool = False,
    ) -> Recalled:
        """The best legal memories for a failed attempt, and why they are the best.

        `vector` may be None only where the policy has no dense channel. `explain` records every
        candidate with its lexical text, instead of the first few. Takes milliseconds of one core:
        call it off the event loop, or use `recall`. Raises MeritoError on a missing vector or one
        of another encoder.
        """
        begun = time.perf_counter()
        if policy.dense and vector is None:
            raise MeritoError("This strategy ranks by embeddings, and the query has none.")
        with self._lock:
            legal = self._facts.legal(asking, policy)
            found = [
                self._facts.candidates(channel, legal, query.failure, policy, asking)
                for channel in policy.channels
            ]
            pools = self._scored(found, query, asking, policy, vector)
            orders = [
                self._order(pool, candidates.channel.quota, query, asking, policy, explain)
                for candidates, pool in zip(found, pools, strict=True)
            ]
            channels = tuple(map(self._explained, found, pools, orders, [explain] * len(found)))
            entries = tuple(
                self._entries[pool.rows[item]]
                for channel, pool, order in zip(channels, pools, orders, strict=True)
                for item in order[: channel.taken]
            )
        record = Retrieval(
            dense_text=query.text,
            lexical_text=query.text,
            channels=channels,
            seconds=time.perf_counter() - begun,
            embedding_seconds=vector.seconds if vector else 0.0,
            query_cut=vector.cut if vector else 0,
        )
        return Recalled(retrieval=record, entries=entries)

    async def recall(
        self,
        query: RetrievalQuery,
        asking: Asking,
        policy: RetrievalPolicy,
        vector: QueryVector | None = None,
        *,
        explain: bool = False,
    ) -> Recalled:
        """`retrieve`, off the event loop."""
        return await asyncio.to_thread(self.retrieve, query, asking, policy, vector, explain=explain)

    def _scored(
        self,
        found: list[Candidates],
        query: RetrievalQuery,
        asking: Asking,
        policy: RetrievalPolicy,
        vector: QueryVector | None,
    ) -> list[Pool]:
        """Every channel's candidates with their scores; the vectors are passed over once for all."""
        if not found:
            return []
        union = np.logical_or.reduce([candidates.mask for candidates in found])
        dense = (
            self._vectors.scores(vector.values, union)
            if policy.dense and vector
            else np.zeros(len(self), dtype=np.float32)
        )
        match = self._facts.of_type(query.failure)
        first = self._facts.same_database(asking) & (policy.databases == "same-first")
        pools = []
        for candidates in found:
            rows = np.flatnonzero(candidates.mask)
            cosines = dense[rows].astype(np.float64)
            lexical = self._bm25.scores(query.text, rows) if policy.lexical else np.zeros(len(rows))
            dense_norm, bm25_norm = min_max(cosines), min_max(lexical)
            base = policy.dense_weight * dense_norm + policy.lexical_weight * bm25_norm
            pools.append(
                Pool(
                    rows=rows,
                    dense=cosines,
                    dense_norm=dense_norm,
                    bm25=lexical,
                    bm25_norm=bm25_norm,
                    match=match[rows],
                    first=first[rows],
                    score=base + policy.bonus(query.failure) * match[rows],
                )
            )
        return pools

    def _order(
        self,
        pool: Pool,
        quota: int,
        query: RetrievalQuery,
        asking: Asking,
        policy: RetrievalPolicy,
        explain: bool,
    ) -> list[int]:
        """Candidates to record, best first; where the policy draws, the drawn ones lead."""
        size = len(pool.rows)
        wanted = size if explain else max(policy.explained, quota)
        order = best(pool, self._ids, wanted)
        if not policy.random_same_type:
            return order
        # Seeded by the asker's place and drawn from ids in order, so that the order in which
        # memories arrived has no say.
        place = f"{policy.random_seed}\x1f{asking.position}\x1f{asking.source_key}\x1f{query.text}"
        by_id = sorted(range(size), key=lambda item: self._ids[pool.rows[item]])
        drawn = random.Random(place).sample(by_id, min(quota, size))
        return (drawn + [item for item in order if item not in drawn])[:wanted]

    def _explained(
        self, found: Candidates, pool: Pool, order: list[int], explain: bool
    ) -> ChannelRetrieval:
        return ChannelRetrieval(
            channel=found.channel.name,
            legal=found.legal,
            typed=found.typed,
            fallback=found.fallback,
            pool=len(pool.rows),
            candidates=tuple(
                self._placed(pool, item, rank, explain) for rank, item in enumerate(order, start=1)
            ),
            taken=min(found.channel.quota, len(pool.rows)),
        )

    def _placed(self, pool: Pool, item: int, rank: int, explain: bool) -> RankedEntry:
        entry = self._entries[pool.rows[item]]
        return RankedEntry(
            id=entry.id,
            rank=rank,
            score=float(pool.score[item]),
            dense=float(pool.dense[item]),
            dense_norm=float(pool.dense_norm[item]),
            bm25=float(pool.bm25[item]),
            bm25_norm=float(pool.bm25_norm[item]),
            type_match=bool(pool.match[item]),
            source_run=entry.provenance.run,
            source_position=entry.provenance.position,
            lexical_text=lexical_memory_text(entry) if explain else "",
        )
