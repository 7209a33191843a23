"""One question, asked on the command line and judged there."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from core.database.files import DatabaseFolder, check_database
from core.errors import MeritoError
from core.question import Question
from core.run.control import Control, Judgement
from core.run.events import AnyEvent, JudgementAwaited
from tui.running import perform
from tui.session import Order

KEYS = {"y": "right", "n": "wrong", "s": "skip", "e": "write the SQL myself"}


def ask(order: Order, text: str, evidence: str, *, plain: bool, as_json: bool) -> int:
    """Put the question, show how it is answered, and let a person at a terminal judge it."""
    person = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    database, root = _database(order)
    question = Question(id="asked", database=database, text=_asked(text), evidence=evidence.strip())
    ready = msgspec.structs.replace(
        order,
        root=root,
        questions=(question,),
        regime=order.regime or ("operator" if person else "execution"),
    )
    return perform(
        ready,
        resume=None,
        plain=plain or person,
        as_json=as_json,
        listener=_judging if person and ready.regime == "operator" else None,
    )


def _asked(text: str) -> str:
    if not text.strip():
        raise MeritoError("The question is empty.", "Say what you want to know.")
    # A byte that is no UTF-8 reaches us as half a character, which nothing further on can hold.
    return text.encode("utf-8", "replace").decode("utf-8")


def _database(order: Order) -> tuple[str, Path]:
    """The database's id and the folder that holds it, from a path or a name below the root."""
    path = Path(order.stream)
    if order.root is not None and not path.is_file():
        DatabaseFolder(order.root).path(order.stream)
        return order.stream, order.root
    if not path.exists():
        raise MeritoError(
            f"There is no database {path}.",
            "Name a SQLite file, or a database below a folder with --root.",
        )
    check_database(path)
    return path.stem, path.parent


async def _judging(events: AsyncIterator[AnyEvent], control: Control) -> AsyncIterator[AnyEvent]:
    """Pass the events on, and ask the person wherever one waits for a judgement."""
    asking: set[asyncio.Task[None]] = set()
    try:
        async for event in events:
            yield event
            if isinstance(event, JudgementAwaited):
                task = asyncio.create_task(_put(control, event.position, event.attempt))
                asking.add(task)
                task.add_done_callback(asking.discard)
    finally:
        for task in asking:
            task.cancel()


async def _put(control: Control, position: int, attempt: int) -> None:
    control.judge(position, attempt, await _answered())


async def _answered() -> Judgement:
    """What the person says; the end of input means skip."""
    who = "operator"
    with suppress(OSError, KeyError):
        who = getpass.getuser()
    choices = ", ".join(f"[{key}] {word}" for key, word in KEYS.items())
    with suppress(EOFError):
        while True:
            key = (await _typed(f"  Is this right? {choices}: ")).lower()[:1]
            if key == "y":
                return Judgement(right=True, who=who)
            if key == "n":
                remark = await _typed("  What is wrong with it? (Enter to say nothing): ")
                return Judgement(right=False, who=who, remark=remark)
            if key == "e":
                sql = await _typed("  The right SQL, on one line: ")
                if sql:
                    return Judgement(corrected_sql=sql, who=who)
            if key == "s":
                break
    return Judgement(skip=True, who=who)


async def _typed(prompt: str) -> str:
    """One line of the terminal, without a thread that would outlive Ctrl-C. Raises EOFError."""
    click.echo(prompt, nl=False)
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()
