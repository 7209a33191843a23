"""Between a run and whoever watches it: what is passed on as closed is committed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

from core.run.events import CLOSING, AnyEvent, TokenDelta
from stores.ledger import Ledger


class Recorder:
    """Writes the events of a run into a store while they pass by."""

    def __init__(self, store: Ledger) -> None:
        self.store = store

    async def record(self, events: AsyncIterator[AnyEvent]) -> AsyncIterator[AnyEvent]:
        """Pass events on. Those since the last closing event are committed together with the next
        one, before it is passed on; a TokenDelta is never stored. Events that nothing closes before
        the stream ends are committed when it ends, and given up where it breaks off.

        Raises StoreTrouble and StoreConflict where the events cannot be stored; the source is then
        closed.
        """
        batch: list[AnyEvent] = []
        async with AsyncExitStack() as stack:
            source: Any = events
            if hasattr(source, "aclose"):
                await stack.enter_async_context(aclosing(source))
            async for event in events:
                if not isinstance(event, TokenDelta):
                    batch.append(event)
                if isinstance(event, CLOSING):
                    self.store.append(batch)
                    batch = []
                yield event
            self.store.append(batch)
