"""Curves drawn with characters: eight dots a cell (Braille), and signs on each curve that tell it from
the others without colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SIGNS = "●▲■◆○△□◇"
"""Of the first curves; those after them get letters."""
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each dot of a cell, by row and column."""
_BETWEEN_SIGNS = 24
"""Cells from one sign to the next along a curve."""

Points = Sequence[tuple[float, float]]
"""(x, y) pairs from 0 to 1, x rising, y upwards."""


class Drawn(NamedTuple):
    """One cell: its character, and the curve that it belongs to (None where it is empty)."""

    character: str
    curve: int | None


def sign(number: int) -> str:
    """The sign of a curve."""
    spare = number - len(SIGNS)
    return SIGNS[number] if spare < 0 else chr(ord("a") + spare % 26)


def draw(
    curves: Sequence[Points], width: int, height: int, front: int | None = None
) -> list[list[Drawn]]:
    """Draw curves into `height` rows of `width` cells. Where they cross, `front` covers the others."""
    canvas = _Canvas(width, height)
    numbers = sorted(range(len(curves)), key=lambda number: number == front)
    for number in numbers:
        canvas.trace(number, curves[number])
    for number in numbers:
        canvas.mark(number, curves[number], step=_BETWEEN_SIGNS, start=3 * number)
    return canvas.rows()


class _Canvas:
    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._bits: dict[tuple[int, int], int] = {}
        self._owners: dict[tuple[int, int], int] = {}
        self._signs: dict[tuple[int, int], str] = {}

    def trace(self, number: int, points: Points) -> None:
        """Dots along a curve, without a gap."""
        before: tuple[int, int] | None = None
        for x, y in points:
            column, row = self._dot(x, y)
            for each in _between(before or (column, row), (column, row)):
                self._set(number, *each)
            before = column, row

    def mark(self, number: int, points: Points, *, step: int, start: int) -> None:
        """The curve's sign at its end and every few cells before."""
        if not points:
            return
        places = {}
        for x, y in points:
            column, row = self._dot(x, y)
            places[column // 2] = row // 4
        last = max(places)
        for column in (*range(start % step, last - 3, step), last):
            if column in places:
                place = column, places[column]
                self._signs[place], self._owners[place] = sign(number), number

    def rows(self) -> list[list[Drawn]]:
        """The cells, top row first."""
        return [[self._cell((x, y)) for x in range(self.width)] for y in range(self.height)]

    def _dot(self, x: float, y: float) -> tuple[int, int]:
        across, down = self.width * 2 - 1, self.height * 4 - 1
        clamped = min(1.0, max(0.0, y))
        return round(min(1.0, max(0.0, x)) * across), round((1 - clamped) * down)

    def _set(self, number: int, column: int, row: int) -> None:
        place = column // 2, row // 4
        self._bits[place] = self._bits.get(place, 0) | _DOTS[row % 4][column % 2]
        self._owners[place] = number

    def _cell(self, place: tuple[int, int]) -> Drawn:
        character = self._signs.get(place) or chr(_BRAILLE + self._bits.get(place, 0))
        owner = self._owners.get(place)
        return Drawn(character if owner is not None else " ", owner)


def _between(a: tuple[int, int], b: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots of a straight line."""
    steps = max(abs(b[0] - a[0]), abs(b[1] - a[1]), 1)
    return [
        (round(a[0] + (b[0] - a[0]) * n / steps), round(a[1] + (b[1] - a[1]) * n / steps))
        for n in range(steps + 1)
    ]
