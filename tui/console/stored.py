"""The console's archive, answered from a store; nothing here blocks the interface."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from core.run.events import AnyEvent
from stores.reel import StoredReel
from stores.runs import Standing
from stores.store import Store
from tui.console.archive import StoredRun
from tui.view.reel import Reel


class StoreArchive:
    """The runs of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def notice(self) -> str:
        """What was to be known of the store's writer when it was opened."""
        return self._store.notice

    async def written(self) -> bool:
        """Whether somebody records runs in the store right now."""
        return await asyncio.to_thread(self._store.written)

    async def runs(self) -> Sequence[StoredRun]:
        """Every run, newest first."""
        return await self.moved({})

    async def moved(self, known: Mapping[str, int]) -> Sequence[StoredRun]:
        """The runs whose last event is another than `known` says, newest first."""
        return [_stored(each) for each in await asyncio.to_thread(self._store.standings, known)]

    async def events(self, run: str, after: int = 0) -> Sequence[AnyEvent]:
        """A run's events in order, from the one that follows number `after`."""
        return await asyncio.to_thread(lambda: list(self._store.events(run, after)))

    async def reel(self, run: str) -> Reel:
        """A run's events by their place, as many as there are now."""
        return await asyncio.to_thread(StoredReel, self._store, run)

    async def episode(self, run: str, position: int) -> Sequence[AnyEvent]:
        """The events of one episode in order."""
        return await asyncio.to_thread(self._store.episode, run, position)


def _stored(standing: Standing) -> StoredRun:
    record = standing.record
    return StoredRun(
        id=record.id,
        began=record.started,
        about=f"{record.dataset} · {record.strategy} · {record.model}",
        questions=record.questions,
        finished=record.ended,
        ended="" if record.state == "open" else record.state,
        settings=standing.settings,
        model=record.model,
        last_at=record.last_at,
        last_seq=record.last_seq,
        seconds=record.seconds,
        outcomes=standing.outcomes,
    )
