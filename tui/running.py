"""From an order to a finished run, under the face that fits: console, plain text, or JSON."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

import msgspec

from core.errors import MeritoError, UsageMistake
from core.models.chat import ModelTrouble
from core.run.events import AnyEvent
from core.run.figures import Figures, figures_of
from core.wording import counted
from tui import settings
from tui.faces import show_json, show_plain
from tui.interruption import until_interrupted
from tui.judging import judging
from tui.order import Order
from tui.session import Session, new_session, resumed_session
from tui.shell_words import typed
from tui.view.plain import summary_lines
from tui.view.wrapping import say

DONE, FAILURES, INTERRUPTED = 0, 1, 130
OPERATOR = "operator"

Began = Callable[[Session], object]


def perform(
    order: Order,
    *,
    resume: str | None,
    plain: bool,
    as_json: bool,
    began: Began | None = None,
) -> int:
    """Run it and return the exit code. `began` is told which run it is, once it is put together."""
    person = sys.stdout.isatty() and sys.stdin.isatty()
    if person and not (plain or as_json):
        return _in_console(order, resume, began)
    who = settings.person(order.who) if person and not as_json else None
    # On one stream of lines a question and its answer stand together: nothing goes on beside it.
    return asyncio.run(_told(msgspec.structs.replace(order, parks=0), resume, as_json, who, began))


@asynccontextmanager
async def opened(
    order: Order, resume: str | None, began: Began | None = None
) -> AsyncGenerator[Session, None]:
    """A session for a new run, or for one that goes on."""
    made = new_session(order) if resume is None else resumed_session(resume or None, order)
    async with made as session:
        if began is not None:
            began(session)
        yield session


def _in_console(order: Order, resume: str | None, began: Began | None) -> int:
    from tui.console.live import run_live

    patient = msgspec.structs.replace(order, waits_for_model=True)
    return run_live(lambda: opened(patient, resume, began), patient)


async def _told(
    order: Order, resume: str | None, as_json: bool, who: str | None, began: Began | None
) -> int:
    """`who` is at the terminal; None where nobody is."""
    if order.regime == OPERATOR and who is None:
        raise _nobody_there()
    async with opened(order, resume, began) as session:
        if session.settings.regime == OPERATOR and who is None:
            raise _nobody_there()
        if resume == "":
            say(_which_goes_on(session), err=as_json)
        if not as_json:
            for line in session.choice.why:
                say(line)
        try:
            finished = await _to_its_end(session, as_json, who)
        except ModelTrouble as trouble:
            say(f"merito: {trouble}", err=True)
            _say_how_to_go_on(session)
            return FAILURES
        if not finished:
            _say_how_to_go_on(session)
            return INTERRUPTED
        figures = figures_of(session.store.events(session.run))
        if not as_json:
            _say_closing_words(session, figures)
        return DONE if session.satisfied(figures) else FAILURES


def _nobody_there() -> MeritoError:
    return UsageMistake(
        "The regime 'operator' asks a person, and there is nobody at a terminal here.",
        "Run it in a terminal, or choose --regime execution.",
    )


def _which_goes_on(session: Session) -> str:
    """Said where nobody named the run."""
    done = f"{session.finished_before:,} of {counted(len(session.questions), 'question')} done"
    return f"The run {session.run} was left unfinished and goes on ({done})."


async def _to_its_end(session: Session, as_json: bool, who: str | None) -> bool:
    """Show the run; False where the user interrupted it. The model call under way is given up,
    what was committed stays."""
    events = session.events()
    if session.settings.regime == OPERATOR and who is not None:
        events = judging(events, session, who)
    told = show_json(events) if as_json else show_plain(events, earlier=session.earlier())
    return await until_interrupted(told)


def _say_closing_words(session: Session, figures: Figures) -> None:
    """What the run came to by the store's account, and where to look at it again."""
    for line in ("", *summary_lines(figures), ""):
        say(line)
    for line, command in (("Play it again:    ", "replay"), ("In the console:   ", "console")):
        say(line, command=typed(command, session.run, store=session.store.path))


def _say_how_to_go_on(session: Session) -> None:
    command = typed("run", "--resume", session.run, store=session.store.path)
    say("Everything finished is kept. Go on with:", command=command, err=True)


async def told_again(events: AsyncIterator[AnyEvent], as_json: bool) -> int:
    """A stored run, told again as it was told when it ran, to its figures; the exit code."""
    if as_json:
        return DONE if await until_interrupted(show_json(events)) else INTERRUPTED
    figures = Figures()
    if not await until_interrupted(show_plain(_counted(events, figures))):
        return INTERRUPTED
    for line in ("", *summary_lines(figures)):
        say(line)
    return DONE


async def _counted(events: AsyncIterator[AnyEvent], figures: Figures) -> AsyncIterator[AnyEvent]:
    """Each event in the figures, too. That it is of the past is said before the first."""
    async for event in events:
        if not figures.run:
            then = datetime.fromtimestamp(event.at).astimezone()
            say(f"A replay of {then:%Y-%m-%d %H:%M}: no model is asked, no database is opened.")
        figures.apply(event)
        yield event
