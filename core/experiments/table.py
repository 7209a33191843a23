"""Tables that any face can print: each cell has its text for people and its values for programs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.experiments.arms import Arm
from core.experiments.statistics import Interval, Spread

Value = str | int | float | None


class Cell(msgspec.Struct, frozen=True):
    """One place of a table."""

    text: str
    values: tuple[tuple[str, Value], ...]
    """(suffix of the column's name, value); the suffix of the first is empty."""
    number: bool = True


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table. `name` is short and stays the same, for files and programs."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """What the reader must know to read it."""

    def records(self) -> list[dict[str, Value]]:
        """The values, one dictionary a row, every row with the same keys."""
        keys = dict.fromkeys(
            f"{column} {suffix}".strip()
            for row in self.rows
            for column, cell in zip(self.columns, row, strict=True)
            for suffix, _ in cell.values
        )
        return [dict.fromkeys(keys) | _record(self.columns, row) for row in self.rows]

    def only(self, columns: Sequence[int]) -> Table:
        """The table with these columns alone."""
        return msgspec.structs.replace(
            self,
            columns=tuple(self.columns[n] for n in columns),
            rows=tuple(tuple(row[n] for n in columns) for row in self.rows),
        )

    @property
    def turned(self) -> Table:
        """The same with what the columns say down the side, and the rows across."""
        return msgspec.structs.replace(
            self,
            columns=(self.columns[0], *(row[0].text for row in self.rows)),
            rows=tuple(
                (words(self.columns[n]), *(row[n] for row in self.rows))
                for n in range(1, len(self.columns))
            ),
        )

    @property
    def telling(self) -> Table:
        """The table without the columns in which no row has anything."""
        numbers = range(len(self.columns))
        return self.only([n for n in numbers if any(row[n] != ABSENT for row in self.rows)])


def _record(columns: tuple[str, ...], row: tuple[Cell, ...]) -> dict[str, Value]:
    return {
        f"{column} {suffix}".strip(): value
        for column, cell in zip(columns, row, strict=True)
        for suffix, value in cell.values
    }


BEHIND = ("strategy", "questions", "orders")
"""What every row of a figure begins with: no figure stands without what is behind it."""


def behind(arm: Arm) -> tuple[Cell, Cell, Cell]:
    """Label of an arm, and the questions and orders that its figures are of."""
    orders = len(arm.told)
    of_all = f" of {len(arm.runs):,}" if orders < len(arm.runs) else ""
    return (
        words(arm.label),
        Cell(f"{arm.questions}{arm.unfinished}", (("", arm.questions),)),
        Cell(f"{orders}{of_all}", (("", orders),)),
    )


ABSENT = Cell("-", (("", None),))


def words(text: str) -> Cell:
    """Text as it is."""
    return Cell(text, (("", text),), number=False)


def count(number: int | None) -> Cell:
    """A whole number."""
    return ABSENT if number is None else Cell(f"{number:,}", (("", number),))


def published(value: float | None, digits: int = 2) -> Cell:
    """A figure of a paper."""
    return ABSENT if value is None else Cell(f"{value:,.{digits}f}", (("", value),))


def mean(spread: Spread | None, digits: int = 2, *, scale: float = 1.0) -> Cell:
    """A mean over orders, with its deviation where there are several."""
    if spread is None:
        return ABSENT
    value = spread.mean * scale
    if spread.deviation is None:
        return Cell(f"{value:,.{digits}f}", (("", value),))
    deviation = spread.deviation * scale
    return Cell(
        f"{value:,.{digits}f} \N{PLUS-MINUS SIGN} {deviation:,.{digits}f}",
        (("", value), ("deviation", deviation)),
    )


def interval(found: Interval | None) -> Cell:
    """A difference in points, with its interval."""
    if found is None:
        return ABSENT
    points = [100 * value for value in (found.difference, found.low, found.high)]
    return Cell(
        f"{points[0]:+.2f} [{points[1]:.2f}, {points[2]:.2f}]",
        (("", points[0]), ("low", points[1]), ("high", points[2])),
    )
