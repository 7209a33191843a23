"""The permutation of columns is found, or given up, in bounded time."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from core.database.rows import Row
from core.feedback.columns import TooHard, same_rows


def _shuffled(rows: list[Row], seed: int) -> list[Row]:
    """The same rows with rows and columns in another order."""
    draw = random.Random(seed)
    order = list(range(len(rows[0])))
    draw.shuffle(order)
    arranged = [tuple(row[place] for place in order) for row in rows]
    draw.shuffle(arranged)
    return arranged


def _seconds(rows: list[Row], other: list[Row], expected: bool) -> float:
    started = time.perf_counter()
    assert same_rows(rows, other) is expected
    return time.perf_counter() - started


def test_twelve_equal_columns_over_thousands_of_rows() -> None:
    rows: list[Row] = [(number % 7,) * 12 for number in range(5_000)]
    assert _seconds(rows, _shuffled(rows, 1), True) < 2
    changed = [*rows[:-1], ((rows[-1][0],) * 11 + (99,))]
    assert _seconds(rows, _shuffled(changed, 1), False) < 2


def test_sixteen_columns_with_the_same_contents() -> None:
    draw = random.Random(0)
    columns = [draw.sample(range(2_000), 2_000) for _ in range(16)]
    rows: list[Row] = list(zip(*columns, strict=True))
    assert _seconds(rows, _shuffled(rows, 2), True) < 5
    columns[3][0], columns[3][1] = columns[3][1], columns[3][0]
    assert _seconds(rows, _shuffled(list(zip(*columns, strict=True)), 2), False) < 5


def test_columns_of_noughts_and_ones() -> None:
    draw = random.Random(0)
    rows: list[Row] = [tuple(draw.randint(0, 1) for _ in range(20)) for _ in range(3_000)]
    assert _seconds(rows, _shuffled(rows, 3), True) < 5


def test_every_column_looks_like_every_other() -> None:
    """A pivot: one mark a row and column, so that any column may stand for any other."""
    size = 40
    rows: list[Row] = [tuple(int(a == b) for b in range(size)) for a in range(size)]
    assert _seconds(rows, _shuffled(rows, 4), True) < 5


def _cycles(*lengths: int) -> list[Row]:
    """A row for each edge of some rings, a column for each corner: regular through and through."""
    corners, rows = sum(lengths), list[Row]()
    start = 0
    for length in lengths:
        for step in range(length):
            ends = (start + step, start + (step + 1) % length)
            rows.append(tuple(int(corner in ends) for corner in range(corners)))
        start += length
    return rows


def test_what_colours_alone_cannot_tell_apart_is_told_apart() -> None:
    assert _seconds(_cycles(4, 4), _shuffled(_cycles(4, 4), 5), True) < 1
    assert _seconds(_cycles(8), _cycles(4, 4), False) < 1
    assert _seconds(_cycles(24), _cycles(12, 12), False) < 5


def test_hostile_results_are_given_up_and_not_waited_for() -> None:
    with pytest.raises(TooHard):
        same_rows(_cycles(30, 30), _cycles(29, 31), cells=1_000)


async def test_the_event_loop_stays_free_meanwhile() -> None:
    draw = random.Random(0)
    rows: list[Row] = [tuple(draw.randint(0, 1) for _ in range(20)) for _ in range(3_000)]
    comparing = asyncio.create_task(asyncio.to_thread(same_rows, rows, _shuffled(rows, 3)))
    turns = 0
    while not comparing.done():
        await asyncio.sleep(0)
        turns += 1
    assert comparing.result() is True
    assert turns > 10
