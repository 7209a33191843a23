"""Hostile text in every place that shows data: nothing crashes, nothing vanishes, nothing reaches
the terminal raw."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from core.database.rows import Outcome, ResultTable
from core.errors import MeritoError
from core.memory.entry import ReviewDecision, ReviewState
from core.models.chat import Message
from core.question import Question
from core.run.events import (
    AnswerWritten,
    AttemptJudged,
    EpisodeEnded,
    EpisodeStarted,
    Hint,
    MemoriesRetrieved,
    ModelStumbled,
    PromptSent,
    ReflectionWritten,
    RunStarted,
    SqlExecuted,
    TokenDelta,
    to_json,
)
from tests.streams import EPOCH, run_events, settings
from tests.tui.console.stage import SIZES, Shelves, console, notices, on_screen, settled, until
from tui.console.app import MeritoApp
from tui.console.archive import StoredRun
from tui.console.ink import sql_lines
from tui.console.rooms import ROOMS
from tui.console.screens.base import RoomScreen
from tui.console.screens.dialogs import Confirm, Sheet, Words
from tui.console.screens.runs import ChooseRun
from tui.console.widgets.paper import Block
from tui.view.legible import one_line
from tui.view.plain import PlainView

RUN = StoredRun(id="r", began=EPOCH, about="", questions=8, finished=8)

HOSTILE = {
    "closing tag": "[/x] [/] [/bold] [",
    "bracketed names": "[Table].[Column] [@click=app.quit]x[/] [link=http://x]",
    "braces": "{0} {name} {{}} %s %(x)s $text $ink-bad",
    "escapes": "\x1b[31m\x1b[2J\x1b]0;title\x07 \x9b31m \x1b]52;c;eA==\x07",
    "right to left": "‮gnp.exe‬ שלום مرحبا \u2066x\u2069",
    "wide": "日本語テキスト 👩‍👩‍👧‍👦 🏳️‍🌈 é̀̂ ﷽",
    "controls": "a\x00b\x01c\x7f\r\n\tnext\x0b\x0c\x85\u2028\u2029",
    "surrogates": "\ud800 \udcff x \udfff",
    "endless word": "x" * 3_000,
    "megabyte": "[/m] " + "y" * 1_000_000,
}


def poisoned(text: str) -> list:
    """A run with the text in every field that comes from outside."""
    asked = Question(id=text, database=text, text=text, evidence=text, difficulty=text)
    table = ResultTable(
        outcome=Outcome.OK, columns=(text, text), rows=((text, 1), (None, text)), row_count=2
    )
    poison = {
        RunStarted: lambda event: {
            "questions": (asked,) * 8,
            "settings": settings(dataset=text, strategy=text),
            "model": msgspec.structs.replace(event.model, name=text, engine=text),
            "problems": (text,),
        },
        EpisodeStarted: lambda _event: {"question": asked},
        TokenDelta: lambda _event: {"text": text},
        PromptSent: lambda _event: {
            "hints": (Hint(kind=text, text=text, attempt=0),),
            "template": text,
            "messages": (Message("user", text),),
        },
        AnswerWritten: lambda _event: {"text": text, "sql": text, "extraction": (text,)},
        SqlExecuted: lambda _event: {"sql": text, "result": table, "mended": text},
        AttemptJudged: lambda event: {
            "sql": text,
            "message": text,
            "rule": text,
            "remark": text,
            "judge": text,
            "correction": text,
            "refused": text if event.attempt == 1 and event.failure else "",
        },
        ReflectionWritten: lambda _event: {"text": text},
        ModelStumbled: lambda _event: {"problem": text, "mend": text},
        MemoriesRetrieved: lambda event: {
            "entries": tuple(tainted(entry, text) for entry in event.entries)
        },
        EpisodeEnded: lambda event: {
            "note": text,
            "memory": event.memory and tainted(event.memory, text),
        },
    }
    events = run_events(8, deltas=True, reflections=True)
    return [
        msgspec.structs.replace(event, **poison[type(event)](event)) if type(event) in poison else event
        for event in events
    ]


def tainted(entry, text: str):
    context = msgspec.structs.replace(
        entry.context,
        question=text,
        database=text,
        schema_text=text,
        failed_sql=text,
        message=text,
        evidence=text,
    )
    return msgspec.structs.replace(
        entry,
        context=context,
        revised_sql=text + " changed",
        delta=(text,),
        outcome_message=text,
        encoder_cuts=(text,),
    )


def raw_left(text: str) -> set[str]:
    """Characters on screen that a terminal would act on."""
    return {
        char
        for char in text
        if (ord(char) < 32 and char != "\n")
        or 0x7F <= ord(char) < 0xA0
        or 0xD800 <= ord(char) < 0xE000
        or char in "\u202e\u202c\u2066\u2069\u2028\u2029"
    }


EVERYTHING = " ".join(text[:200] for text in HOSTILE.values())


async def test_every_screen_bears_all_of_it_at_once() -> None:
    await tour(EVERYTHING, (120, 40))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", HOSTILE)
async def test_every_screen_bears_each(name: str, size: tuple[int, int]) -> None:
    await tour(HOSTILE[name], size)


async def tour(text: str, size: tuple[int, int]) -> None:
    """Every screen of a console over a run made of this text."""
    events = poisoned(text)
    library = Shelves(events)
    app = console(events, library=library)
    library.decisions.append(
        ReviewDecision(
            memory=library._entries[0].id, state=ReviewState.REJECTED, who=text, at=EPOCH, remark=text
        )
    )
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.session.view.ended)
        for room in ROOMS:
            await app.action_room(room.name)
            await legible_now(pilot)
            await through_the_panes(pilot, app)
        await through_the_dialogs(pilot, app, text)


async def legible_now(pilot: Pilot[int]) -> None:
    """Nothing on screen is anything that a terminal would act on."""
    app = pilot.app
    assert isinstance(app, MeritoApp)
    await settled(pilot)
    assert raw_left(on_screen(app)) == set(), app.screen


async def through_the_panes(pilot: Pilot[int], app: MeritoApp) -> None:
    """Every pane of the room in front, every row's sheet of the first."""
    room = app.screen
    assert isinstance(room, RoomScreen)
    await pilot.press("g", "down", "down")
    for pane in room.PANES:
        room.front(pane)
        await legible_now(pilot)
    room.front(room.PANES[0])
    await pilot.press("enter")
    await pilot.pause()
    await pilot.press("enter")
    await legible_now(pilot)
    while app.screen is not room:
        app.pop_screen()
        await pilot.pause()


async def through_the_dialogs(pilot: Pilot[int], app: MeritoApp, text: str) -> None:
    """Whatever lies above a screen, made of the text."""
    named = Block(text, 0, lambda _width: sql_lines(text))
    above: list[Callable[[], Screen[Any]]] = [
        lambda: Confirm(one_line(text), one_line(text)),
        lambda: Words(one_line(text), one_line(text)),
        lambda: Sheet(one_line(text), [named], copied=text),
        lambda: ChooseRun([msgspec.structs.replace(RUN, id=text, about=text, ended=text)]),
    ]
    await app.action_room("run")
    await settled(pilot)
    for dialog in above:
        app.push_screen(dialog())
        await legible_now(pilot)
        app.pop_screen()
        await settled(pilot)
    for key in ("question_mark", "J", "colon"):
        await pilot.press(key)
        await legible_now(pilot)
        await pilot.press("escape")
        await settled(pilot)
    app.trouble(MeritoError(text, text))
    app.trouble(ValueError(text))
    app.tell(text)
    app.copy(text, text[:100])
    app.session.failure = app.notice = text
    app.changed()
    await legible_now(pilot)


@pytest.mark.parametrize("name", HOSTILE)
async def test_plain_text_and_json_bear_each(name: str) -> None:
    events = poisoned(HOSTILE[name])
    out = io.StringIO()
    view = PlainView(out)
    for event in events:
        view.show(event)
    assert raw_left(out.getvalue()) == set()
    one_of_each = {type(event): event for event in events if not isinstance(event, TokenDelta)}
    for event in one_of_each.values() if name != "surrogates" else ():
        assert not {byte for byte in to_json(event) if byte < 32}, "JSON escapes them"


@pytest.mark.parametrize("opened", ["slash", "colon"])
async def test_what_is_pasted_into_a_field_is_legible(opened: str) -> None:
    app = console(run_events(2))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press(opened)
        await until(pilot, lambda: isinstance(app.screen.focused, Input))
        app.post_message(events.Paste(EVERYTHING))
        await until(pilot, lambda: app.screen.query_one(Input).value)
        await legible_now(pilot)
        await pilot.press("enter")
        await legible_now(pilot)


@pytest.mark.parametrize("name", ["closing tag", "bracketed names", "braces"])
async def test_nothing_vanishes(name: str) -> None:
    text = HOSTILE[name]
    app = console(poisoned(text))
    async with app.run_test(size=(200, 60)) as pilot:
        await until(pilot, lambda: app.session.view.ended)
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        shown = re.sub(r"\s+", " ", on_screen(app))
        assert text[:40].strip() in shown
        await pilot.press("2")
        await settled(pilot)
        assert text[:40].strip() in re.sub(r"\s+", " ", on_screen(app))


@pytest.mark.parametrize("name", ["closing tag", "escapes", "surrogates", "megabyte"])
async def test_notices_banners_and_the_detail_sheet_bear_it(name: str) -> None:
    text = HOSTILE[name]
    app = console(poisoned(text), notice=text)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        app.trouble(MeritoError(text, text))
        app.trouble(ValueError(text))
        app.session.failure = text
        app.changed()
        await settled(pilot)
        assert notices(app)
        assert raw_left(on_screen(app)) == set()
        await pilot.press("g", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        await settled(pilot)
        assert raw_left(on_screen(app)) == set()


async def test_a_copy_of_surrogates_does_not_break() -> None:
    app = console(poisoned(HOSTILE["surrogates"]))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("c", "C")
        await settled(pilot)
        assert len(notices(app)) >= 1
