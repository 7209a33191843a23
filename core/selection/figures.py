"""What methods came to over a pool, and how two of them differ (map-sql.md, "Metrics")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from core.selection.pooling import Chosen

if TYPE_CHECKING:
    from core.experiments.statistics import Interval, McNemar, Spread

Repeats = Sequence[Sequence[Chosen]]
"""One method's choices in each repeat: another pool of the same questions, or another seed."""


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
    mended: float
    """Answers that did not say what they were asked for."""
    consistency: float | None
    """Of all questions that the method applies to: where it failed it was not consistent."""
    consistent_and_correct: float | None
    """Of those among them that could be judged."""


class RepeatedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One method over all repeats: the mean and sample deviation of what each repeat came to, None
    where one of them has no such figure."""

    method: str
    permutations: int
    """K of the methods that permute."""
    repeats: int
    questions: int
    """Choices, over all repeats."""
    judged: int
    accuracy: Spread | None
    calls: Spread | None
    saved: Spread | None
    tokens_sent: Spread | None
    tokens_evaluated: Spread | None
    tokens_written: Spread | None
    seconds: Spread | None
    mended: Spread | None
    consistency: Spread | None
    consistent_and_correct: Spread | None


_SPREAD = RepeatedFigures.__struct_fields__[5:]
"""The figures that every repeat has one of."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """First minus second, over the questions that both were judged on, whatever the repeat; the test
    is on the first repeat, whose outcomes do not depend on each other."""

    first: str
    second: str
    judged: int
    """Pairs of outcomes, over all repeats."""
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
        mended=_mean([each.selection.mended for each in chosen]) or 0.0,
        consistency=_mean([bool(each.consistent) for each in asked]),
        consistent_and_correct=_mean(both),
    )


def repeated_figures(repeats: Repeats, permutations: int) -> RepeatedFigures:
    """The figures of one method over its repeats (at least one, each of at least one choice)."""
    from core.experiments.statistics import spread

    figures = [method_figures(chosen) for chosen in repeats]
    told: dict[str, Spread | None] = {}
    for name in _SPREAD:
        values = [getattr(each, name) for each in figures]
        told[name] = None if None in values else spread(values)
    return RepeatedFigures(
        method=figures[0].method,
        permutations=permutations,
        repeats=len(figures),
        questions=sum(each.questions for each in figures),
        judged=sum(each.judged for each in figures),
        **told,
    )


def oracle(repeats: Repeats) -> Spread | None:
    """The share of judged questions whose pool holds a right candidate, the ceiling: over repeats, as
    accuracy is; None where one of them has no such share."""
    from core.experiments.statistics import spread

    asked = [[each.candidates.oracle for each in chosen] for chosen in repeats]
    shares = [_mean([each for each in found if each is not None]) for found in asked]
    known = [share for share in shares if share is not None]
    return spread(known) if len(known) == len(shares) else None


def difference(first: Repeats, second: Repeats, seed: int = 0) -> Difference:
    """Interval of the paired bootstrap, clustered by question where there are repeats, and exact
    McNemar test between two methods on the same questions."""
    from core.experiments.statistics import clustered_difference, mcnemar

    rights = [_rights(*both) for both in zip(first, second, strict=True)]
    places: dict[str, list[tuple[float, float]]] = {}
    for found in rights:
        for question, pair in found.items():
            places.setdefault(question, []).append(pair)
    # By place, not by name: the names of a pool are numbers or texts.
    pairs = {f"{place:09}": outcomes for place, outcomes in enumerate(places.values())}
    return Difference(
        first=first[0][0].selection.method,
        second=second[0][0].selection.method,
        judged=sum(map(len, rights)),
        interval=clustered_difference(pairs, seed=seed),
        mcnemar=mcnemar(rights[0].values()),
    )


def _rights(first: Sequence[Chosen], second: Sequence[Chosen]) -> dict[str, tuple[bool, bool]]:
    """Whether each was right, of the questions that both were judged on."""
    return {
        one.pooled.question.id: (one.correct, other.correct)
        for one, other in zip(first, second, strict=True)
        if one.correct is not None and other.correct is not None
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known) / len(known)
