"""What a strategy chooses about retrieval, and who may be told what."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.feedback.verdict import FailureType
from core.memory.entry import Polarity, ReviewState

DatabaseRule = Literal["any", "same", "other", "same-first"]

RELIABLE = frozenset({FailureType.SYNTAX, FailureType.SCHEMA_LINKING, FailureType.EXECUTION})
"""h = 1: types that a DBMS message supports directly (MERIT, section 3.3)."""


class Channel(msgspec.Struct, frozen=True):
    """One pool that is ranked by itself."""

    name: str
    polarities: frozenset[Polarity]
    quota: int
    by_type: bool = True
    """Whether the policy's type filter narrows it."""
    same_database: bool = False
    """Only memories of the asker's database, whatever the policy says."""


_LESSONS = frozenset({Polarity.POSITIVE, Polarity.NEGATIVE})


class RetrievalPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A strategy's choices; the defaults are full MERIT's (section 3.2, appendix D)."""

    mixed: bool = False
    """One pool of both polarities instead of two."""
    positives: int = 3
    negatives: int = 1
    mixed_quota: int = 4
    dense: bool = True
    lexical: bool = True
    dense_weight: float = 0.75
    lexical_weight: float = 0.25
    type_filter: bool = True
    type_threshold: int = 3
    """The smallest |T| for which the pool is limited to the same failure type."""
    reliability: bool = False
    """The type-reliability-aware variant: filter by reliable types alone, a bonus for others."""
    reliability_bonus: float = 0.10
    databases: DatabaseRule = "any"
    """Whose memories: any; the same database's; other databases'; or any, the same one's first."""
    random_same_type: bool = False
    """Draw from the pool instead of ranking it; `random_seed` decides."""
    random_seed: int = 0
    with_reflections: bool = False
    """Only entries that carry reflections (Reflexion)."""
    examples: int = 0
    """Confirmed answers of the same database, shown as they are: of repaired episodes, and of those
    that were right at once, which are remembered for it."""
    explained: int = 10
    """Candidates recorded of each channel, at least those taken."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The pools to rank, in the prompt's order; one with quota 0 is left out."""
        lessons = (
            (Channel("mixed", _LESSONS, self.mixed_quota),)
            if self.mixed
            else (
                Channel("positive", frozenset({Polarity.POSITIVE}), self.positives),
                Channel("negative", frozenset({Polarity.NEGATIVE}), self.negatives),
            )
        )
        examples = Channel(
            "example",
            frozenset({Polarity.POSITIVE, Polarity.EXAMPLE}),
            self.examples,
            by_type=False,
            same_database=True,
        )
        return tuple(channel for channel in (*lessons, examples) if channel.quota > 0)

    def filters(self, failure: FailureType) -> bool:
        """Whether the pool shrinks to this failure type, if enough memories have it."""
        return self.type_filter and (not self.reliability or failure in RELIABLE)

    def bonus(self, failure: FailureType) -> float:
        """What a type match adds to the score: 0.10 (1 - h) in the variant, nothing otherwise."""
        return self.reliability_bonus if self.reliability and failure not in RELIABLE else 0.0


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks: everything that decides which memories are legal (MERIT, section 3.2)."""

    run: str
    position: int
    source_key: str
    """The source key of the question under way: its own lesson is never legal."""
    database: str
    library: int = 0
    """How many entries the index held when the run began: those of other runs among them are legal
    at any position. 0 is a fresh memory."""
    include_pending: bool = False
    only: frozenset[str] | None = None
    """The run's own entries that this episode may see, where episodes overlap; None is all with a
    lower position. The position rule holds all the same."""
    seen: dict[str, ReviewState] = {}
    """Review states as the asker sees them, where people have decided since it began."""
