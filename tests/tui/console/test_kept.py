"""What the console keeps between two starts, and what it does with a file that makes no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.streams import run_events
from tests.tui.console.stage import console, settled, until
from tui.console.kept import Kept
from tui.console.preferences import Preferences
from tui.console.rooms import ROOMS
from tui.console.screens.run import RunScreen
from tui.console.widgets.shelf import STALE, Shelf


def remembering(path: Path) -> Preferences:
    kept = Kept(path)
    return Preferences(theme=kept.state.theme or "merito-dark", kept=kept)


async def test_theme_and_widths_are_there_again_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state" / "console.json"
    app = console(preferences=remembering(path))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        narrow = app.screen.query_one("#queue").outer_size.width
        await pilot.press("T", "greater_than_sign", "greater_than_sign")
        await settled(pilot)
        wide = app.screen.query_one("#queue").outer_size.width
        assert wide >= narrow + 8
        await pilot.press("less_than_sign", "greater_than_sign", "greater_than_sign", "less_than_sign")
        await settled(pilot)
        assert app.screen.query_one("#queue").outer_size.width == wide
        app.action_leave()
    app = console(preferences=remembering(path))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert app.theme == "merito-light"
        assert app.screen.query_one("#queue").outer_size.width == wide
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert app.screen.query_one("#queue").outer_size.width == 80, "one pane at a time"


async def test_filters_and_staying_are_there_again_as_far_as_they_fit(tmp_path: Path) -> None:
    path = tmp_path / "console.json"
    events = run_events(24)
    app = console(events, preferences=remembering(path))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("f", "2", "p", "t")
        await until(pilot, lambda: len(app.screen.query_one(Shelf).filters) == 2)
        shelf = app.screen.query_one(Shelf)
        filters, shown = shelf.filters, [each.id for each in shelf.shown]
        assert set(filters) == {"polarity", "failure"}
        app.action_leave()
    app = console(events, preferences=remembering(path))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, RunScreen)
        assert not app.screen.following
        await pilot.press("2")
        await settled(pilot)
        shelf = app.screen.query_one(Shelf)
        assert (shelf.filters, [each.id for each in shelf.shown]) == (filters, shown)
        app.action_leave()
    kept = json.loads(path.read_text())
    kept["rooms"]["memory"] |= {"database": "gone", "state": STALE}
    path.write_text(json.dumps(kept))
    app = console(events, preferences=remembering(path), room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        shelf = app.screen.query_one(Shelf)
        assert (shelf.filters, [each.id for each in shelf.shown]) == (filters, shown)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"theme": 3}', '{"rooms": {"run": {"share": []}}}', "\udcff", "[" * 100_000],
)
async def test_a_broken_file_is_left_aside_with_a_word(tmp_path: Path, content: str) -> None:
    path = tmp_path / "console.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    kept = Kept(path)
    assert f"left aside ({path})" in kept.problem
    assert kept.choices("run") == {}
    assert kept.write() == ""
    assert json.loads(path.read_text()) == {"theme": "", "rooms": {}}


async def test_choices_of_another_version_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "console.json"
    rooms = {
        "run": {"share": 900, "following": "perhaps", "new": 1},
        "memory": {"share": "wide", "state": "[/x]", "database": "gone"},
        "gone": {},
    }
    path.write_text(json.dumps({"theme": "[/x]", "rooms": rooms, "later": 1}))
    app = console(preferences=remembering(path))
    async with app.run_test(size=(120, 40)) as pilot:
        for room in ROOMS:
            await app.action_room(room.name)
            await settled(pilot)
        assert app.theme == "merito-dark"
        assert not [notice for notice in app._notifications if notice.severity == "error"]


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "console.json")
    assert "console.json" in kept.write()
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
