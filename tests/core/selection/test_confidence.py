"""P is scipy's, its edges are the page's, and what more runs can do to it is bounded rightly."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.selection.confidence import confidence, least_confidence, student_cdf


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.integers(1, 64))
def test_the_distribution_is_scipys(t: float, freedom: int) -> None:
    from scipy.stats import t as student

    # scipy rounds to one half where t is next to nothing.
    assert student_cdf(t, freedom) == pytest.approx(student.cdf(t, freedom), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(-31, 31), min_size=2, max_size=16))
def test_p_is_the_one_sided_t_test_of_the_differences(differences: list[int]) -> None:
    from scipy.stats import ttest_1samp

    expected = {True: 1.0, False: 0.0}[sum(differences) > 0] if any(differences) else 0.5
    if len(set(differences)) > 1:
        expected = 1 - ttest_1samp(differences, 0, alternative="greater").pvalue
    assert confidence(differences) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("differences", "p"),
    [([2, 2, 2, 2], 1.0), ([0, 0, 0, 0], 0.5), ([-1, -1], 0.0), ([3], 1.0), ([0], 0.5), ([-3], 0.0)],
)
def test_no_spread_leaves_no_doubt(differences: list[int], p: float) -> None:
    assert confidence(differences) == p


def test_infinite_values_are_the_ends() -> None:
    assert student_cdf(math.inf, 3) == 1.0
    assert student_cdf(-math.inf, 3) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=6), st.integers(1, 3))
def test_no_future_is_worse_than_the_bound(differences: list[int], remaining: int) -> None:
    """Wherever the bound promises that a tie cannot come, it cannot."""
    bound = least_confidence(differences, remaining, 3)
    futures = itertools.product(range(-3, 4), repeat=remaining)
    worst = min(confidence([*differences, *future]) for future in futures)
    assert bound >= worst
    assert bound < 0.5 or worst >= bound - 1e-12
