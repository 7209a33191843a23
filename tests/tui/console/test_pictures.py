"""What the screens look like: pictures at three sizes and in every theme, compared with the kept
ones. Renew them after a deliberate change: `pytest tests/tui/console/test_pictures.py
--snapshot-update`, and look at them before committing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator

import pytest
from textual.pilot import Pilot

from core.run.events import EpisodeOutcome, JudgementAwaited, SqlExecuted
from tests.streams import EPOCH, episode_events, question, run_events
from tests.tui.console.stage import SIZES, console, settled, until
from tui.console.app import MeritoApp
from tui.console.screens.dialogs import Sheet
from tui.console.widgets.judgebar import JudgeBar

pytestmark = [pytest.mark.slow, pytest.mark.pictures]

THEMES = ("merito-light", "merito-contrast", "merito-projector")


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times on screen are local: the pictures are made in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def after(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Press keys once everything is shown, and wait until what they did is shown."""

    async def run_before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        await without_notices(pilot)

    return run_before


async def without_notices(pilot: Pilot[int]) -> None:
    """Notices go by themselves after a while, which depends on the machine."""
    pilot.app.clear_notifications()
    await until(pilot, lambda: not pilot.app.screen.query("Toast"))
    await settled(pilot)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("room", ["run", "memory", "replay"])
def test_rooms(snap_compare, room: str, size: tuple[int, int]) -> None:
    keys = {"run": ("g", "j", "j", "j"), "memory": ("j",), "replay": ("n",) * 5}[room]
    app = console(run_events(24), room=room)
    assert snap_compare(app, terminal_size=size, run_before=after(*keys))


@pytest.mark.parametrize("pane", ["episode", "memories"])
def test_one_pane_at_a_time(snap_compare, pane: str) -> None:
    tabs = {"episode": 1, "memories": 2}[pane]
    app = console(run_events(24))
    keys = ("g", "j", "j", "j", *["tab"] * tabs)
    assert snap_compare(app, terminal_size=(80, 24), run_before=after(*keys))


@pytest.mark.parametrize("theme", THEMES)
def test_themes(snap_compare, theme: str) -> None:
    app = console(run_events(24), theme=theme)
    assert snap_compare(app, terminal_size=(120, 40), run_before=after("g", "j", "j", "j"))


def test_without_colour(snap_compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = console(run_events(24))
    assert snap_compare(app, terminal_size=(120, 40), run_before=after("g", "j", "j", "j"))


def test_nothing_open(snap_compare) -> None:
    assert snap_compare(MeritoApp(), terminal_size=(80, 24), run_before=after())


def test_an_answer_that_waits_to_be_judged(snap_compare) -> None:
    episode = episode_events(0, EpisodeOutcome.RIGHT_AT_ONCE, 0, asked=question(0))
    events = [*run_events(2)[:1], *episode]
    executed = next(i for i, event in enumerate(events) if isinstance(event, SqlExecuted))
    asked = JudgementAwaited(run="run-1", seq=50, at=EPOCH + 2, position=0, attempt=0)
    app = console([*events[: executed + 1], asked])

    async def armed(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await until(pilot, lambda: app.screen.query_one(JudgeBar).armed)
        app.session._heard = time.monotonic() + 3_600
        await without_notices(pilot)

    assert snap_compare(app, terminal_size=(120, 40), run_before=armed)


def test_help(snap_compare) -> None:
    app = console()

    async def opened(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        await without_notices(pilot)

    assert snap_compare(app, terminal_size=(120, 50), run_before=opened)
