"""Lanes that need nothing of each other: who is under way, in which order, and what ends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from core.question import Question
from core.repair.strategy import strategy_named
from core.run.events import RunEnded, TokenDelta
from core.run.jobs import Jobs, lanes_of, merged
from core.run.stamp import Stamp

ASKED = tuple(
    Question(id=str(n), database=database, text="?") for n, database in enumerate(("a", "b", "A", "c"))
)


@pytest.mark.parametrize(
    ("strategy", "lanes"),
    [
        ("iterative", ((0,), (1,), (2,), (3,))),
        ("resample", ((0,), (1,), (2,), (3,))),
        ("merit-same-database", ((0, 2), (1,), (3,))),
        ("merit", ((0, 1, 2, 3),)),
        ("reflexion", ((0, 1, 2, 3),)),
        ("merito", ((0, 1, 2, 3),)),
    ],
)
def test_what_a_strategy_remembers_says_what_must_stay_in_order(
    strategy: str, lanes: tuple[tuple[int, ...], ...]
) -> None:
    assert lanes_of(ASKED, strategy_named(strategy)) == lanes


class Lanes:
    """Lanes of letters that note how many of them are open and how far they are ahead."""

    def __init__(self, names: str, letters: int = 3) -> None:
        self.open, self.most, self.made = 0, 0, 0
        self.lanes = [self._lane(name, letters) for name in names]

    async def _lane(self, name: str, letters: int) -> AsyncGenerator[str, None]:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            for number in range(letters):
                if name == "!" and number == 1:
                    raise RuntimeError(name)
                self.made += 1
                yield f"{name}{number}"
                await asyncio.sleep(0)
        finally:
            self.open -= 1


@pytest.mark.parametrize("width", [1, 2, 5])
async def test_everything_is_told_each_lane_in_its_order(width: int) -> None:
    lanes = Lanes("abcd")
    told = [item async for item in merged(lanes.lanes, width)]
    assert sorted(told) == [f"{name}{n}" for name in "abcd" for n in range(3)]
    for name in "abcd":
        assert [item for item in told if item[0] == name] == [f"{name}{n}" for n in range(3)]
    assert lanes.most == min(width, 4)


async def test_one_lane_after_another_where_only_one_is_let() -> None:
    told = [item async for item in merged(Lanes("ab").lanes, 1)]
    assert told == ["a0", "a1", "a2", "b0", "b1", "b2"]


async def test_a_lane_goes_on_only_when_its_item_was_taken() -> None:
    lanes = Lanes("ab")
    async with aclosing(merged(lanes.lanes, 2)) as told:
        await anext(told)
        await asyncio.sleep(0.01)
        assert lanes.made == 2, "one item a lane, and no lane ahead of its listener"


async def test_what_goes_wrong_in_one_ends_all() -> None:
    lanes = Lanes("a!b", letters=50)

    async def listen() -> None:
        async with aclosing(merged(lanes.lanes, 3)) as items:
            async for _ in items:
                pass

    with pytest.raises(RuntimeError, match="!"):
        await listen()
    assert lanes.open == 0


async def test_a_listener_who_leaves_ends_all() -> None:
    lanes = Lanes("abc", letters=50)
    async with aclosing(merged(lanes.lanes, 3)) as items:
        await anext(items)
    assert lanes.open == 0


def test_numbers_follow_the_order_in_which_events_leave() -> None:
    stamp = Stamp("r", next_seq=5)
    first, second = stamp(RunEnded, reason="1"), stamp(RunEnded, reason="2")
    delta = stamp.numbered(stamp(TokenDelta, position=0, attempt=0, text="x"))
    assert [stamp.numbered(second).seq, delta.seq, stamp.numbered(first).seq] == [5, 0, 6]


async def test_a_prediction_is_made_by_one_at_a_time() -> None:
    jobs = Jobs(2)
    async with jobs.first("k"):
        assert jobs.first("k").locked()
        assert not jobs.first("other").locked()
    assert not jobs.first("k").locked()
