"""--read-only, tried by going around the keys: what the interface hides, the store refuses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.memory.entry import ReviewDecision, ReviewState
from core.run.events import EpisodeEnded
from stores.errors import StoreTrouble
from stores.permission import only_reading
from stores.store import Store
from tests.core.run.stage import harbour
from tests.streams import EPOCH, question, run_events
from tests.tui.console.stage import console
from tui.console import live
from tui.console.app import MeritoApp
from tui.console.preferences import Preferences
from tui.order import Order
from tui.session import new_session

EVENTS = run_events(8)
MEMORY = next(e.memory.id for e in EVENTS if isinstance(e, EpisodeEnded) and e.memory is not None)
DECISION = ReviewDecision(memory=MEMORY, state=ReviewState.REJECTED, who="eve", at=EPOCH)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store.open(path, create=True) as made:
        made.append(EVENTS)
    return path


def contents(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


WAYS: dict[str, Callable[[Store], object]] = {
    "a decision": lambda store: store.review(DECISION),
    "an event": lambda store: store.append(run_events(1, run="run-2")),
    "a rebuild": lambda store: store.rebuild(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["read", "review", "prefer-write"])
def test_a_store_that_is_opened_under_the_promise_takes_nothing(
    store: Path, mode: str, way: str
) -> None:
    before = contents(store)
    with only_reading(), Store.open(store, mode=mode) as opened:  # type: ignore[arg-type]
        assert opened.read_only
        with pytest.raises(StoreTrouble, match="read-only"):
            WAYS[way](opened)
        assert len(opened.runs()) == 1
    assert contents(store) == before


def test_no_store_is_opened_for_writing_or_made_under_the_promise(store: Path) -> None:
    with only_reading():
        with only_reading():
            pass
        with pytest.raises(StoreTrouble, match=r"read-only\. Start it without --read-only"):
            Store.open(store)
        with pytest.raises(StoreTrouble, match="read-only"):
            Store.open(store.parent / "new.sqlite", create=True)
        assert not (store.parent / "new.sqlite").exists()
    with Store.open(store) as opened:
        assert not opened.read_only


async def test_no_run_begins_whoever_asks(store: Path) -> None:
    """A screen that forgot to ask for permission gets no further than this."""
    before = contents(store)
    harbour(store.parent)
    order = Order(
        stream=str(store.parent / "harbour" / "harbour.sqlite"),
        questions=(question(0),),
        store=store,
        model="openai:http://127.0.0.1:9/v1#nobody",
    )
    with only_reading(), pytest.raises(StoreTrouble, match="read-only"):
        async with new_session(order):
            pass
    assert contents(store) == before


def opened(store: Path) -> MeritoApp:
    """The console as `merito console --read-only` makes it."""
    made: list[MeritoApp] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "run_console", made.append)
        patch.setattr(live, "load_preferences", lambda _theme: Preferences())
        live.open_console(store, None, read_only=True, theme=None)
    return made[0]


async def test_the_console_holds_no_hand_on_anything(store: Path) -> None:
    before = contents(store)
    app = opened(store)
    assert app.session.control is None
    assert app.asker is None
    assert app.library is not None
    assert app.library.read_only
    with pytest.raises(MeritoError, match="read-only"):
        await app.library.decide([DECISION], {})
    assert contents(store) == before


async def test_a_run_that_is_watched_read_only_cannot_be_steered() -> None:
    app = console(hold=20, read_only=True)
    assert app.session.control is None
    assert not app.session.steerable
