"""Started with no arguments and no store, the console says on each screen what to do next, in words
that are true: the keys are bound, under the user's settings too, and the commands exist. What somebody
makes meanwhile shows up without a restart."""

from __future__ import annotations

import asyncio
import pickle
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

import click
import pytest
from textual.pilot import Pilot

from core.memory.entry import ReviewState
from core.memory.jsonl import Reviewed, write
from stores.store import Store
from tests.core.run.stage import RIGHT
from tests.streams import memory_entry, run_events
from tests.tui.console.oracle import asking_console
from tests.tui.console.stage import console, notices, on_screen, settled, until
from tui import settings
from tui.commands.console import command
from tui.console import live
from tui.console.app import MeritoApp
from tui.console.keys import Keys, Row, keys_from
from tui.console.preferences import Preferences
from tui.console.rooms import ROOMS
from tui.console.screens import correct, dialogs
from tui.console.screens.ask import AskScreen
from tui.console.screens.base import RoomScreen
from tui.console.screens.correct import Correct
from tui.console.stored import StoreArchive
from tui.console.stored_library import StoreLibrary
from tui.console.waiting import arrivals
from tui.console.widgets import judgebar
from tui.console.widgets.editor import SqlEditor
from tui.console.widgets.judgebar import JudgeBar
from tui.console.widgets.queue import Queue
from tui.console.widgets.shelf import Shelf
from tui.console.widgets.studies import StudyList
from tui.main import cli

PRESS = re.compile(r"[Pp]ress (\S+?)(?:, ([A-Z]\w+))?[.,]?\s")
"""A key in the words, and the room that it is said to lead to."""
DOES = re.compile(r"(?<!\S)([a-zA-Z]|[a-z]+\+.|f\d+) (?:opens|looks|shows|imports|chooses|follows)")
"""A key in the words, and what it is said to do."""
TYPE = re.compile(r"merito [a-z].*")
"""A command in the words."""

HOLD_RUNS = ("run", "memory", "replay", "experiments")
"""The rooms that show what runs left behind."""

CHANGED = {
    "room.run": "alt+r",
    "room.memory": "alt+m",
    "room.replay": "alt+p",
    "room.experiments": "alt+e",
    "room.ask": "alt+a",
    "room.selection": "alt+s",
    "all.help": "f9",
    "all.search": "f2",
    "ask.write": "f6",
    "ask.open": "f7",
    "selection.reload": "f8",
    "watch.follow": "f3",
    "memory.undo": "f4",
    "memory.unmark": "f6",
    "memory.import": "f7",
    "replay.open": "f6",
    "replay.bookmark": "f7",
    "replay.bookmarks": "f8",
}
"""Settings of somebody who likes other keys for whatever the words name."""


def under(changed: dict[str, str]) -> Preferences:
    keys = keys_from({name: Row(key, "merito.toml") for name, key in changed.items()})
    assert not keys.troubles
    return Preferences(keys=keys)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], MeritoApp]:
    """Makes the console as `merito console` with no arguments does, under some keys."""
    made: list[MeritoApp] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "default_store", lambda: tmp_path / "data" / "merito.sqlite")
    monkeypatch.delenv("MERITO_STORE", raising=False)
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.headless_driver:HeadlessDriver")
    monkeypatch.setattr(live, "run_console", made.append)

    def start(changed: dict[str, str]) -> MeritoApp:
        monkeypatch.setattr(live, "load_preferences", lambda _theme: under(changed))
        assert command.main([], standalone_mode=False) == 0
        return made[-1]

    return start


def exists(line: str) -> bool:
    """Whether the command line names a command and options that there are."""
    here: click.Command = cli
    for word in shlex.split(line)[1:]:
        if isinstance(here, click.Group):
            found = here.get_command(click.Context(here), word)
            assert found is not None, line
            here = found
        elif word.startswith("-"):
            assert word in {opt for param in here.params for opt in param.opts}, line
    return not isinstance(here, click.Group)


@pytest.mark.slow
@pytest.mark.parametrize("changed", [{}, CHANGED], ids=["usual keys", "other keys"])
async def test_every_room_says_what_to_do_next(
    started: Callable[[dict[str, str]], MeritoApp], changed: dict[str, str]
) -> None:
    app = started(changed)
    keys: Keys = app.preferences.keys
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for room in ROOMS:
            await enter(app, pilot, room.name)
            lines = await every_pane(app, pilot)
            words = " ".join(lines)
            bound = {keys.shown(action.name) for action in keys.actions_of(room.name)}
            bound |= set(doors := {keys.shown(f"room.{each.name}"): each.title for each in ROOMS})
            said = PRESS.findall(words)
            assert {key for key, _ in said} | set(DOES.findall(words)) <= bound
            assert all(doors[key] == title for key, title in said if title)
            typed = [found for line in lines for found in TYPE.findall(line)]
            assert typed, "each room names a command that helps"
            assert all(exists(line) for line in typed)
            if room.name in HOLD_RUNS:
                assert "merito demo --recorded" in typed, "what works with no model"
            if room.name == "experiments":
                assert "merito bench repair sample --limit 20" in typed


async def enter(app: MeritoApp, pilot: Pilot[Any], room: str) -> None:
    """Go to a room by its key."""
    await pilot.press(app.preferences.keys.named(f"room.{room}").keys.split(",")[0])
    await until(pilot, lambda: app.current_mode == room)
    await settled(pilot)


async def every_pane(app: MeritoApp, pilot: Pilot[Any]) -> list[str]:
    """The lines that a screen with one pane at a time shows on the walk round all of them."""
    screen = app.screen_stack[0]
    assert isinstance(screen, RoomScreen)
    lines = []
    for pane in screen.PANES:
        screen.front(pane)
        await settled(pilot)
        lines += [line.strip("┃│ ") for line in on_screen(app).splitlines()[2:-1]]
    return lines


FLOWS = (
    ("replay", ["down"], "(f3 follows)", []),
    ("run", ["f2", *"qqq"], "Press f2 and then esc", ["escape"]),
    ("memory", ["f2", *"qqq"], "Press f6 to remove", ["escape"]),
    ("memory", ["r"], "f4 takes it back.", []),
    ("memory", ["asterisk", "r"], "f4 takes all of them back", ["escape"]),
    ("replay", ["f8"], "f7 sets one", ["escape"]),
)
"""Room, keys, what is then said, and the keys that lead back."""


async def test_what_is_said_on_the_way_names_the_keys_in_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dialogs, "GUARD", 0.0)
    app = console(run_events(8), preferences=under(CHANGED))
    async with app.run_test(size=(120, 40)) as pilot:
        for room, pressed, words, back in FLOWS:
            await enter(app, pilot, room)
            await pilot.press(*pressed)
            await until(pilot, lambda said=words: said in " ".join([on_screen(app), *notices(app)]))
            await pilot.press(*back)
            await until(pilot, lambda: app.screen is app.screen_stack[0])
            await settled(pilot)


@pytest.mark.parametrize("changed", [{}, CHANGED], ids=["usual keys", "other keys"])
async def test_the_tabs_show_the_keys_in_force_and_leave_room_for_the_runs_state(
    changed: dict[str, str],
) -> None:
    app = console(run_events(4), preferences=under(changed))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        first = on_screen(app).splitlines()[0]
        assert all(app.preferences.keys.shown(f"room.{room.name}") in first for room in ROOMS)
        assert "finished" in first


async def test_a_search_that_leaves_nothing_is_taken_back_as_it_says() -> None:
    app = console(run_events(8))
    async with app.run_test(size=(80, 24)) as pilot:
        for room in ("run", "replay", "experiments"):
            await enter(app, pilot, room)
            await pilot.press("slash", *"qqq", "enter")
            await until(pilot, lambda: "Press / and then esc to see all of them." in on_screen(app))
            await pilot.press("slash", "escape")
            await until(pilot, lambda: "matches the search" not in on_screen(app))


@pytest.mark.slow
async def test_a_store_that_somebody_makes_meanwhile_shows_up(tmp_path: Path) -> None:
    path = tmp_path / "merito.sqlite"
    events = run_events(8)
    with ExitStack() as stack:
        app = MeritoApp(to_come=lambda: arrivals(stack, path, own=lambda: False), stored=True)
        async with app.run_test(size=(120, 40)) as pilot:
            for room in ("memory", "replay", "experiments"):
                await enter(app, pilot, room)
                assert "No store is open" in on_screen(app)
            with Store.open(path, create=True, durability="OFF") as theirs:
                await until(pilot, lambda: "No run is stored yet." in on_screen(app))
                await enter(app, pilot, "replay")
                assert "No run is stored yet." in on_screen(app)
                await enter(app, pilot, "memory")
                theirs.append(events[:-1])
                shelf = app.screen_stack[0].query_one(Shelf)
                await until(pilot, lambda: shelf.row_count)
                assert "Another Merito is writing to" in on_screen(app)
                await enter(app, pilot, "run")
                await until(pilot, lambda: "running" in on_screen(app))
                theirs.append(events[-1:])
                await until(pilot, lambda: "finished" in on_screen(app))
                await enter(app, pilot, "replay")
                await until(pilot, lambda: app.screen_stack[0].query_one(Queue).row_count)
                await enter(app, pilot, "experiments")
                await until(pilot, lambda: app.screen_stack[0].query_one(StudyList).row_count)


@pytest.mark.slow
async def test_a_writer_that_goes_without_a_word_is_no_longer_told_of(tmp_path: Path) -> None:
    path = tmp_path / "merito.sqlite"
    with ExitStack() as stack:
        theirs = stack.enter_context(Store.open(path, create=True, durability="OFF"))
        theirs.append(run_events(8)[:20])
        store = stack.enter_context(Store.open(path, mode="review"))
        app = MeritoApp(
            events=live._watched(store, "run-1"),
            library=StoreLibrary(store),
            archive=StoreArchive(store),
            notice=store.notice,
            stored=True,
        )
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "> running" in on_screen(app))
            assert "Another Merito is writing to" in on_screen(app)
            await enter(app, pilot, "experiments")
            await until(pilot, lambda: on_screen(app).count("> running") == 2)
            theirs.close()
            gone = monotonic()
            await until(pilot, lambda: "cut off" in on_screen(app) and "running" not in on_screen(app))
            await until(pilot, lambda: "Another Merito" not in on_screen(app))
            assert monotonic() - gone < 4, "two looks, and a busy machine"


@pytest.mark.slow
async def test_what_comes_and_is_no_store_is_told_and_a_store_still_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "merito.sqlite"
    with ExitStack() as stack:
        app = MeritoApp(to_come=lambda: arrivals(stack, path, own=lambda: False), stored=True)
        async with app.run_test(size=(120, 40)) as pilot:
            path.write_text("half a copy")
            await until(pilot, lambda: "is no Merito store" in (app.notice or ""))
            path.unlink()
            with Store.open(tmp_path / "made.sqlite", create=True, durability="OFF") as made:
                made.append(run_events(4))
            (tmp_path / "made.sqlite").rename(path)
            await until(pilot, lambda: "finished" in on_screen(app))
            assert not app.notice


@pytest.mark.parametrize("read_only", [False, True])
def test_the_first_run_in_a_store_without_any_is_shown_as_it_is_made(
    read_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, events = tmp_path / "merito.sqlite", run_events(4)
    Store.open(path, create=True, durability="OFF").close()

    async def look(app: MeritoApp) -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await enter(app, pilot, "run")
            assert "it is shown here as soon as it begins" in " ".join(on_screen(app).split())
            writing = "import pickle, sys; from stores.store import Store;" + (
                "Store.open(sys.argv[1]).append(pickle.load(sys.stdin.buffer))"
            )
            writer = await asyncio.create_subprocess_exec(
                sys.executable, "-c", writing, str(path), stdin=subprocess.PIPE
            )
            await writer.communicate(pickle.dumps(events))
            await until(pilot, lambda: "finished" in on_screen(app))
            queue = app.screen_stack[0].query_one(Queue)
            assert queue.row_count == 4

    monkeypatch.setattr(live, "run_console", lambda app: asyncio.run(look(app)))
    monkeypatch.setattr(live, "load_preferences", lambda _theme: Preferences())
    assert live.open_console(path, None, read_only=read_only, theme=None) == 0


async def test_what_comes_and_is_no_store_is_told(tmp_path: Path) -> None:
    path = tmp_path / "merito.sqlite"
    with ExitStack() as stack:
        app = MeritoApp(to_come=lambda: arrivals(stack, path, own=lambda: False), stored=True)
        async with app.run_test(size=(120, 40)) as pilot:
            await settled(pilot)
            path.write_text("[/x] no store" * 20, encoding="utf-8")
            await until(pilot, lambda: "is no Merito store" in (app.notice or ""))
            await enter(app, pilot, "memory")
            assert "No store is open" in on_screen(app)


async def test_memories_that_another_process_imports_into_a_new_store_can_be_approved(
    tmp_path: Path,
) -> None:
    """The whole way of `merito memory import` and the console beside it."""
    write(tmp_path / "lessons", [Reviewed(entry=memory_entry(1, run="elsewhere", confirmed=False))])
    path = tmp_path / "merito.sqlite"
    with ExitStack() as stack:
        app = MeritoApp(
            to_come=lambda: arrivals(stack, path, own=lambda: False), stored=True, who="ana"
        )
        async with app.run_test(size=(120, 40)) as pilot:
            await enter(app, pilot, "memory")
            words = ["memory", "import", str(tmp_path / "lessons"), "--store", str(path)]
            importing = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tui.main", *words, stdout=subprocess.DEVNULL
            )
            assert await asyncio.wait_for(importing.wait(), 60) == 0
            shelf = app.screen_stack[0].query_one(Shelf)
            await until(pilot, lambda: shelf.row_count == 1)
            await pilot.press("a")
            await until(pilot, lambda: any("approved" in words for words in notices(app)))
    with Store.open(path, mode="read") as store:
        (entry,) = store.entries()
        assert [(each.state, each.who) for each in store.history(entry.id)] == [
            (ReviewState.APPROVED, "ana")
        ]


async def test_what_the_first_question_of_ones_own_teaches_shows_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Ask room makes the store; nobody warns of another process that writes to it."""
    for module in (judgebar, correct):
        monkeypatch.setattr(module, "GUARD", 0.001)
    path = tmp_path / "merito.sqlite"
    with ExitStack() as stack:
        app = asking_console(
            tmp_path, to_come=lambda: arrivals(stack, path, own=lambda: app.asker.writing), stored=True
        )
        async with app.run_test(size=(120, 40)) as pilot:
            screen = app.screen_stack[0]
            assert isinstance(screen, AskScreen)
            await until(pilot, lambda: screen.databases.schema is not None)
            await pilot.press("a", *"Which boats have a crew beyond 3?", "enter")
            await until(pilot, lambda: screen.session.view.waiting)
            await until(pilot, lambda: screen.query_one(JudgeBar).armed)
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, Correct))
            app.screen.query_one(SqlEditor).text = RIGHT
            await pilot.press("ctrl+r")
            await until(pilot, lambda: app.screen.armed)
            await pilot.press("y")
            await until(pilot, lambda: not screen.session.live)
            await enter(app, pilot, "memory")
            shelf = app.screen_stack[0].query_one(Shelf)
            await until(pilot, lambda: shelf.row_count == 1)
            await enter(app, pilot, "run")
            await until(pilot, lambda: "finished" in on_screen(app))
            assert "Another Merito" not in on_screen(app)
