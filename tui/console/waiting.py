"""What was not there when the console opened: a store, and the first run in it. Somebody else, or the
Ask room, makes them while the console looks on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tui.console.session import Opened

if TYPE_CHECKING:
    from stores.store import Store

LOOK = 0.7
"""Seconds between two looks."""


async def arrivals(stack: ExitStack, path: Path, *, own: Callable[[], bool]) -> AsyncIterator[Opened]:
    """The store at `path` as soon as there is one, then its first run. `stack` closes what is opened;
    `own` tells whether it is this console that writes to the store, which then is no news to it.
    What comes and is no store is told once, and looked at again."""
    async for _ in _looks():
        if await asyncio.to_thread(path.exists):
            break
    from stores.errors import StoreTrouble
    from stores.store import Store
    from tui.console.stored import StoreArchive
    from tui.console.stored_library import StoreLibrary

    told = ""
    async for _ in _looks():
        # The writer may end between the look at its lock and the question whose it was.
        mine = own()
        try:
            store = stack.enter_context(await asyncio.to_thread(Store.open, path, mode="review"))
            break
        except StoreTrouble as trouble:
            # A store that is being copied there is none yet.
            if str(trouble) != told:
                told = str(trouble)
                yield Opened(None, None, None, None, notice=told)
    notice = "" if mine or own() else store.notice
    opened = Opened(None, None, StoreLibrary(store), StoreArchive(store), notice=notice)
    yield opened
    async for begun in first_run(store, opened):
        yield begun


async def first_run(store: Store, opened: Opened) -> AsyncIterator[Opened]:
    """The same with the events of the store's first run, as soon as it has begun."""
    async for _ in _looks():
        if runs := await asyncio.to_thread(store.runs):
            yield opened._replace(events=store.follow(runs[0].id))
            return


async def _looks() -> AsyncIterator[None]:
    """Now, and again and again."""
    while True:
        yield
        await asyncio.sleep(LOOK)
