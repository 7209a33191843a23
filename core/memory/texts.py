"""The texts that retrieval compares (MERIT, appendix D; merit.md, "Retrieval").

Parts stand one a line without labels, which would be shared by all texts and tell nothing. Each
stands once: where the paper's list names a part that another part contains already
(the failed SQL, the failure type), it is not written twice, since a small encoder reads 256 word
pieces and BM25 looks at a query's distinct tokens.
"""

from __future__ import annotations

import msgspec

from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Polarity
from core.sql import normalised


class RetrievalQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What a failed attempt asks memory: question, current SQL, failure context, failure type."""

    question: str
    sql: str
    status: Status
    failure: FailureType
    message: str = ""

    @property
    def text(self) -> str:
        """The query text, the same for the dense and the lexical channel."""
        return _lines(
            self.question,
            self.sql,
            self.status.value,
            self.failure.value,
            self.message,
        )


def dense_memory_text(entry: MemoryEntry) -> str:
    """What the encoder reads of a memory. The schema stands last, so that a cut takes it first."""
    context = entry.context
    if entry.polarity is Polarity.EXAMPLE:
        return _lines(context.question, normalised(entry.revised_sql), context.schema_text)
    return _lines(
        context.question,
        context.status.value,
        entry.failure.value,
        context.message,
        f"{normalised(context.failed_sql)} -> {normalised(entry.revised_sql)}",
        entry.outcome.value,
        entry.outcome_message,
        context.schema_text,
    )


def lexical_memory_text(entry: MemoryEntry) -> str:
    """What BM25 reads of a memory; the successful SQL stands in it where there is one."""
    context = entry.context
    if entry.polarity is Polarity.EXAMPLE:
        return _lines(context.question, entry.revised_sql)
    return _lines(
        context.question,
        context.failed_sql,
        context.status.value,
        entry.failure.value,
        context.message,
        "; ".join(entry.delta),
        entry.outcome.value,
        entry.outcome_message,
        entry.revised_sql if entry.polarity is Polarity.POSITIVE else "",
    )


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
