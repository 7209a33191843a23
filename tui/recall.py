"""Memory asked by hand: the retrieval of a run, without the run (`merito memory search`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core.errors import UsageMistake
from core.feedback.verdict import FailureType, Status
from core.memory.entry import ChannelRetrieval, MemoryEntry, RankedEntry, Retrieval
from core.question import source_key
from stores.library import EntryFilter
from stores.store import Store

if TYPE_CHECKING:
    from core.memory.embedding import EncoderProcess
    from core.memory.policy import Asking, RetrievalPolicy
    from core.memory.retrieval import MemoryIndex
    from core.memory.texts import RetrievalQuery

ANYWHERE = 2**31
"""The position of a question that every memory precedes."""


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """A failed attempt that somebody describes."""

    question: str
    sql: str = ""
    message: str = ""
    status: Status | None = None
    failure: FailureType | None = None
    database: str | None = None
    position: int | None = None
    """Only memories learned before this position of their run."""
    run: str | None = None
    """Only this run's memories; the beginning of its id is enough."""
    strategy: str = "merit"
    include_pending: bool = False

    @property
    def observed(self) -> Status:
        """The status, as far as the rest tells it."""
        if self.status is not None:
            return self.status
        return Status.EXECUTION_ERROR if self.message else Status.DENOTATION_MISMATCH


async def search(store: Store, inquiry: Inquiry, encoder: EncoderProcess) -> Retrieval:
    """The explained retrieval of an inquiry: every candidate with every number. Raises MeritoError
    for an unknown run or strategy, a strategy without memory, or an encoder that fails."""
    policy = _policy(inquiry.strategy)
    entries = _legal_sources(store, inquiry)
    index = await _index(store, entries, encoder if policy.dense else None)
    query = _query(inquiry)
    vector = None
    if policy.dense:
        from core.memory.retrieval import embedded

        vector = await embedded(encoder, query)
    recalled = await index.recall(query, _asking(inquiry, len(index)), policy, vector, explain=True)
    return recalled.retrieval


def as_object(retrieval: Retrieval, explain: bool) -> dict[str, Any]:
    """What `--json` prints: the query's texts and each channel; only what would go into a prompt,
    and no texts, where nothing is to be explained."""
    channels = {channel.channel: _channel(channel, explain) for channel in retrieval.channels}
    return {
        "query": {"dense_text": retrieval.dense_text, "lexical_text": retrieval.lexical_text},
        **channels,
    }


def _channel(channel: ChannelRetrieval, explain: bool) -> dict[str, Any]:
    candidates = channel.candidates if explain else channel.candidates[: channel.taken]
    return {
        "legal": channel.legal,
        "typed": channel.typed,
        "fallback": channel.fallback,
        "pool": channel.pool,
        "taken": channel.taken,
        "candidates": [_candidate(ranked, explain) for ranked in candidates],
    }


SHOWN = ("id", "rank", "score", "dense", "dense_norm", "bm25", "bm25_norm", "type_match")
SOURCE = ("source_run", "source_position")


def _candidate(ranked: RankedEntry, explain: bool) -> dict[str, Any]:
    names = (*SHOWN, *SOURCE, "lexical_text") if explain else (*SHOWN, *SOURCE)
    return {name: getattr(ranked, name) for name in names}


def _policy(strategy: str) -> RetrievalPolicy:
    from core.repair.strategy import strategy_named

    policy = strategy_named(strategy).retrieval
    if policy is None:
        raise UsageMistake(
            f"The strategy '{strategy}' has no memory to search.", "Try --strategy merit."
        )
    return policy


def _legal_sources(store: Store, inquiry: Inquiry) -> list[MemoryEntry]:
    """The entries to index. Which of them are legal is decided by the index; but without a database
    the same question is told by its words alone, and without a run a position counts in any."""
    run = None if inquiry.run is None else store.teaching_run(inquiry.run)
    entries = store.entries(EntryFilter(run=run, before=inquiry.position))
    if inquiry.database is not None:
        return entries
    words = source_key("", inquiry.question)
    return [entry for entry in entries if source_key("", entry.context.question) != words]


def _query(inquiry: Inquiry) -> RetrievalQuery:
    from core.feedback.failure import classify
    from core.memory.texts import RetrievalQuery

    failure = inquiry.failure or classify(inquiry.observed, inquiry.message)[0]
    return RetrievalQuery(
        question=inquiry.question,
        sql=inquiry.sql,
        status=inquiry.observed,
        failure=failure,
        message=inquiry.message,
    )


def _asking(inquiry: Inquiry, entries: int) -> Asking:
    from core.memory.policy import Asking

    return Asking(
        run="",
        position=ANYWHERE,
        source_key=source_key(inquiry.database or "", inquiry.question),
        database=inquiry.database or "",
        library=entries,
        include_pending=inquiry.include_pending,
    )


async def _index(
    store: Store, entries: Sequence[MemoryEntry], encoder: EncoderProcess | None
) -> MemoryIndex:
    import numpy as np

    from core.memory.retrieval import MemoryIndex

    if encoder is None:
        vectors = np.zeros((len(entries), 1), dtype=np.float32)
        index = MemoryIndex(1)
    else:
        index = MemoryIndex((await encoder.space()).dimensions)
        vectors = await _vectors(store.vectors_file, entries, encoder)
    states = store.review_states()
    for entry, vector in zip(entries, vectors, strict=True):
        index.append(entry, vector, states[entry.id])
    return index


async def _vectors(path: Path, entries: Sequence[MemoryEntry], encoder: EncoderProcess) -> Any:
    """One row an entry; only what the file beside the store does not hold is embedded."""
    import numpy as np

    from core.memory.texts import dense_memory_text
    from tui.kept_vectors import KeptVectors

    space = await encoder.space()
    shelf = KeptVectors(path)
    ids = [entry.id for entry in entries]
    rows = dict(shelf.fetch(space, ids))
    missing = [entry for entry in entries if entry.id not in rows]
    if missing:
        fresh = await encoder.embed([dense_memory_text(entry) for entry in missing])
        rows |= dict(zip((entry.id for entry in missing), fresh, strict=True))
        shelf.keep(space, [entry.id for entry in missing], fresh)
    return [rows[name] for name in ids] or np.zeros((0, space.dimensions), dtype=np.float32)
