"""Axes of plots: where values stand, and what is written beside them."""

from __future__ import annotations

import pytest

from core.experiments.report import Curve
from tui.experiments.plots import CUT, Axis, RateAxis, stream_plot


def words(axis: Axis) -> list[float]:
    return [float(mark.text.replace(",", "")) for mark in axis.marks]


@pytest.mark.parametrize(
    "values",
    [[0, 100], [98.7, 100], [0, 0.4], [99.93, 99.99], [0, 3], [37.5, 41.2], [100 / 3, 200 / 3]],
    ids=str,
)
def test_an_axis_of_rates_holds_its_values_and_stays_within_0_and_100(values: list[float]) -> None:
    axis = RateAxis(values, 0, 1_000)
    marks = words(axis)
    assert marks == sorted(set(marks))
    assert len(marks) > 1
    assert 0 <= marks[0] <= min(values)
    assert max(values) <= marks[-1] <= 100
    assert all(0 <= axis.pixel(value) <= 1_000 for value in values)


@pytest.mark.parametrize(("value", "word"), [(0, "0"), (100, "100"), (50, "50"), (500 / 7, "71.4")])
def test_where_all_rates_are_one_it_alone_is_written(value: float, word: str) -> None:
    axis = RateAxis([value, value], 0, 1_000)
    (mark,) = axis.marks
    assert mark.text == word
    assert mark.at == axis.pixel(value)
    assert 0 <= axis.low < axis.high <= 100


def test_what_is_drawn_at_the_edge_is_said() -> None:
    settled = tuple(0.5 + 0.001 * n for n in range(36))
    for first, said in ((1.0, True), (0.52, False)):
        plot = stream_plot([Curve(label="merit", values=(first,) * 4 + settled)])
        assert plot is not None
        assert plot.about.endswith(CUT) == said
