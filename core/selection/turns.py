"""Several things under way at once, told in their own order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_turn(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], at_once: int
) -> AsyncGenerator[Result, None]:
    """The result of each item in the items' order, `at_once` of them under way. Whatever ends it,
    an exception of one of them included, ends all that are under way."""
    waiting: deque[asyncio.Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(asyncio.ensure_future(work(item)))
            if len(waiting) >= at_once:
                yield await waiting[0]
                waiting.popleft()
        while waiting:
            yield await waiting[0]
            waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
