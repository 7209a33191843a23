"""The texts that retrieval compares (MERIT, appendix D; merit.md, "Retrieval").

Each part stands once: where the paper's list names a part that another part contains already
(the failed SQL, the failure type), it is not written twice, since a small encoder reads 256 word
pieces and BM25 looks at a query's distinct tokens.
"""

from __future__ import annotations

from functools import lru_cache

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
            ("Question", self.question),
            ("Failed SQL", self.sql),
            ("Status", self.status.value),
            ("Failure type", self.failure.value),
            ("DBMS message", self.message),
        )


@lru_cache(maxsize=2048)
def dense_memory_text(entry: MemoryEntry) -> str:
    """What the encoder reads of a memory. The schema stands last, so that a cut takes it first."""
    context = entry.context
    return _lines(
        ("Question", context.question),
        ("Status", context.status.value),
        ("Failure type", entry.failure.value),
        ("DBMS message", context.message),
        ("Failed SQL", normalised(context.failed_sql)),
        ("Revised SQL", normalised(entry.revised_sql)),
        ("Outcome", entry.outcome.value),
        ("Outcome message", entry.outcome_message),
        ("Schema", context.schema_text),
    )


@lru_cache(maxsize=2048)
def lexical_memory_text(entry: MemoryEntry) -> str:
    """What BM25 reads of a memory; the successful SQL stands in it where there is one."""
    context = entry.context
    return _lines(
        ("Question", context.question),
        ("Failed SQL", context.failed_sql),
        ("Status", context.status.value),
        ("Failure type", entry.failure.value),
        ("DBMS message", context.message),
        ("Change", "; ".join(entry.delta)),
        ("Outcome", entry.outcome.value),
        ("Outcome message", entry.outcome_message),
        ("Successful SQL", entry.revised_sql if entry.polarity is Polarity.POSITIVE else ""),
    )


def _lines(*parts: tuple[str, str]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in parts if text)
