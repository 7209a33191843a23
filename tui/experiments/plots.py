"""A few plots as shapes in an SVG's own coordinates; the page's template draws and escapes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from core.experiments.report import Curve, Point
from core.experiments.table import Table

WIDTH, HEIGHT = 1080, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 380, 16, 48
"""Margins; labels stand in the right one."""
FOREST, LINE = 480, 20
"""Room for the labels of differences, and the height of a line."""
MOST_POINTS = 400
"""Of one curve: more than its pixels would not be seen."""


class Mark(msgspec.Struct, frozen=True):
    """A place on an axis: its pixel and what it says."""

    at: float
    text: str


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A curve as `x,y` pairs, a point, or an interval; and its label, to which a line leads."""

    label: str
    said: str = ""
    """What stands behind the label, in small."""
    number: int
    """Picks colour and dashes, so that colour is never alone."""
    points: str = ""
    x: float = 0.0
    y: float = 0.0
    """The point, or where the curve ends."""
    low: float | None = None
    high: float | None = None
    label_x: float = 0.0
    label_y: float = 0.0


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is drawn."""

    title: str
    about: str
    """What the reader must know to read it."""
    x_title: str
    y_title: str
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    shapes: tuple[Shape, ...]
    zero: float | None = None
    """Where a line marks that there is no difference."""
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


class RateAxis(Axis):
    """The same for percentages, which stay within 0 and 100. Where all are one value, it alone is
    marked."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        super().__init__(low, high, start, end)
        self.high = min(self.high, 100.0)
        self._only = low if math.isclose(low, high, abs_tol=1e-9) else None
        if self._only is not None:
            self.low, self.high = max(0.0, low - 1), min(100.0, low + 1)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The round values, or the only one."""
        if self._only is None:
            return super().marks
        return (Mark(self.pixel(self._only), f"{round(self._only, 1):.10g}"),)


def _round_step(width: float) -> float:
    """1, 2 or 5 times a power of ten, for about five marks."""
    rough = width / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


CUT = (
    " The axis is that of the curves without their first tenth: what lies outside it there is drawn at"
    " its edge."
)


def stream_plot(curves: Sequence[Curve]) -> Plot | None:
    """Accuracy along the stream; None where there is nothing to draw."""
    drawn = [curve for curve in curves if len(curve.values) > 1]
    if not drawn:
        return None
    settled = [100 * value for curve in drawn for value in curve.values[len(curve.values) // 10 :]]
    x = Axis(0, max(len(curve.values) for curve in drawn), LEFT, WIDTH - RIGHT)
    y = RateAxis(settled, HEIGHT - BOTTOM, TOP)
    shapes = []
    for number, curve in enumerate(drawn):
        every = max(1, len(curve.values) // MOST_POINTS)
        places = [
            (x.pixel(n), y.pixel(min(max(100 * value, y.low), y.high)))
            for n, value in enumerate(curve.values, start=1)
            if n % every == 0 or n == len(curve.values)
        ]
        shapes.append(
            Shape(
                label=curve.label,
                said=f"{100 * curve.values[-1]:.1f} %, n = {len(curve.values):,}",
                number=number,
                points=" ".join(f"{a},{b}" for a, b in places),
                x=places[-1][0],
                y=places[-1][1],
            )
        )
    outside = any(not y.low <= 100 * value <= y.high for curve in drawn for value in curve.values)
    return Plot(
        title="Accuracy along the stream",
        about="accuracy over the questions judged so far, mean over the complete orders of each"
        f" strategy; at its end stands the value after its last question.{CUT if outside else ''}",
        x_title="questions judged so far",
        y_title="accuracy so far, %",
        x_marks=x.marks,
        y_marks=y.marks,
        shapes=_labelled(shapes),
    )


def cost_plot(points: Sequence[Point]) -> Plot | None:
    """Accuracy against cost; None where there is nothing to draw."""
    if not points:
        return None
    x = Axis(0, max(point.cost for point in points), LEFT, WIDTH - RIGHT)
    rights = [100 * point.accuracy for point in points]
    y = RateAxis(rights, HEIGHT - BOTTOM, TOP)
    shapes = [
        Shape(
            label=point.label,
            said=f"{100 * point.accuracy:.1f} %, {point.cost:,.0f} tokens, n = {point.questions}",
            number=number,
            x=x.pixel(point.cost),
            y=y.pixel(100 * point.accuracy),
        )
        for number, point in enumerate(points)
    ]
    return Plot(
        title="Accuracy against cost",
        about="means over the orders of each strategy; higher and further left is better.",
        x_title="prompt tokens evaluated for each question",
        y_title="final accuracy, %",
        x_marks=x.marks,
        y_marks=y.marks,
        shapes=_labelled(shapes),
    )


def difference_plot(table: Table | None) -> Plot | None:
    """Paired differences with their intervals, a line each; None where there is nothing to draw."""
    rows = [row for row in (table.records() if table else []) if row["first - second"] is not None]
    if not rows:
        return None
    ends = [float(str(row[f"first - second{end}"])) for row in rows for end in ("", " low", " high")]
    x = Axis(min(0.0, *ends), max(0.0, *ends), 20, WIDTH - FOREST)
    bottom = TOP + LINE * len(rows)
    shapes = []
    for n, row in enumerate(rows):
        low, high, middle = (
            x.pixel(float(str(row[f"first - second{end}"]))) for end in (" low", " high", "")
        )
        height = TOP + LINE * n + LINE / 2
        shapes.append(
            Shape(
                label=f"{row['first']} - {row['second']}",
                said=f"n = {row['questions']}, orders: {row['orders']}",
                number=0,
                x=middle,
                y=height,
                low=low,
                high=high,
                label_x=WIDTH - FOREST + 20,
                label_y=height,
            )
        )
    return Plot(
        title="Paired differences",
        about="first minus second in points with its 95 % interval; an interval that holds the dashed"
        " line shows no difference.",
        x_title="difference in points",
        y_title="",
        x_marks=x.marks,
        y_marks=(),
        shapes=tuple(shapes),
        zero=x.pixel(0.0),
        height=bottom + BOTTOM,
        right=WIDTH - FOREST,
        left=20,
        bottom=bottom,
    )


def _labelled(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """Labels beside the plot in the sequence of their heights, none over another."""
    placed: dict[int, float] = {}
    free = float(TOP)
    for shape in sorted(shapes, key=lambda shape: (shape.y, shape.label)):
        placed[shape.number] = free = max(free, shape.y)
        free += LINE
    over = max(0.0, free - LINE - (HEIGHT - BOTTOM))
    return tuple(
        msgspec.structs.replace(
            shape, label_x=WIDTH - RIGHT + 24, label_y=max(TOP / 2, placed[shape.number] - over)
        )
        for shape in shapes
    )
