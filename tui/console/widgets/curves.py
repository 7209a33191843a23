"""Accuracy along the stream, one curve an arm, drawn in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.widget import Widget

from tui.console.ink import GOOD, QUIET, TITLE, Part, column, ink
from tui.view.legible import one_line
from tui.view.plot import Points, draw, sign

if TYPE_CHECKING:
    from core.experiments.report import Curve
    from tui.experiments.plots import Axis

CURVE_STYLES = ("$primary", "$accent", GOOD, "$secondary", "$error", "$foreground")
"""Colours of the curves, in turn; the sign tells them apart without."""
_LEAST = 4
"""Cells of the numbers beside the y axis, at least."""
_LEGEND, _FIGURES = 40, 18
"""Cells of the legend at most, and of what stands behind a label."""
_SMALLEST = 24
_FINE = 10_000
"""Steps of the y axis."""


class Curves(Widget, can_focus=True):
    """The plot with its legend."""

    def __init__(self) -> None:
        super().__init__(id="curves", classes="pane")
        self._curves: Sequence[Curve] = ()
        self._front: int | None = None
        self._words = ""

    def show(self, curves: Sequence[Curve], front: int | None, words: str) -> None:
        """Draw these; `front` covers the others, `words` stand where there is nothing to draw."""
        if (curves, front, words) != (self._curves, self._front, self._words):
            self._curves, self._front, self._words = curves, front, words
            self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        """Draw it in its new size."""
        self.refresh()

    def render(self) -> Content:
        """Axis, curves, legend."""
        drawn = [(number, curve) for number, curve in enumerate(self._curves) if curve.values]
        width, height = self.size.width, self.size.height
        if not drawn:
            return ink("\n", (f" {self._words}", QUIET))
        longest = max(Content(one_line(curve.label, 100)).cell_length for _, curve in drawn)
        cells = min(_LEGEND, longest + _FIGURES)
        axis = _axis([curve for _, curve in drawn])
        margin = 2 + max(_LEAST, *(len(mark.text) for mark in axis.marks))
        beside = width >= margin + _SMALLEST + cells
        legend = self._legend(drawn, cells if beside else width)
        below = [] if beside else legend[: max(1, height // 3)]
        room = max(2, height - 2 - len(below))
        plot_width = max(8, width - margin - (cells + 2 if beside else 0))
        lines = self._plot(drawn, axis, margin, plot_width, room)
        if beside:
            shown = _cut(legend, len(lines))
            lines = [ink(line, "  ", each) for line, each in zip(lines, shown, strict=False)] + lines[
                len(shown) :
            ]
        else:
            lines += below
        return Content("\n").join(lines)

    def _plot(
        self, drawn: Sequence[tuple[int, Curve]], axis: Axis, margin: int, width: int, height: int
    ) -> list[Content]:
        """Lines of `margin` cells for the axis and `width` for the curves."""
        numbers, curves = zip(*drawn, strict=True)
        most = max(len(curve.values) for curve in curves)
        front = numbers.index(self._front) if self._front in numbers else None
        cells = draw([_points(curve, most, axis) for curve in curves], width, height, front)
        marks = {round((1 - mark.at / _FINE) * (height - 1)): mark.text for mark in axis.marks}
        lines = []
        for place, row in enumerate(cells):
            parts: list[Part] = [
                (f"{marks.get(place, ''):>{margin - 2}} ", QUIET),
                ("┤" if place in marks else "│", QUIET),
            ]
            for owner, group in groupby(row, key=lambda cell: cell.curve):
                text = "".join(cell.character for cell in group)
                parts.append(text if owner is None else (text, self._style(numbers[owner])))
            lines.append(ink(*parts))
        lines.append(ink((f"{'%':>{margin - 2}} └{'─' * width}", QUIET)))
        lines.append(ink((_below(most, margin, width), QUIET)))
        return lines

    def _legend(self, drawn: Sequence[tuple[int, Curve]], width: int) -> list[Content]:
        """The best first, each with its accuracy and the n behind it."""
        ranked = sorted(drawn, key=lambda each: -each[1].values[-1])
        lines = []
        for number, curve in ranked:
            figures = f" {100 * curve.values[-1]:.1f} % n={len(curve.values):,}"
            room = max(4, width - len(figures) - 2)
            style = TITLE if number == self._front else ""
            label = column(one_line(curve.label, 100), room, style)
            lines.append(ink((sign(number), self._style(number)), " ", label, (figures, QUIET)))
        return lines

    def _style(self, number: int) -> str:
        style = CURVE_STYLES[number % len(CURVE_STYLES)]
        return f"{style} bold" if number == self._front else style


def _axis(curves: Sequence[Curve]) -> Axis:
    """From percentages to fine steps; the first tenth of each curve, which jumps, may leave it."""
    from tui.experiments.plots import RateAxis

    settled = [100 * value for curve in curves for value in curve.values[len(curve.values) // 10 :]]
    return RateAxis(settled, 0, _FINE)


def _below(most: int, margin: int, width: int) -> str:
    """The numbers below the x axis: from the first question to the last, as far as there is room."""
    if most == 1:
        return f"{'':>{margin}}1 question judged"[: margin + width]
    last = next(
        (each for each in (f"{most:,} questions judged", f"{most:,}") if len(each) < width - 1), ""
    )
    return f"{'':>{margin}}1{last:>{width - 1}}"


def _points(curve: Curve, most: int, axis: Axis) -> Points:
    last = max(1, most - 1)
    return [(n / last, axis.pixel(100 * value) / _FINE) for n, value in enumerate(curve.values)]


def _cut(lines: list[Content], most: int) -> list[Content]:
    """As many lines as fit; the last says how many do not."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], ink((f"and {len(lines) - most + 1} more", QUIET))]
