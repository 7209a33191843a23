"""A memory entry: what one finished episode taught (merit.md, "Memory entry"; format version 3)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.feedback.verdict import FailureType, Status
from core.question import source_key

FORMAT_VERSION = 3


class Polarity(StrEnum):
    """Whether the transformation led to a confirmed answer or was the last failed direction; an
    example is an answer that was right at once, kept for how this database is asked."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    EXAMPLE = "example"


class ReviewState(StrEnum):
    """Whether people let an entry be retrieved."""

    APPROVED = "approved"
    PENDING = "pending"
    REJECTED = "rejected"


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """c of the paper: the situation in which the transformation was tried."""

    question: str
    database: str
    schema_text: str
    """CREATE TABLE statements, limited to the tables that the transformation touches."""
    failed_sql: str
    """Empty in an example."""
    status: Status
    message: str = ""
    evidence: str = ""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where an entry comes from."""

    run: str
    position: int
    question_id: str
    strategy: str
    model: str
    from_attempt: int
    to_attempt: int
    at: float
    """Seconds since the epoch."""
    regime: str
    judge: str = ""


class MemoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """x = <context, failure type, transformation, polarity, provenance>.

    `id` is deterministic: the same run, position and transformation give the same id.
    """

    id: str
    polarity: Polarity
    context: Context
    failure: FailureType
    """The type of y(k-1), the attempt that the transformation started from."""
    revised_sql: str
    """y+ of a positive entry or an example; the attempted and failed revision of a negative one."""
    delta: tuple[str, ...]
    """What the transformation inserted, removed, moved or replaced, one change a line."""
    outcome: Status
    """The status of the revision."""
    outcome_message: str = ""
    provenance: Provenance
    confirmed: bool
    reflections: tuple[str, ...] = ()
    """The episode's verbal reflections (Reflexion baseline only)."""
    encoder_cuts: tuple[str, ...] = ()
    """What was cut to fit the encoder's window."""
    version: int = FORMAT_VERSION

    @property
    def source_key(self) -> str:
        """The identity of the question that taught this, for causal legality."""
        return source_key(self.context.database, self.context.question)


def first_state(entry: MemoryEntry, *, holds: bool = False) -> ReviewState:
    """The review state in which an entry starts (merit.md, "Feedback"); `holds` lets confirmed ones
    wait too."""
    approved = entry.confirmed and not holds
    return ReviewState.APPROVED if approved else ReviewState.PENDING


class ReviewDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One step of an entry's review history; an undo is another of these."""

    memory: str
    state: ReviewState
    who: str
    at: float
    remark: str = ""


class RankedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate of a retrieval with every number that placed it."""

    id: str
    rank: int
    """1 is the best."""
    score: float
    dense: float
    dense_norm: float
    bm25: float
    bm25_norm: float
    type_match: bool
    source_run: str
    source_position: int
    lexical_text: str = ""
    """Filled only where an explanation is asked for."""


class ChannelRetrieval(msgspec.Struct, frozen=True, kw_only=True):
    """One polarity's retrieval, explained (merit.md, "Retrieval")."""

    channel: str
    """positive, negative, mixed (strategies with one pool), or example."""
    legal: int
    """|L|: entries that causality, review and the database rule allow."""
    typed: int
    """|T|: those of the same failure type."""
    fallback: bool
    """The type filter was asked for and |T| was too small, so C = L."""
    pool: int
    """|C|: the candidates that were ranked."""
    candidates: tuple[RankedEntry, ...] = ()
    """Best first; the first `taken` went into the prompt."""
    taken: int = 0


class Retrieval(msgspec.Struct, frozen=True, kw_only=True):
    """Everything retrieved for one attempt."""

    dense_text: str
    lexical_text: str
    channels: tuple[ChannelRetrieval, ...]
    seconds: float = 0.0
    embedding_seconds: float = 0.0
    query_cut: int = 0
    """Word pieces of the query text beyond the encoder's window, which it did not read."""
