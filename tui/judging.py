"""Judging on a plain terminal: each answer that waits is asked about, one line at a time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from core.errors import MeritoError
from core.run.control import Judgement
from core.run.events import AnyEvent, JudgementAwaited, SqlExecuted
from core.sql import normalised
from tui.view.judging import (
    ALL_THE_SAME,
    AS_IT_IS,
    ASKED,
    BY_LUCK,
    EDIT_ON,
    KINDS,
    REMARK,
    UNCHANGED,
    agreement,
    kind_of,
)
from tui.view.legible import cell_text, one_line
from tui.view.wrapping import say

if TYPE_CHECKING:
    from core.database.rows import ResultTable
    from tui.session import Session

_ROWS = 5


async def judging(
    events: AsyncIterator[AnyEvent], session: Session, who: str
) -> AsyncIterator[AnyEvent]:
    """Pass the events on, and ask the person wherever one waits for a judgement."""
    asking: set[asyncio.Task[None]] = set()
    one_at_a_time = asyncio.Lock()
    written: dict[int, SqlExecuted] = {}
    try:
        async for event in events:
            yield event
            match event:
                case SqlExecuted():
                    written[event.position] = event
                case JudgementAwaited():
                    asked = Asked(session, event, written.get(event.position), who)
                    task = asyncio.create_task(asked.put(one_at_a_time))
                    asking.add(task)
                    task.add_done_callback(asking.discard)
                case _:
                    pass
    finally:
        for task in asking:
            task.cancel()


class Asked:
    """One answer that waits for a person's word."""

    def __init__(
        self, session: Session, event: JudgementAwaited, answer: SqlExecuted | None, who: str
    ) -> None:
        """`answer` is what ran and is asked about."""
        self._session, self._event, self._who = session, event, who
        self._sql = "" if answer is None else answer.sql
        self._result = None if answer is None else answer.result
        self._database = session.questions[event.position].database
        self._many = len(session.questions) > 1

    async def put(self, turn: asyncio.Lock) -> None:
        """Ask, and hand the word to the run."""
        async with turn:
            judgement = await self._answered()
        self._session.control.judge(self._event.position, self._event.attempt, judgement)

    async def _answered(self) -> Judgement:
        """What the person says; the end of input means skip."""
        choices = ", ".join(f"[{kind.key}] {kind.label}" for kind in KINDS)
        which = f"Question {self._event.position + 1}: " if self._many else ""
        with suppress(EOFError):
            while True:
                said = kind_of(await typed(f"  {which}{ASKED} {choices}: "))
                if said and (judgement := await _WORDS[said](self)) is not None:
                    return judgement
        return Judgement(skip=True, who=self._who)

    async def _right(self) -> Judgement | None:
        return Judgement(right=True, who=self._who)

    async def _wrong(self) -> Judgement | None:
        remark = await typed(f"  What is wrong with it? {REMARK} ")
        return Judgement(right=False, who=self._who, remark=remark)

    async def _skip(self) -> Judgement | None:
        return Judgement(skip=True, who=self._who)

    async def _edit(self) -> Judgement | None:
        """The person's own SQL, which must run, and be called right when its rows are seen."""
        sql = await _statement()
        if not sql:
            return None
        if normalised(sql) == normalised(self._sql):
            say(f"  {UNCHANGED}")
            return None
        try:
            result = await self._session.workbench.run(self._database, sql)
        except MeritoError as wrong:
            say(f"  {wrong}")
            return None
        for line in result_lines(result):
            click.echo(f"    {line}")
        if result.error:
            return None
        if same := agreement(self._result, result):
            return await self._which(same, sql)
        sure = await typed("  Is that the right answer? [y] yes, [n] no: ")
        if sure.casefold() not in ("y", "yes"):
            return None
        return Judgement(corrected_sql=sql, who=self._who)

    async def _which(self, same: str, sql: str) -> Judgement | None:
        """The correction gives the answer's own rows: what does the person mean by it?"""
        ways = (AS_IT_IS, ALL_THE_SAME, EDIT_ON)
        choices = ", ".join(f"[{way.key}] {way.label}" for way in ways)
        said = (await typed(f"  {same} The answer is {choices}: ")).strip().casefold()
        if said == AS_IT_IS.key:
            return Judgement(right=True, who=self._who)
        if said == ALL_THE_SAME.key:
            return Judgement(corrected_sql=sql, who=self._who, remark=BY_LUCK)
        return None


_WORDS: dict[str, Callable[[Asked], Awaitable[Judgement | None]]] = {
    "right": Asked._right,
    "wrong": Asked._wrong,
    "edit": Asked._edit,
    "skip": Asked._skip,
}


def result_lines(result: ResultTable) -> list[str]:
    """A few rows, or why there are none."""
    if result.error:
        return [f"it does not run: {one_line(result.error, 400)}"]
    rows = [", ".join(cell_text(cell, 40) for cell in row[:8]) for row in result.rows[:_ROWS]]
    more = ", first 5" if result.row_count > _ROWS else ""
    return [f"rows: {result.row_count}{' or more' if result.truncated else ''}{more}", *rows]


async def _statement() -> str:
    """SQL over as many lines as it takes; an empty line ends it."""
    lines = [await typed("  The right SQL; an empty line ends it:\n  > ")]
    while lines[-1] and not lines[-1].rstrip().endswith(";"):
        lines.append(await typed("  > "))
    return "\n".join(lines).strip()


async def typed(prompt: str) -> str:
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
