"""A stored run by the places of its events, for readers that go back and forth."""

from __future__ import annotations

from collections.abc import Sequence

from core.run.events import AnyEvent
from stores.runs import RunReading


class StoredReel:
    """The events of one run as far as they were stored when this was made. What a run's number
    counts without a gap from 1, a place counts from 0."""

    def __init__(self, store: RunReading, name: str) -> None:
        record = store.run(name)
        self.run = record.id
        self._store = store
        self._count = record.last_seq

    def __len__(self) -> int:
        return self._count

    def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
        """The events from place `start` up to, not including, `stop`. Raises StoreTrouble."""
        return self._store.decoded(
            "SELECT body FROM events WHERE run = ? AND seq > ? AND seq <= ? ORDER BY seq",
            (self.run, start, min(stop, self._count)),
        )
