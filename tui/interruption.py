"""Ctrl-C and SIGTERM as a quiet end: what is under way is given up, what was committed stays."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")


async def until_interrupted(work: Awaitable[None]) -> bool:
    """Whether `work` came to its end; False where the user interrupted it. Outside the main thread
    no signal arrives, and none is waited for."""
    working = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(name, working.cancel)
    try:
        await working
        return True
    except asyncio.CancelledError:
        here = asyncio.current_task()
        if here is not None and here.cancelling():  # not by a signal: by whoever awaits us
            raise
        return False
    finally:
        for name in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(name)


def run_whole(work: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run`, which SIGTERM ends as Ctrl-C does: whatever `work` holds is given back. Raises
    KeyboardInterrupt where it was ended so."""
    results: list[Result] = []

    async def keep() -> None:
        results.append(await work)

    if not asyncio.run(until_interrupted(keep())):
        raise KeyboardInterrupt
    return results[0]
