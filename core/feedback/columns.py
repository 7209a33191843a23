"""Whether two results are the same rows under some order of the columns, row order ignored.

The published test-suite evaluator tries every permutation of the columns. Here columns and rows
of both results are coloured by what they hold until the colours stand still; columns of different
colours can never correspond, and of those that look alike one is fixed and the colouring goes on
(individualisation and refinement, as graph isomorphism programs do). The verdict is the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

from core.database.rows import Row, Value

CELLS = 20_000_000
"""Cells that the search may look at before it gives up: some ten seconds."""


class TooHard(Exception):
    """The results are so regular that the search was given up: neither equal nor different."""


class _Table:
    """One result with repeated rows and repeated columns counted once.

    `cells[r][c]` is a number that stands for a value; equal values have equal numbers in both
    tables.
    """

    def __init__(self, rows: Sequence[Row], numbers: dict[Value, int]) -> None:
        counted_rows = Counter(tuple(numbers.setdefault(v, len(numbers)) for v in row) for row in rows)
        distinct = list(counted_rows)
        counted_columns = Counter(zip(*distinct, strict=True))
        self.columns: list[tuple[int, ...]] = list(counted_columns)
        self.cells: list[tuple[int, ...]] = list(zip(*self.columns, strict=True))
        self.row_counts: list[int] = list(counted_rows.values())
        self.column_counts: list[int] = list(counted_columns.values())


class _Budget:
    def __init__(self, cells: int) -> None:
        self.left = cells

    def spend(self, cells: int) -> None:
        self.left -= cells
        if self.left < 0:
            raise TooHard


def same_rows(first: Sequence[Row], second: Sequence[Row], cells: int = CELLS) -> bool:
    """Whether some permutation of `second`'s columns makes both the same multiset of rows.

    Both have the same number of rows (one or more) and of columns. Values are compared as Python
    does: 1 equals 1.0, '1' differs from 1. Raises TooHard where more than `cells` cells (or eight
    times the results, if that is more) would have to be looked at.
    """
    if Counter(first) == Counter(second):
        return True
    numbers: dict[Value, int] = {}
    one, other = _Table(first, numbers), _Table(second, numbers)
    if len(one.columns) != len(other.columns) or len(one.cells) != len(other.cells):
        return False
    size = 2 * len(one.cells) * len(one.columns)
    return _corresponds(
        one,
        other,
        (one.row_counts, one.column_counts),
        (other.row_counts, other.column_counts),
        _Budget(max(cells, 8 * size)),
    )


_Colours = tuple[list[int], list[int]]
"""Row colours and column colours of one table."""


def _corresponds(one: _Table, other: _Table, mine: _Colours, theirs: _Colours, budget: _Budget) -> bool:
    refined = _refine(one, other, mine, theirs, budget)
    if refined is None:
        return False
    mine, theirs = refined
    alike: defaultdict[int, list[int]] = defaultdict(list)
    for column, colour in enumerate(mine[1]):
        alike[colour].append(column)
    undecided = [columns for columns in alike.values() if len(columns) > 1]
    if not undecided:
        return _matches(one, other, mine, theirs)
    column = min(undecided, key=len)[0]
    candidates = [c for c, colour in enumerate(theirs[1]) if colour == mine[1][column]]
    return any(
        _corresponds(one, other, _fixed(mine, column), _fixed(theirs, candidate), budget)
        for candidate in candidates
    )


def _fixed(colours: _Colours, column: int) -> _Colours:
    """The colours with one column singled out."""
    rows, columns = colours
    return rows, [-1 if c == column else colour for c, colour in enumerate(columns)]


def _refine(
    one: _Table, other: _Table, mine: _Colours, theirs: _Colours, budget: _Budget
) -> tuple[_Colours, _Colours] | None:
    """Both colourings, made as fine as they go; None where they show a difference."""
    known = 0
    while True:
        budget.spend(2 * len(one.cells) * (len(one.columns) + 1))
        columns = _named(
            _seen(one.columns, mine[1], mine[0]), _seen(other.columns, theirs[1], theirs[0])
        )
        if columns is None:
            return None
        rows = _named(_seen(one.cells, mine[0], columns[0]), _seen(other.cells, theirs[0], columns[1]))
        if rows is None:
            return None
        mine, theirs = (rows[0], columns[0]), (rows[1], columns[1])
        colours = len(set(rows[0])) + len(set(columns[0]))
        if colours == known or len(set(columns[0])) == len(one.columns):
            return mine, theirs
        known = colours


def _seen(lines: Iterable[tuple[int, ...]], own: list[int], across: list[int]) -> list[Hashable]:
    """What each line (a row or a column) looks like: its colour, and its values each with the
    colour of the line that crosses there."""
    return [
        (colour, tuple(sorted(zip(line, across, strict=True))))
        for colour, line in zip(own, lines, strict=True)
    ]


def _named(mine: list[Hashable], theirs: list[Hashable]) -> tuple[list[int], list[int]] | None:
    """Looks as new colours; None where the two tables do not have the same looks equally often."""
    if Counter(mine) != Counter(theirs):
        return None
    names: dict[Hashable, int] = {}
    return (
        [names.setdefault(look, len(names)) for look in mine],
        [names.setdefault(look, len(names)) for look in theirs],
    )


def _matches(one: _Table, other: _Table, mine: _Colours, theirs: _Colours) -> bool:
    """Whether the only column order left makes the rows (with their counts) equal."""
    place = {colour: column for column, colour in enumerate(theirs[1])}
    order = [place[colour] for colour in mine[1]]
    arranged = [tuple(row[c] for c in order) for row in other.cells]
    return dict(zip(one.cells, one.row_counts, strict=True)) == dict(
        zip(arranged, other.row_counts, strict=True)
    )
