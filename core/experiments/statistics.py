"""Means over orders, intervals of paired differences, and agreement with labels (evaluation.md,
"Experiments"; MERIT, section 4.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 10_000
LEVEL = 0.95
_DRAWS_AT_ONCE = 500
"""Bounds the memory of a bootstrap: draws x questions counts at a time."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over stream orders."""

    mean: float
    deviation: float | None
    """Sample deviation (n - 1); None for a single value, which has none."""
    n: int


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An estimated difference between paired outcomes, with its bootstrap interval."""

    difference: float
    low: float
    high: float
    clusters: int
    """Questions that were drawn."""
    outcomes: int
    """Pairs of outcomes: a question counts once for each order in which both were judged."""

    @property
    def excludes_zero(self) -> bool:
        """Whether no difference at all lies outside the interval."""
        return self.low > 0 or self.high < 0


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """The exact test of paired right/wrong outcomes."""

    first_only: int
    """Pairs in which only the first was right."""
    second_only: int
    p: float
    """Two-sided."""


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How far predictions agree with labels."""

    accuracy: float
    macro_f1: float
    """Mean F1 over every class that is a label or a prediction."""
    f1: dict[str, float]
    n: int


def spread(values: Sequence[float]) -> Spread | None:
    """Mean and sample deviation; None where there is no value."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    deviation = None
    if len(values) > 1:
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
    return Spread(mean=mean, deviation=deviation, n=len(values))


def clustered_difference(
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Interval | None:
    """Mean of first minus second over all pairs, with a query-cluster bootstrap interval.

    `pairs` holds, for each question, its outcomes in every order; a drawn question brings all of
    them, so that outcomes which depend on each other stay together. Percentile interval; the same
    seed and pairs give the same figures, in whatever sequence the questions come. None where there
    is no pair.
    """
    import numpy as np

    names = sorted(name for name, outcomes in pairs.items() if outcomes)
    if not names:
        return None
    sums = np.array([math.fsum(a - b for a, b in pairs[name]) for name in names], dtype=float)
    counts = np.array([len(pairs[name]) for name in names], dtype=float)
    drawn = _drawn_means(sums, counts, seed, draws)
    tail = (1 - level) / 2
    low, high = (float(x) for x in np.quantile(drawn, (tail, 1 - tail)))
    return Interval(
        difference=float(sums.sum() / counts.sum()),
        low=low,
        high=high,
        clusters=len(names),
        outcomes=int(counts.sum()),
    )


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Interval | None:
    """The same for one outcome a question: the paired bootstrap. Raises ValueError where the two
    differ in length."""
    pairs = {f"{index:09}": [pair] for index, pair in enumerate(zip(first, second, strict=True))}
    return clustered_difference(pairs, seed=seed, draws=draws, level=level)


def _drawn_means(
    sums: NDArray[np.float64], counts: NDArray[np.float64], seed: int, draws: int
) -> NDArray[np.float64]:
    """Means of `draws` resamples of the clusters, each as large as the original."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    size = len(sums)
    means = np.empty(draws)
    for start in range(0, draws, _DRAWS_AT_ONCE):
        rows = min(_DRAWS_AT_ONCE, draws - start)
        times = rng.multinomial(size, np.full(size, 1 / size), size=rows)
        means[start : start + rows] = (times @ sums) / (times @ counts)
    return means


def mcnemar(pairs: Iterable[tuple[bool, bool]]) -> McNemar:
    """Exact two-sided McNemar test: a binomial test with one half on the discordant pairs. Only
    for independent pairs: one outcome a question, never several orders together."""
    kinds = Counter(pairs)
    first, second = kinds[True, False], kinds[False, True]
    n, fewer = first + second, min(first, second)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    # Integers up to the last step: a sum of tiny probabilities would lose what it is about.
    p = 1.0 if 2 * tail >= 1 << n else (2 * tail) / (1 << n)
    return McNemar(first_only=first, second_only=second, p=p)


def agreement(pairs: Iterable[tuple[Hashable, Hashable]]) -> Agreement | None:
    """Accuracy and F1 of (label, prediction) pairs; None where there is none.

    A class that is never labelled and sometimes predicted, or the reverse, has F1 0 and counts in
    the mean.
    """
    counts = Counter(pairs)
    n = counts.total()
    if not n:
        return None
    labels, predictions = Counter[Hashable](), Counter[Hashable]()
    for (label, prediction), times in counts.items():
        labels[label] += times
        predictions[prediction] += times
    f1 = {
        str(each): 2 * counts[each, each] / (labels[each] + predictions[each])
        for each in sorted(labels | predictions, key=str)
    }
    right = sum(times for (label, prediction), times in counts.items() if label == prediction)
    return Agreement(accuracy=right / n, macro_f1=math.fsum(f1.values()) / len(f1), f1=f1, n=n)
