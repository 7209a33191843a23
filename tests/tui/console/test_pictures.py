"""What the screens look like: pictures of every room in every theme and at three sizes, and of what
opens above them, compared with the kept ones. Renew them after a deliberate change, and look at them
before committing: `make pictures UPDATE=--snapshot-update`.

The widest size is kept in one theme: a theme changes colours, and the folder is in everybody's clone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.console.scenes import NARROW, NEWCOMER, ROOMS, SHEETS, Scene, quiet
from themes.palettes import DEFAULT_THEME, palettes
from tui.console.app import MeritoApp

pytestmark = [pytest.mark.slow, pytest.mark.pictures]

THEMES = [palette.name for palette in palettes()]
SMALL, MIDDLE, WIDE = (80, 24), (120, 40), (200, 60)
LOOKS = [(size, theme) for size in (SMALL, MIDDLE, WIDE) for theme in THEMES]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times on screen are local: the pictures are made in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def name_of(value: object) -> str:
    """The name of a parameter in the name of its picture."""
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.fixture
def pictured(snap_compare, tmp_path: Path) -> Callable[[Scene, tuple[int, int], str], bool]:
    """Whether a scene looks as it is kept."""

    def compare(scene: Scene, size: tuple[int, int], theme: str) -> bool:
        app = scene.build(tmp_path, theme)

        async def run_before(pilot: Pilot[int]) -> None:
            await scene.act(app, pilot)
            await at_rest(app, pilot)

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return compare


async def at_rest(app: MeritoApp, pilot: Pilot[int]) -> None:
    """What a scene started is ended, nothing blinks, and everything is drawn."""
    await quiet(app, pilot)
    if app.asker is not None:
        await app.asker.close()
    for field in app.screen.query(Input):
        field.cursor_blink = False
    before = ""
    while before != (before := app.export_screenshot()):
        await pilot.pause(0.1)


@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=name_of)
@pytest.mark.parametrize("room", ROOMS)
def test_rooms(pictured, room: str, size: tuple[int, int], theme: str) -> None:
    assert pictured(ROOMS[room], size, theme)


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=name_of)
@pytest.mark.parametrize("sheet", SHEETS)
def test_sheets(pictured, sheet: str, size: tuple[int, int]) -> None:
    assert pictured(SHEETS[sheet], size, DEFAULT_THEME)


@pytest.mark.parametrize("pane", NARROW)
def test_one_pane_at_a_time(pictured, pane: str) -> None:
    assert pictured(NARROW[pane], SMALL, DEFAULT_THEME)


def test_without_colour(pictured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert pictured(ROOMS["run"], MIDDLE, DEFAULT_THEME)


@pytest.mark.parametrize("room", NEWCOMER)
def test_nothing_open(pictured, room: str) -> None:
    assert pictured(NEWCOMER[room], SMALL, DEFAULT_THEME)
