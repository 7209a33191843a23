"""Episodes that need nothing of each other, under way at once and told as one stream (evaluation.md,
"Experiments"). What comes out is what one after another would have given, seconds excepted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from core.question import Question
from core.repair.strategy import Strategy

Item = TypeVar("Item")


class Jobs:
    """How many lanes may be under way at once, in all runs that share this."""

    def __init__(self, width: int = 1) -> None:
        self.width = width
        self._turns = asyncio.Semaphore(width)
        self._firsts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def first(self, key: str) -> asyncio.Lock:
        """Held by whoever makes the prediction of this key: the next one finds it stored."""
        return self._firsts.setdefault(key, asyncio.Lock())

    async def in_turn(self, lane: AsyncGenerator[Item, None]) -> AsyncGenerator[Item, None]:
        """The lane, from when its turn comes. A lane in which one episode waits for another keeps
        its turn to its end: the longest chain decides how long everything takes."""
        async with self._turns, aclosing(lane):
            async for item in lane:
                yield item


def lanes_of(questions: Sequence[Question], strategy: Strategy) -> tuple[tuple[int, ...], ...]:
    """Positions of the stream by what must stay in order. Without memory every question stands
    alone; with that of the same database alone, databases do; else everything is one lane."""
    positions = range(len(questions))
    if strategy.retrieval is None:
        return tuple((position,) for position in positions)
    if strategy.retrieval.databases != "same":
        return (tuple(positions),)
    lanes: dict[str, list[int]] = {}
    for position in positions:
        lanes.setdefault(questions[position].database.casefold(), []).append(position)
    return tuple(map(tuple, lanes.values()))


async def merged(lanes: Iterable[AsyncGenerator[Item, None]], width: int) -> AsyncGenerator[Item, None]:
    """The items of all lanes as they come, `width` lanes under way.

    A lane goes on only when its item was taken and the next was asked for, as with one lane alone:
    what follows an event may rely on its having been stored. An exception of one lane ends all.
    """
    waiting = deque(lanes)
    told: asyncio.Queue[_Told[Item] | Exception | None] = asyncio.Queue()
    workers = [asyncio.create_task(_work(waiting, told)) for _ in range(min(width, len(waiting)))]
    left = len(workers)
    try:
        while left:
            said = await told.get()
            if isinstance(said, Exception):
                raise said
            if said is None:
                left -= 1
                continue
            yield said.item
            said.taken.set()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


class _Told(Generic[Item]):
    """An item on its way, and whether it was taken."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.taken = asyncio.Event()


async def _work(
    waiting: deque[AsyncGenerator[Item, None]],
    told: asyncio.Queue[_Told[Item] | Exception | None],
) -> None:
    """Tell one lane after another, as long as some wait; then None, or what went wrong."""
    try:
        while waiting:
            async with aclosing(waiting.popleft()) as lane:
                async for item in lane:
                    telling = _Told(item)
                    told.put_nowait(telling)
                    await telling.taken.wait()
    except Exception as wrong:
        told.put_nowait(wrong)
    else:
        told.put_nowait(None)
