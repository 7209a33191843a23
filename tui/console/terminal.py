"""The terminal that the console borrows: nothing else may write to it, and it is given back clean."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual.app import App

_LEFTOVERS = 0.3
"""Seconds that tasks get to end after the application did."""


@contextmanager
def stderr_to_log(log: Path) -> Iterator[None]:
    """Send everything that is written to file descriptor 2 by native code to `log`, while the
    interface keeps the real terminal."""
    sys.stderr.flush()
    terminal = os.dup(2)
    screen = os.fdopen(os.dup(terminal), "w", encoding="utf-8", errors="replace", buffering=1)
    before = sys.__stderr__
    with log.open("ab", buffering=0) as file:
        os.dup2(file.fileno(), 2)
        sys.__stderr__ = screen  # type: ignore[misc]
        try:
            yield
        finally:
            screen.flush()
            os.dup2(terminal, 2)
            sys.__stderr__ = before  # type: ignore[misc]
            os.close(terminal)
            screen.close()


def run_bounded(app: App[Any]) -> None:
    """Run an application. Whatever it leaves behind, tasks or threads, is not waited for: a thread
    that still computes has nobody left to tell."""
    loop = asyncio.new_event_loop()
    threads = ThreadPoolExecutor(thread_name_prefix="console")
    loop.set_default_executor(threads)
    asyncio.set_event_loop(loop)
    try:
        app.run(loop=loop)
    finally:
        _wind_up(loop)
        threads.shutdown(wait=False, cancel_futures=True)
        asyncio.set_event_loop(None)
        loop.close()


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=_LEFTOVERS))
    ending = loop.create_task(loop.shutdown_asyncgens())
    loop.run_until_complete(asyncio.wait([ending], timeout=_LEFTOVERS))
