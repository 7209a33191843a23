"""How sure the runs are that the first candidate beats another (MAP-SQL, equation 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence

TAU = 0.95
"""Below this probability two candidates are tied."""


def student_cdf(t: float, freedom: int) -> float:
    """The CDF of Student's t with a whole number of degrees of freedom, at least 1.

    The finite sums over powers of cos(atan(t / sqrt(freedom))): exact to the last few digits, and
    no library of 60 MB is imported for it.
    """
    if math.isinf(t):
        return 1.0 if t > 0 else 0.0
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for step in range(freedom // 2):
        total += term
        factor = 2 * step + 1 + odd
        term *= cosine * cosine * factor / (factor + 1)
    area = sine * total
    if odd:
        area = 2 / math.pi * (angle + area)
    return min(1.0, max(0.0, 0.5 + area / 2))


def confidence(differences: Sequence[int]) -> float:
    """P that the first beats the other, from rank(other) - rank(first) in each run.

    Differences that are all the same leave no doubt, or nothing but doubt: 1 above zero, 0.5 at it,
    0 below. Of at least one run; who has no more than that has nothing to tell anybody, and only
    `least_confidence` asks.
    """
    runs, total = len(differences), sum(differences)
    # Ranks are whole numbers, so the spread is too, and "all the same" is no matter of rounding.
    spread = runs * sum(d * d for d in differences) - total * total
    if spread == 0:
        return 0.5 if total == 0 else float(total > 0)
    return student_cdf(total * math.sqrt((runs - 1) / spread), runs - 1)


def least_confidence(differences: Sequence[int], remaining: int, most: int) -> float:
    """The lowest P that `remaining` more runs can lead to, where a difference is at most `most` in
    size. No lower than the truth is what matters: see the note.

    Above zero P grows with sum(d) / |d|, whose sets "at least c" are convex: its least value over
    the box of what may come lies on a corner, and corners differ only in how many runs go against.
    """
    return min(
        confidence([*differences, *[-most] * against, *[most] * (remaining - against)])
        for against in range(remaining + 1)
    )
