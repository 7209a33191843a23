"""Two runs side by side, question by question, whatever sets them apart."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from core.experiments.arms import Comparison, Golds, arm_of, compared_over, labels_of, paired
from core.experiments.metrics import Result, RunMetrics


class Verdict(StrEnum):
    """What two runs made of one question."""

    FIRST_ONLY = "only first right"
    SECOND_ONLY = "only second right"
    BOTH = "both right"
    NEITHER = "neither right"
    OPEN = "not judged in both"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One question in both runs."""

    first: Result
    second: Result

    @property
    def verdict(self) -> Verdict:
        """Who was right."""
        if not (self.first.judged and self.second.judged):
            return Verdict.OPEN
        return _VERDICTS[self.first.right, self.second.right]

    @property
    def differs(self) -> bool:
        """Whether one of them alone was right."""
        return self.verdict in (Verdict.FIRST_ONLY, Verdict.SECOND_ONLY)


_VERDICTS = {
    (True, False): Verdict.FIRST_ONLY,
    (False, True): Verdict.SECOND_ONLY,
    (True, True): Verdict.BOTH,
    (False, False): Verdict.NEITHER,
}


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs over the questions that both hold."""

    labels: tuple[str, str]
    runs: tuple[RunMetrics, RunMetrics]
    pairs: tuple[Pair, ...]
    """In the order of the first."""
    comparison: Comparison | None
    """First minus second over the questions judged in both; None where there is none."""


def pairing_of(first: RunMetrics, second: RunMetrics, golds: Golds) -> Pairing:
    """Compare two runs. They may differ in anything, their order included: the questions are paired,
    not the places."""
    one, other = labels_of([first, second])
    arms = arm_of(one, first, golds), arm_of(other, second, golds)
    return Pairing(
        labels=(one, other),
        runs=(first, second),
        pairs=tuple(Pair(first=a, second=b) for a, b in paired(first, second)),
        comparison=compared_over(*arms, [(first, second)]),
    )
