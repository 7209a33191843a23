"""BIRD's comparison and mini-dev's soft F1."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.database.rows import Row
from core.feedback.bird import bird_equal, soft_f1
from tests.core.feedback import reference

Rows = list[Row]


@pytest.mark.parametrize(
    ("predicted", "gold", "equal"),
    [
        ([], [], True),
        ([(1,)], [], False),
        ([(1,), (2,)], [(2,), (1,)], True),
        ([(1,), (1,)], [(1,)], True),
        ([(1, "a")], [("a", 1)], False),
        ([(1,)], [(1.0,)], True),
        ([(1, 10)], [(1.0, 10)], True),
        ([("1",)], [(1,)], False),
        ([(None,)], [(None,)], True),
        ([(1, 2)], [(1,)], False),
    ],
)
def test_sets_of_rows(predicted: Rows, gold: Rows, equal: bool) -> None:
    assert bird_equal(predicted, gold) is equal


@pytest.mark.parametrize(
    ("predicted", "gold", "figure"),
    [
        ([], [], 1.0),
        ([], [(1,)], 0.0),
        ([(1,)], [], 0.0),
        ([("a", 1)], [(1, "a")], 1.0),
        ([(1,)], [(2,)], 0.0),
        ([(1, 2)], [(1, 3)], 0.5),
        ([(1,), (2,)], [(2,), (1,)], 0.0),
        ([(1,), (1,), (2,)], [(1,), (2,)], 1.0),
        ([(1,)], [(1,), (2,)], 2 / 3),
        ([(1, 1, 1)], [(1,)], 1.0),
        ([(1, 2, 3)], [(1,)], 0.5),
    ],
)
def test_soft_f1(predicted: Rows, gold: Rows, figure: float) -> None:
    assert soft_f1(predicted, gold) == pytest.approx(figure)


values = st.sampled_from([0, 1, 1.0, 2, "1", "a", None, b"a"])
rows = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[values] * width), max_size=5))


@settings(max_examples=400, deadline=None)
@given(rows, rows)
def test_agrees_with_the_literal_reading(predicted: Rows, gold: Rows) -> None:
    assert bird_equal(predicted, gold) is reference.bird_equal(predicted, gold)
    assert soft_f1(predicted, gold) == pytest.approx(reference.soft_f1(predicted, gold))
