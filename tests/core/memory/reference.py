"""The ranking written a second time, straight from the formulas: slow, plain, and by itself.

Sources: MERIT, section 3.2 (pools), section 3.3 (the type-reliability-aware variant), appendix D
(equations 4 to 7, ties). Loops over lists; nothing is shared with the fast one but its inputs.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from core.feedback.verdict import FailureType
from core.memory.entry import MemoryEntry, ReviewState
from core.memory.policy import Asking, Channel, RetrievalPolicy
from core.memory.texts import RetrievalQuery, lexical_memory_text

WORD = re.compile(r"[a-z0-9_]+")


class Stored(NamedTuple):
    """A memory as the reference holds it: its number is its place in the list."""

    entry: MemoryEntry
    vector: Any
    state: ReviewState


class Placed(NamedTuple):
    """A candidate with its numbers."""

    id: str
    score: float
    dense: float
    dense_norm: float
    bm25: float
    bm25_norm: float
    type_match: bool


def is_legal(number: int, stored: Stored, asking: Asking) -> bool:
    """Causality and review, in words: earlier in the same run, or in the library; another question;
    and let through by people."""
    entry = stored.entry
    same_run = entry.provenance.run == asking.run
    if same_run and entry.provenance.position >= asking.position:
        return False
    if same_run and asking.only is not None and entry.id not in asking.only:
        return False
    if not same_run and number >= asking.library:
        return False
    if entry.source_key == asking.source_key:
        return False
    if stored.state is ReviewState.PENDING:
        return asking.include_pending
    return stored.state is ReviewState.APPROVED


def is_at_home(entry: MemoryEntry, asking: Asking) -> bool:
    """Whether it was learned on the asker's database."""
    return entry.context.database.casefold() == asking.database.casefold()


def is_wanted(entry: MemoryEntry, asking: Asking, policy: RetrievalPolicy) -> bool:
    """The strategy's own rules about whose memories it reads."""
    same_database = is_at_home(entry, asking)
    if policy.databases == "same" and not same_database:
        return False
    if policy.databases == "other" and same_database:
        return False
    return bool(entry.reflections) or not policy.with_reflections


def bm25(query: str, texts: list[str]) -> list[float]:
    """Equations 4 to 6 over the pool `texts`."""
    documents = [WORD.findall(text.lower()) for text in texts]
    mean = sum(map(len, documents)) / len(documents) if documents else 0
    scores = [0.0] * len(documents)
    for word in sorted(set(WORD.findall(query.lower()))):
        df = sum(1 for document in documents if word in document)
        idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
        for number, document in enumerate(documents):
            tf = document.count(word)
            if tf:
                scores[number] += idf * (
                    tf * 2.5 / (tf + 1.5 * (1 - 0.75 + 0.75 * len(document) / mean))
                )
    return scores


def normed(scores: list[float]) -> list[float]:
    """Equation 7."""
    if not scores or max(scores) == min(scores):
        return [0.0] * len(scores)
    return [(score - min(scores)) / (max(scores) - min(scores)) for score in scores]


def ranked(
    memories: list[Stored],
    query: RetrievalQuery,
    query_vector: Any,
    asking: Asking,
    policy: RetrievalPolicy,
    channel: Channel,
) -> tuple[int, int, bool, list[Placed]]:
    """|L|, |T|, whether the type filter fell back, and C in order."""
    legal = [
        stored
        for number, stored in enumerate(memories)
        if is_legal(number, stored, asking)
        and is_wanted(stored.entry, asking, policy)
        and stored.entry.polarity in channel.polarities
        and (not channel.same_database or is_at_home(stored.entry, asking))
    ]
    typed = [stored for stored in legal if stored.entry.failure is query.failure]
    reliable = query.failure in (
        FailureType.SYNTAX,
        FailureType.SCHEMA_LINKING,
        FailureType.EXECUTION,
    )
    filters = channel.by_type and policy.type_filter and (reliable or not policy.reliability)
    enough = len(typed) >= policy.type_threshold
    pool = typed if filters and enough else legal
    dense = [
        float(sum(float(a) * float(b) for a, b in zip(stored.vector, query_vector, strict=True)))
        if policy.dense
        else 0.0
        for stored in pool
    ]
    lexical = (
        bm25(query.text, [lexical_memory_text(stored.entry) for stored in pool])
        if policy.lexical
        else [0.0] * len(pool)
    )
    placed = []
    for stored, d, dn, b, bn in zip(pool, dense, normed(dense), lexical, normed(lexical), strict=True):
        match = stored.entry.failure is query.failure
        score = policy.dense_weight * dn + policy.lexical_weight * bn
        if policy.reliability and not reliable and match:
            score = score + policy.reliability_bonus
        first = policy.databases == "same-first" and is_at_home(stored.entry, asking)
        order = (not first, -score, -d, -b, not match, stored.entry.id)
        placed.append((order, Placed(stored.entry.id, score, d, dn, b, bn, match)))
    return len(legal), len(typed), filters and not enough, [item for _, item in sorted(placed)]
