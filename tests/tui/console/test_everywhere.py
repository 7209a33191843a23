"""What works on every screen: rooms, help, palette, themes, copying, pictures; and the one table of
actions behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.widgets import OptionList

from tests.tui.console.stage import console, notices, on_screen, settled, sheet, until
from tui.console.actions import ACTIONS, actions_of, bindings_of, key_words
from tui.console.clipboard import native_copy
from tui.console.rooms import ROOMS
from tui.console.screens.base import RoomScreen
from tui.console.screens.dialogs import Sheet

EATEN = {"ctrl+b", "ctrl+a", "ctrl+s", "ctrl+z", "ctrl+j", "ctrl+k", "ctrl+w"}
"""Chords that tmux, flow control, job control or an editor's terminal take."""


def test_every_action_has_a_name_of_its_own_and_a_method_that_does_it() -> None:
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)
    for room in ROOMS:
        screen = room.build()
        app = console()
        for action in actions_of(room.name):
            does = action.does.removeprefix("app.").split("(")[0]
            owner = app if action.does.startswith("app.") else screen
            assert hasattr(owner, f"action_{does}"), action.name


@pytest.mark.parametrize("room", [room.name for room in ROOMS])
def test_no_key_of_a_room_does_two_things(room: str) -> None:
    keys = [key for binding in bindings_of(room) for key in binding.key.split(",")]
    assert len(keys) == len(set(keys))
    assert not set(keys) & {str(number) for number in range(1, len(ROOMS) + 1)}


@pytest.mark.parametrize("room", [room.name for room in ROOMS])
def test_nothing_hangs_on_a_chord_that_something_else_eats(room: str) -> None:
    for action in actions_of(room):
        assert set(action.keys.split(",")) - EATEN, action.name


@pytest.mark.parametrize("room", [room.name for room in ROOMS])
async def test_a_clock_that_ticks_while_the_console_closes_harms_nothing(room: str) -> None:
    app = console(room=room)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        clocks = [timer._callback for timer in (*app._timers, *app.screen._timers)]
    ours = [tick for tick in clocks if tick is not None and _is_ours(tick)]
    assert ours
    app._screen_stacks[app._current_mode].clear()
    with app._context():
        for tick in ours:
            tick()


def _is_ours(tick: Callable[..., Any]) -> bool:
    owner = getattr(tick, "__self__", None)
    return type(owner).__module__.startswith("tui.")


@pytest.mark.parametrize("room", [room.name for room in ROOMS])
async def test_the_help_lists_every_key_of_its_screen(room: str) -> None:
    app = console(room=room)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        await pilot.pause()
        text = app.screen.query_one("#sheet").text
        for action in actions_of(room):
            assert key_words(action) in text
            assert action.about in " ".join(text.split())
        await pilot.press("question_mark")
        assert isinstance(app.screen, RoomScreen)


async def test_the_numbers_go_to_the_rooms() -> None:
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        for number, room in enumerate(ROOMS, start=1):
            await pilot.press(str(number))
            await settled(pilot)
            assert app.current_mode == room.name


async def test_the_palette_finds_and_does_an_action() -> None:
    app = console(hold=20)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"pause")
        await until(pilot, lambda: "pause/go" in on_screen(app))
        # Enter means the chosen line, which the palette marks a moment after it shows the lines.
        await until(pilot, lambda: app.screen.query_one(OptionList).highlighted is not None)
        await pilot.press("enter")
        await until(pilot, lambda: app.staged.control.paused)


async def test_t_goes_round_the_themes_and_everything_is_drawn_again() -> None:
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        first = app.theme
        seen = []
        for _ in range(4):
            await pilot.press("T")
            await settled(pilot)
            seen.append(app.theme)
            assert "Question 8" in sheet(app, "episode")
        assert seen[-1] == first
        assert len(set(seen)) == 4


async def test_textuals_own_themes_have_every_ink() -> None:
    app = console(theme="nord")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert app.theme == "nord"
        assert "Question 8" in sheet(app, "episode")


async def test_an_unknown_theme_falls_back() -> None:
    assert console(theme="[/x]").theme == "merito-dark"


async def test_copying_says_by_which_way_it_went(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("g", "c")
        await settled(pilot)
        assert "Sent the SQL to the terminal's clipboard" in notices(app)[-1]
        assert app.clipboard.startswith("SELECT name")
        await pilot.press("C")
        await settled(pilot)
        assert app.clipboard.splitlines()[0] == "name\tCOUNT(*)"


async def test_a_clipboard_tool_is_used_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tmp_path / "wl-copy"
    tool.write_text(f"#!/bin/sh\n/bin/cat > {tmp_path}/copied\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert await native_copy("SELECT 'é'")
    assert (tmp_path / "copied").read_text() == "SELECT 'é'"


async def test_a_clipboard_tool_that_fails_is_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tmp_path / "pbcopy"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not await native_copy("x")


async def test_a_picture_is_saved_where_the_user_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("S")
        await until(pilot, lambda: list(tmp_path.glob("*.svg")))
        await settled(pilot)
        assert any(notice.startswith("Saved ") for notice in notices(app))


async def test_a_click_on_a_tab_goes_there_and_one_on_a_row_selects_it() -> None:
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.click("#queue", offset=(10, 3))
        await settled(pilot)
        assert app.screen.queue.position == 2
        await pilot.click("#head", offset=(18, 0))
        await until(pilot, lambda: app.current_mode == "memory")
