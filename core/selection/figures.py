"""What methods came to over a pool, and how two of them differ (map-sql.md, "Metrics")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from core.selection.pooling import Chosen

if TYPE_CHECKING:
    from core.experiments.statistics import Interval, McNemar


class MethodFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One method over a pool. Rates are between 0 and 1, None where nothing could be judged; costs
    are means over all questions, None where the engine did not say."""

    method: str
    questions: int
    judged: int
    accuracy: float | None
    calls: float
    saved: float
    tokens_sent: float | None
    tokens_evaluated: float | None
    tokens_written: float | None
    seconds: float
    consistency: float | None
    consistent_and_correct: float | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """First minus second, over the questions that both were judged on."""

    first: str
    second: str
    judged: int
    interval: Interval | None
    mcnemar: McNemar


def method_figures(chosen: Sequence[Chosen]) -> MethodFigures:
    """The figures of one method's choices (at least one)."""
    spent = [each.selection.spent for each in chosen]
    judged = [each.correct for each in chosen if each.correct is not None]
    asked = [each for each in chosen if each.consistent is not None]
    both = [bool(each.consistent and each.correct) for each in asked if each.correct is not None]
    return MethodFigures(
        method=chosen[0].selection.method,
        questions=len(chosen),
        judged=len(judged),
        accuracy=_mean(judged),
        calls=_mean([each.calls for each in spent]) or 0.0,
        saved=_mean([each.saved for each in spent]) or 0.0,
        tokens_sent=_mean([each.tokens_sent for each in spent]),
        tokens_evaluated=_mean([each.tokens_evaluated for each in spent]),
        tokens_written=_mean([each.tokens_written for each in spent]),
        seconds=_mean([each.seconds for each in spent]) or 0.0,
        consistency=_mean([bool(each.consistent) for each in asked]),
        consistent_and_correct=_mean(both),
    )


def oracle(chosen: Sequence[Chosen]) -> float | None:
    """The share of judged questions whose pool holds a right candidate: the ceiling."""
    return _mean([each.candidates.oracle for each in chosen if each.candidates.oracle is not None])


def difference(first: Sequence[Chosen], second: Sequence[Chosen], seed: int = 0) -> Difference:
    """Paired bootstrap interval and exact McNemar test between two methods on the same questions."""
    from core.experiments.statistics import mcnemar, paired_difference

    pairs = [
        (bool(one.correct), bool(other.correct))
        for one, other in zip(first, second, strict=True)
        if one.correct is not None and other.correct is not None
    ]
    return Difference(
        first=first[0].selection.method,
        second=second[0].selection.method,
        judged=len(pairs),
        interval=paired_difference(
            [float(one) for one, _ in pairs], [float(other) for _, other in pairs], seed=seed
        ),
        mcnemar=mcnemar(pairs),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known) / len(known)
