"""Jump mode: a letter over every pane and every row in view, and one key that goes there."""

from __future__ import annotations

import pytest

from tests.streams import run_events
from tests.tui.console.stage import SIZES, console, settled, until
from tui.console.app import MeritoApp
from tui.console.screens.base import RoomScreen
from tui.console.screens.jump import Jump, Letter


async def letters(app: MeritoApp, pilot) -> dict[str, tuple[int, int]]:
    await pilot.press("J")
    await until(pilot, lambda: isinstance(app.screen, Jump) and app.screen.query(Letter))
    await pilot.pause()
    return {str(each.render()): tuple(each.region.offset) for each in app.screen.query(Letter)}


async def test_one_key_goes_to_a_row_and_one_to_a_pane() -> None:
    app = console(run_events(24))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("g")
        there = await letters(app, pilot)
        queue = app.screen_stack[0].query_one("#queue")
        assert there["f"][1] == queue.content_region.y + 5
        await pilot.press("f")
        await settled(pilot)
        assert app.screen.queue.position == 5
        there = await letters(app, pilot)
        assert there["C"][1] == app.screen_stack[0].query_one("#memories").region.y
        await pilot.press("C")
        await settled(pilot)
        assert app.screen.focused.id == "memories"


@pytest.mark.parametrize("key", ["escape", "exclamation_mark", "down"])
async def test_any_other_key_leaves_everything_as_it_was(key: str) -> None:
    app = console(run_events(24))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        before = app.screen.queue.position
        await letters(app, pilot)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, RoomScreen))
        assert app.screen.queue.position == before


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_letters_stand_on_what_they_name_at_every_size(size: tuple[int, int]) -> None:
    app = console(run_events(90))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        there = await letters(app, pilot)
        assert len(there) >= min(20, size[1] - 8)
        assert len(set(there.values())) == len(there)
        assert all(0 <= x < size[0] and 0 <= y < size[1] for x, y in there.values())
        await pilot.resize_terminal(110, 30)
        await until(pilot, lambda: isinstance(app.screen, RoomScreen))
