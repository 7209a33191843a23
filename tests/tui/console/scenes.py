"""What pictures are taken of: every room with something in it, and every sheet that opens above one.
A scene builds its console and says how to get there; nothing in it depends on the clock."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import OptionList

from core.database.files import DatabaseFolder
from core.run.events import (
    AnyEvent,
    AttemptJudged,
    EpisodeOutcome,
    JudgementAwaited,
    SqlExecuted,
)
from stores.specs import KeptPool, KeptSelection
from tests.core.selection.pools import choose, pool, preferring
from tests.streams import EPOCH, EventWriter, episode_events, question, run_events
from tests.tui.console.stage import Staged, console, replaced, settled, until
from tests.tui.console.studied import compared, computed, room, study
from tui.console.app import MeritoApp
from tui.console.asker import Asker, Source
from tui.console.screens.ask import AskField, AskScreen
from tui.console.screens.base import RoomScreen
from tui.console.screens.correct import Correct
from tui.console.screens.dialogs import Sheet
from tui.console.session import Opened, Session
from tui.console.widgets.judgebar import JudgeBar
from tui.workbench import Workbench

QUESTIONS = 24
ASKED = question(0)

Act = Callable[[MeritoApp, Pilot[int]], Awaitable[None]]


@dataclass(frozen=True)
class Scene:
    """A console, and the way to what the picture shows."""

    build: Callable[[Path, str], MeritoApp]
    """From a folder of its own and the name of a theme."""
    act: Act


# Ways.


def keys(*pressed: str) -> Act:
    """Press keys, each once everything that the one before did is shown."""

    async def act(_app: MeritoApp, pilot: Pilot[int]) -> None:
        await settled(pilot)
        for key in pressed:
            await pilot.press(key)
            await settled(pilot)

    return act


async def quiet(app: MeritoApp, pilot: Pilot[int]) -> None:
    """Notices go by themselves after a while, which depends on the machine: here at once."""
    app.clear_notifications()
    await until(pilot, lambda: not app.screen.query("Toast"))


def opens(kind: type[object], *pressed: str) -> Act:
    """Press keys of which the last one opens a screen of its own."""

    async def act(app: MeritoApp, pilot: Pilot[int]) -> None:
        await keys(*pressed[:-1])(app, pilot)
        await quiet(app, pilot)
        await pilot.press(pressed[-1])
        await until(pilot, lambda: isinstance(app.screen, kind))
        await pilot.pause()

    return act


async def _palette(app: MeritoApp, pilot: Pilot[int]) -> None:
    await opens(CommandPalette, "g", "colon")(app, pilot)
    await pilot.press(*"attempt")
    lines = app.screen.query_one(OptionList)
    await until(pilot, lambda: lines.option_count and lines.highlighted is not None)
    await pilot.pause()


async def _compared(app: MeritoApp, pilot: Pilot[int]) -> None:
    await compared(pilot, app)


async def _experiments(app: MeritoApp, pilot: Pilot[int]) -> None:
    await computed(pilot, app)
    await pilot.press("down")
    await computed(pilot, app)


async def _asked(app: MeritoApp, pilot: Pilot[int]) -> None:
    """A question is put, and its second answer waits for a word."""
    await keys("enter")(app, pilot)
    await until(pilot, lambda: cast("AskScreen", _room(app)).databases.schema is not None)
    await keys("down", "enter", "a")(app, pilot)
    await until(pilot, lambda: isinstance(app.focused, AskField))
    cast("AskField", app.focused).value = ASKED.text
    await pilot.press("enter")
    await until(pilot, lambda: _room(app).session.view.waiting)
    await _armed(app, pilot)


async def _armed(app: MeritoApp, pilot: Pilot[int]) -> None:
    await settled(pilot)
    await until(pilot, lambda: _room(app).query_one(JudgeBar).armed)
    _stop_the_clock(_room(app).session)
    app.changed()
    await settled(pilot)


async def _correcting(app: MeritoApp, pilot: Pilot[int]) -> None:
    """The person's own SQL has run, and its rows are asked about."""
    await _asked(app, pilot)
    await quiet(app, pilot)
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, Correct))
    screen = cast("Correct", app.screen)
    await until(pilot, lambda: screen.editor.has_focus)
    screen.editor.text = (
        'SELECT name, "full weight"\nFROM harvest\nWHERE "full weight" > 2\nORDER BY name'
    )
    await pilot.press("ctrl+r")
    await until(pilot, lambda: screen.armed)
    await pilot.pause(0.6)


def _room(app: MeritoApp) -> RoomScreen:
    found = app.screen_stack[0]
    assert isinstance(found, RoomScreen)
    return found


def _stop_the_clock(session: Session) -> None:
    """A live run grows older on the screen: not in a picture."""
    session._heard = time.monotonic() + 3_600


# Consoles.


def _run(room_name: str) -> Callable[[Path, str], MeritoApp]:
    return lambda _folder, theme: console(run_events(QUESTIONS), room=room_name, theme=theme)


def _nothing(room_name: str) -> Callable[[Path, str], MeritoApp]:
    return lambda _folder, theme: MeritoApp(room=room_name, theme=theme, who="ana")


def _studied(_folder: Path, theme: str) -> MeritoApp:
    return room(study(), theme=theme)


def _waiting(_folder: Path, theme: str) -> MeritoApp:
    """Two answers of a run wait for a person's word."""
    events = run_events(4, plans=[(EpisodeOutcome.REPAIRED, 2)])
    first = next(i for i, e in enumerate(events) if isinstance(e, SqlExecuted) and e.attempt == 1)
    kept = events[: first + 1]
    seq, at = kept[-1].seq, kept[-1].at
    asked = JudgementAwaited(run="run-1", seq=seq + 1, at=at + 1, position=0, attempt=1)
    return console([*kept, asked], theme=theme)


class Choices:
    """Choices from two questions' pools and one where all agree, by two methods."""

    def __init__(self) -> None:
        self._kept: list[KeptSelection] = []

    async def pools(self) -> Sequence[KeptPool]:
        """The one pool."""
        self._kept = await _choices()
        methods = tuple(dict.fromkeys(each.selection.method for each in self._kept))
        return [KeptPool(pool=self._kept[0].pool, questions=3, methods=methods, at=EPOCH)]

    async def selections(self, pool: str) -> Sequence[KeptSelection]:
        """All of them."""
        return self._kept


def _chosen(_folder: Path, theme: str) -> MeritoApp:
    app = MeritoApp(room="selection", theme=theme, who="ana")
    app.selections = Choices()
    return app


async def _choices() -> list[KeptSelection]:
    tastes = (lambda index: float(-index), lambda index: float(index % 3), lambda _: 0.0)
    made = []
    for place, (sizes, errors) in enumerate((((4, 2), 1), ((2, 2, 1), 0), ((3,), 1))):
        for method in ("map-sql", "majority"):
            candidates = pool(*sizes, errors=errors)
            selection, _ = await choose(candidates, preferring(tastes[place]), method)
            made.append(
                KeptSelection(
                    pool="pools/orchards.jsonl",
                    place=place,
                    at=EPOCH,
                    question=question(place),
                    candidates=candidates,
                    selection=selection,
                    consistent=None if place else True,
                )
            )
    return made


class PreparedAsker:
    """Answers every question with the same episode, on a database that is there."""

    def __init__(self, root: Path) -> None:
        self.sources = (Source("orchard", root, "sample"), Source("tramway", root, "sample"))
        self._bench = Workbench(DatabaseFolder(root))

    def workbench(self, _source: Source) -> Workbench:
        """The database by hand."""
        return self._bench

    @asynccontextmanager
    async def asked(self, _source: Source, _text: str) -> AsyncGenerator[Opened, None]:
        """The answers, up to the second, which waits for a word."""
        staged = Staged(_two_answers())
        yield Opened(staged(), staged.control, None, None, self._bench)

    async def close(self) -> None:
        """End the sandbox."""
        await self._bench.close()


def _two_answers() -> list[AnyEvent]:
    known = [e.memory for e in run_events(8, run="run-0") if getattr(e, "memory", None)]
    opening = replaced(run_events(1)[0], questions=(ASKED,))
    episode = episode_events(0, EpisodeOutcome.FAILED, 1, asked=ASKED, known=known)
    last = next(i for i, e in enumerate(episode) if isinstance(e, AttemptJudged) and e.attempt == 1)
    writer = EventWriter(seq=episode[last - 1].seq, at=episode[last - 1].at)
    writer.add(JudgementAwaited, position=0, attempt=1)
    return [opening, *episode[:last], *writer.events]


def _asking(folder: Path, theme: str) -> MeritoApp:
    for name in ("orchard", "tramway"):
        (folder / name).mkdir(exist_ok=True)
        with sqlite3.connect(folder / name / f"{name}.sqlite") as database:
            database.executescript(
                "DROP TABLE IF EXISTS harvest;"
                'CREATE TABLE harvest (id INTEGER PRIMARY KEY, name TEXT, "full weight" REAL);'
                "INSERT INTO harvest VALUES (1, 'Nørre Allé', 3.0), (2, 'żółw', 2.5), (3, NULL, 1);"
            )
        database.close()
    asker = cast("Asker", PreparedAsker(folder))
    return MeritoApp(room="ask", theme=theme, who="ana", asker=asker)


_TO_A_REPAIR = ("g", "j", "j", "j")

ROOMS: dict[str, Scene] = {
    "run": Scene(_run("run"), keys(*_TO_A_REPAIR)),
    "memory": Scene(_run("memory"), keys("j")),
    "replay": Scene(_run("replay"), keys(*"nnnn", *["right_curly_bracket"] * 2)),
    "experiments": Scene(_studied, _experiments),
    "ask": Scene(_asking, _asked),
    "selection": Scene(_chosen, keys()),
}
"""Every room at work."""

SHEETS: dict[str, Scene] = {
    "help": Scene(_run("run"), opens(Sheet, "question_mark")),
    "palette": Scene(_run("run"), _palette),
    "attempt": Scene(_run("run"), opens(Sheet, *_TO_A_REPAIR, "tab", "enter")),
    "compare": Scene(_studied, _compared),
    "judgement": Scene(_waiting, _armed),
    "correction": Scene(_asking, _correcting),
}
"""What opens above a room."""

NARROW: dict[str, Scene] = {
    "episode": Scene(_run("run"), keys(*_TO_A_REPAIR, "tab")),
    "memories": Scene(_run("run"), keys(*_TO_A_REPAIR, "tab", "tab")),
    "memory entry": Scene(_run("memory"), keys("j", "tab")),
    "tables": Scene(_studied, lambda app, pilot: _then(app, pilot, _experiments, "tab", "tab")),
    "grounds": Scene(_chosen, keys("tab")),
}
"""Panes that stand behind others on a narrow screen."""

NEWCOMER: dict[str, Scene] = {name: Scene(_nothing(name), keys()) for name in ROOMS}
"""What a newcomer reads."""


async def _then(app: MeritoApp, pilot: Pilot[int], first: Act, *pressed: str) -> None:
    await first(app, pilot)
    await keys(*pressed)(app, pilot)
