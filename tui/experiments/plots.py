"""Two small plots as shapes in an SVG's own coordinates; the page's template draws and escapes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from core.experiments.report import Curve, Point

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 230, 16, 44
"""Margins; the legend stands in the right one."""
MOST_POINTS = 400
"""Of one curve: more than its pixels would not be seen."""


class Mark(msgspec.Struct, frozen=True):
    """A place on an axis: its pixel and what it says."""

    at: float
    text: str


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A curve as `x,y` pairs, or a point."""

    label: str
    number: int
    """Picks colour and dashes, so that colour is never alone."""
    points: str = ""
    x: float = 0.0
    y: float = 0.0


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is drawn."""

    title: str
    x_title: str
    y_title: str
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    shapes: tuple[Shape, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


class Axis:
    """From values to pixels, with round marks."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        step = _round_step((high - low) or 1.0)
        self.low = math.floor(low / step) * step
        self.high = max(math.ceil(high / step) * step, self.low + step)
        self._step, self._start, self._end = step, start, end

    def pixel(self, value: float) -> float:
        """Where a value stands."""
        share = (value - self.low) / (self.high - self.low)
        return round(self._start + share * (self._end - self._start), 2)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The round values."""
        steps = round((self.high - self.low) / self._step)
        values = [self.low + n * self._step for n in range(steps + 1)]
        return tuple(Mark(self.pixel(value), f"{value:,.10g}") for value in values)


def _round_step(width: float) -> float:
    """1, 2 or 5 times a power of ten, for about five marks."""
    rough = width / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def stream_plot(curves: Sequence[Curve]) -> Plot | None:
    """Accuracy along the stream; None where there is nothing to draw."""
    drawn = [curve for curve in curves if len(curve.values) > 1]
    if not drawn:
        return None
    settled = [value for curve in drawn for value in curve.values[len(curve.values) // 10 :]]
    x = Axis(0, max(len(curve.values) for curve in drawn), LEFT, WIDTH - RIGHT)
    y = Axis(100 * min(settled), 100 * max(settled), HEIGHT - BOTTOM, TOP)
    shapes = []
    for number, curve in enumerate(drawn):
        every = max(1, len(curve.values) // MOST_POINTS)
        places = [
            f"{x.pixel(n)},{y.pixel(min(max(100 * value, y.low), y.high))}"
            for n, value in enumerate(curve.values, start=1)
            if n % every == 0 or n == len(curve.values)
        ]
        shapes.append(Shape(label=curve.label, number=number, points=" ".join(places)))
    return Plot(
        title="Accuracy along the stream",
        x_title="questions judged so far",
        y_title="accuracy so far, %",
        x_marks=x.marks,
        y_marks=y.marks,
        shapes=tuple(shapes),
    )


def cost_plot(points: Sequence[Point]) -> Plot | None:
    """Accuracy against cost; None where there is nothing to draw."""
    if not points:
        return None
    x = Axis(0, max(point.cost for point in points), LEFT, WIDTH - RIGHT)
    rights = [100 * point.accuracy for point in points]
    y = Axis(min(rights), max(rights), HEIGHT - BOTTOM, TOP)
    return Plot(
        title="Accuracy against cost",
        x_title="prompt tokens evaluated for each question",
        y_title="final accuracy, %",
        x_marks=x.marks,
        y_marks=y.marks,
        shapes=tuple(
            Shape(
                label=point.label, number=number, x=x.pixel(point.cost), y=y.pixel(100 * point.accuracy)
            )
            for number, point in enumerate(points)
        ),
    )
