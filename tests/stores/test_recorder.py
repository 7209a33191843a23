"""What is passed on as closed is committed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.run.events import CLOSING, AnyEvent, EpisodeEnded, RunEnded, TokenDelta
from stores.errors import StoreConflict, StoreTrouble
from stores.recorder import Recorder
from stores.store import Store
from tests.streams import run_events


class Source:
    """A run that can be watched: how far it came, and whether it was closed."""

    def __init__(self, events: Sequence[AnyEvent], breaks: Exception | None = None) -> None:
        self.events = events
        self.breaks = breaks
        self.given = 0
        self.closed = False

    async def stream(self) -> AsyncIterator[AnyEvent]:
        try:
            for event in self.events:
                self.given += 1
                yield event
            if self.breaks:
                raise self.breaks
        finally:
            self.closed = True


async def test_events_pass_in_order_and_are_stored(store: Store) -> None:
    events = run_events(5, deltas=True)
    passed = [event async for event in Recorder(store).record(Source(events).stream())]
    assert passed == events
    assert list(store.events("run-1")) == [e for e in events if not isinstance(e, TokenDelta)]


async def test_a_closing_event_is_passed_on_after_its_commit(store: Store, path: Path) -> None:
    with Store.open(path, mode="read") as elsewhere:
        stored = 0
        async for event in Recorder(store).record(Source(run_events(5, deltas=True)).stream()):
            in_file = elsewhere.rows("SELECT count(*) FROM events")[0][0]
            if isinstance(event, CLOSING):
                assert in_file == event.seq
                stored = event.seq
            else:
                assert in_file == stored, "nothing of an open attempt is committed"


async def test_what_a_broken_attempt_left_behind_is_given_up(store: Store) -> None:
    events = run_events(3, end=None)
    cut = next(i for i, event in enumerate(events) if isinstance(event, EpisodeEnded)) + 3
    source = Source(events[:cut], MeritoError("The engine is gone."))
    with pytest.raises(MeritoError, match="engine is gone"):
        async for _ in Recorder(store).record(source.stream()):
            pass
    assert list(store.events("run-1")) == events[: cut - 2]


async def test_a_stream_that_ends_without_a_closing_event_is_stored_whole(store: Store) -> None:
    events = run_events(3, end=None)[:-2]
    assert not isinstance(events[-1], CLOSING)
    async for _ in Recorder(store).record(Source(events).stream()):
        pass
    assert list(store.events("run-1")) == events


async def test_closing_the_reader_closes_the_run(store: Store) -> None:
    source = Source(run_events(5))
    reading = Recorder(store).record(source.stream())
    async for event in reading:
        if isinstance(event, EpisodeEnded):
            break
    await reading.aclose()  # type: ignore[attr-defined]
    assert source.closed
    assert source.given == event.seq


async def test_a_disk_that_fills_up_stops_the_run_in_words(store: Store) -> None:
    pages = store.database.execute("PRAGMA page_count").fetchone()[0]
    store.database.execute(f"PRAGMA max_page_count = {pages + 5}")
    source = Source(run_events(60))
    acknowledged = 0

    async def watch() -> None:
        nonlocal acknowledged
        async for event in Recorder(store).record(source.stream()):
            if isinstance(event, CLOSING):
                acknowledged = event.seq

    with pytest.raises(StoreTrouble, match="no space"):
        await watch()
    assert source.closed
    assert [event.seq for event in store.events("run-1")] == list(range(1, acknowledged + 1))


async def test_a_run_that_forgot_its_place_is_refused(store: Store) -> None:
    events = run_events(2)
    store.append(events)
    late = RunEnded(run="run-1", seq=events[-1].seq + 2, at=0.0, reason="stopped")
    with pytest.raises(StoreConflict, match="cannot follow"):
        async for _ in Recorder(store).record(Source([late]).stream()):
            pass
