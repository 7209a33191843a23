"""Several things under way at once: how many, in what order they are told, and what ends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import pytest

from core.selection.turns import as_they_end, in_turn

Lane = Callable[..., AsyncGenerator[int, None]]
LANES: list[Lane] = [in_turn, as_they_end]


class Bench:
    """Work that ends when the test lets it, and remembers who was under way."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.started: list[int] = []
        self.most = 0
        self._gates: dict[int, asyncio.Event] = {}

    async def work(self, item: int) -> int:
        self.started.append(item)
        self.under_way.add(item)
        self.most = max(self.most, len(self.under_way))
        try:
            await self._gates.setdefault(item, asyncio.Event()).wait()
        finally:
            self.under_way.discard(item)
        if item < 0:
            raise ValueError(item)
        return item * 10

    def let(self, *items: int) -> None:
        for item in items:
            self._gates.setdefault(item, asyncio.Event()).set()


async def tell(results: AsyncGenerator[int, None], told: list[int]) -> None:
    async with aclosing(results):
        async for result in results:
            told.append(result)  # noqa: PERF401 - what was told before a failure counts


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("lane", LANES)
async def test_one_that_takes_long_keeps_no_place_of_the_others_free(lane: Lane) -> None:
    bench = Bench()
    bench.let(1, 2, 3, 4, 5)
    told: list[int] = []

    task = asyncio.create_task(tell(lane(range(6), bench.work, 2), told))
    await settled()
    assert bench.started == [0, 1, 2, 3, 4, 5]
    assert bench.under_way == {0}
    assert told == ([] if lane is in_turn else [10, 20, 30, 40, 50])
    bench.let(0)
    await task
    assert told == ([0, 10, 20, 30, 40, 50] if lane is in_turn else [10, 20, 30, 40, 50, 0])
    assert bench.most == 2


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("items", [[], [7]])
async def test_nothing_and_one_thing(lane: Lane, items: list[int]) -> None:
    bench = Bench()
    bench.let(*items)
    assert [result async for result in lane(items, bench.work, 3)] == [item * 10 for item in items]


@pytest.mark.parametrize("lane", LANES)
async def test_a_failure_starts_nothing_more_and_ends_the_others(lane: Lane) -> None:
    bench = Bench()
    bench.let(-1, 2)
    told: list[int] = []
    with pytest.raises(ValueError, match="-1"):
        await tell(lane([2, -1, 3, 4, 5], bench.work, 3), told)
    await settled()
    assert told == [20]
    assert not bench.under_way
    assert 5 not in bench.started


@pytest.mark.parametrize("lane", LANES)
async def test_whoever_stops_listening_ends_all_that_is_under_way(lane: Lane) -> None:
    bench = Bench()
    bench.let(0)
    results = lane(range(9), bench.work, 3)
    assert await anext(results) == 0
    await results.aclose()
    await settled()
    assert not bench.under_way
