"""Several things under way at once, told in their own order or as they end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_turn(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], at_once: int
) -> AsyncGenerator[Result, None]:
    """The result of each item in the items' order, `at_once` of them under way: one that takes long
    holds back what is told, never what is done. Whatever ends it, an exception of one of them
    included, ends all that are under way."""
    source = iter(items)
    waiting: deque[asyncio.Future[Result]] = deque()
    try:
        while True:
            busy = [task for task in waiting if not task.done()]
            free = 0 if any(map(_failed, waiting)) else at_once - len(busy)
            for item in islice(source, free):
                busy.append(asyncio.ensure_future(work(item)))
                waiting.append(busy[-1])
            if not waiting:
                return
            if waiting[0].done():
                yield waiting[0].result()
                waiting.popleft()
            else:
                await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _end(waiting)


async def as_they_end(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], at_once: int
) -> AsyncGenerator[Result, None]:
    """The result of each item as soon as it is there, `at_once` of them under way: nothing that is
    done waits to be kept. Whatever ends it ends all that are under way."""
    source = iter(items)
    busy: set[asyncio.Future[Result]] = set()
    try:
        while True:
            busy |= {asyncio.ensure_future(work(item)) for item in islice(source, at_once - len(busy))}
            if not busy:
                return
            ended, _ = await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(ended, key=_failed):
                yield task.result()
                busy.discard(task)
    finally:
        await _end(busy)


def _failed(task: asyncio.Future[Result]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _end(tasks: Iterable[asyncio.Future[Result]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
