"""Accuracy before and after questions were reworded, and how much of it drops (map-sql.md, "Metrics";
Dr.Spider, Chang et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from core.errors import MeritoError
from core.experiments.statistics import Interval, paired_difference
from core.wording import counted

Decided = Mapping[int, bool | None]
"""Index of a pair -> whether its prediction is right; None where its gold is broken."""


class Rewording(msgspec.Struct, frozen=True, kw_only=True):
    """Two decisions a question, over those judged both times."""

    before: float
    """Accuracy between 0 and 1, as `after`."""
    after: float
    drop: Interval
    """Before minus after."""

    @property
    def told(self) -> str:
        """In one line."""
        points = [100 * value for value in (self.drop.difference, self.drop.low, self.drop.high)]
        return (
            f"Before the rewording {100 * self.before:.2f} %, after it {100 * self.after:.2f} %: a drop"
            f" of {points[0]:.2f} [{points[1]:.2f}, {points[2]:.2f}] points, of"
            f" {counted(self.drop.clusters, 'question')} judged both times."
        )


def check_same(before: Decided, questions: int) -> None:
    """Raises MeritoError where the decisions are not of as many questions, by the same places."""
    if before.keys() != set(range(questions)):
        raise MeritoError(
            f"From before the rewording there {'is' if len(before) == 1 else 'are'}"
            f" {counted(len(before), 'decision')}, now there are {questions:,} questions.",
            "Both need the same questions in the same order; score the earlier ones with --json.",
        )


def rewording_of(before: Decided, after: Decided) -> Rewording | None:
    """Compare by place; None where no question was judged both times."""
    pairs = [(before[n], after[n]) for n in sorted(before.keys() & after.keys())]
    judged = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not judged:
        return None
    firsts, seconds = [one for one, _ in judged], [other for _, other in judged]
    drop = paired_difference(firsts, seconds)
    assert drop is not None, "there are pairs"
    return Rewording(before=sum(firsts) / len(firsts), after=sum(seconds) / len(seconds), drop=drop)
