"""A stored run as a stream of events again, at once or at a pace of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from core.run.events import AnyEvent
from stores.store import Store

LONGEST_PAUSE = 5.0
"""Seconds: nobody wants to watch the night between two sessions of a run."""


async def replayed(store: Store, run: str, speed: float | None) -> AsyncGenerator[AnyEvent, None]:
    """The run's events in order; with `speed`, as far apart as they were, `speed` times faster."""
    before: float | None = None
    for event in store.events(run):
        if speed is not None and before is not None:
            await asyncio.sleep(min(max(event.at - before, 0.0) / speed, LONGEST_PAUSE))
        before = event.at
        yield event
