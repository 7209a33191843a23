"""`merito bench select`: every way of choosing, from one pool of executed candidates."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tui import options

if TYPE_CHECKING:
    from core.selection.pool import Pool
    from core.selection.pooling import Chosen
    from tui.selection.panel import PanelOrder, Ready

HEAD = "map-sql"
"""What the others are compared with, where it is among them."""


@click.command(
    "select",
    epilog="""\b
Examples:
  merito bench select candidates.jsonl --root bird --bank bank.sqlite --memory-tokens 2048
  merito bench select pool.jsonl --root spider --methods majority,listwise-memory,map-sql""",
)
@options.pool
@options.databases
@click.option(
    "--methods",
    default="",
    help="Names, separated by commas; default: all but map-sql-consensus.",
)
@options.choosing
@click.option(
    "--consistency/--no-consistency",
    default=True,
    show_default=True,
    help="Choose from a second shuffled presentation, once all questions are done.",
)
@click.option("--json", "as_json", is_flag=True, help="Choices and report as JSON lines.")
def command(methods: str, consistency: bool, as_json: bool, **asked: Any) -> int:
    """Compare ways of choosing on POOL, which needs gold SQL: accuracy, calls, tokens, the pool's
    ceiling, the difference between map-sql and every other method, and consistency.

    All methods choose for one question, then for the next, from candidates that are executed once; a
    prompt that several methods ask is sent once. Stop it at any moment: it reports what is finished,
    and the same command goes on.
    """
    from core.selection.method import METHODS, method_named
    from tui.selection.panel import SHUFFLED, PanelOrder

    names = [name.strip() for name in methods.split(",") if name.strip()]
    studied = [name for name, method in METHODS.items() if method.studied]
    order = PanelOrder(
        methods=tuple(method_named(name) for name in dict.fromkeys(names or studied)),
        presentations=SHUFFLED if consistency else SHUFFLED[:1],
        **asked,
    )
    return asyncio.run(_bench(order, as_json))


async def _bench(order: PanelOrder, as_json: bool) -> int:
    from core.selection.pool import read_pool
    from tui.selection.panel import panel_for
    from tui.selection.telling import complain, unusable

    pool = read_pool(order.pool)
    for problem in pool.problems:
        complain(problem)
    async with panel_for(order, pool) as ready:
        study = _Study(ready, pool, as_json)
        try:
            await study.run()
        finally:
            study.report()
    return 1 if pool.problems or any(map(unusable, study.chosen.values())) else 0


class _Study:
    """All questions once, then, where that is wanted, all of them from a second presentation."""

    def __init__(self, ready: Ready, pool: Pool, as_json: bool) -> None:
        from tui.selection.panel import questions_of

        self._ready, self._as_json = ready, as_json
        self._questions = questions_of(ready.order, pool)
        self.chosen: dict[str, list[Chosen]] = {}

    async def run(self) -> None:
        """Choose. Raises MeritoError where the engine fails for good."""
        from core.errors import MeritoError
        from core.models.chat import ModelTrouble

        shown = self._ready.order.presentations
        try:
            for passed in range(1, len(shown) + 1):
                await self._pass(passed, len(shown), shown[:passed])
        except ModelTrouble as trouble:
            raise MeritoError(
                trouble.problem, f"{trouble.mend} The same command goes on where it was."
            ) from trouble

    async def _pass(self, number: int, of: int, presentations: tuple[int, ...]) -> None:
        from tui.selection.telling import tell
        from tui.view.summary import duration

        panel = replace(self._ready.panel, presentations=presentations)
        choices = panel.choose_all(self._questions, self._ready.at_once)
        began, place = time.monotonic(), 0
        async with aclosing(choices):
            async for each in choices:
                self.chosen[each[0].pooled.question.id] = each
                self._ready.keep(each)
                tell(each, as_json=self._as_json, problems=number == 1)
                place += 1
                left = (time.monotonic() - began) / place * (len(self._questions) - place)
                click.echo(
                    f"Pass {number} of {of}: {place} of {len(self._questions)} questions;"
                    f" about {duration(left)} left of it.",
                    err=True,
                )

    def report(self) -> None:
        """What is there so far."""
        from tui.selection.telling import summarise, summary_objects

        order = self._ready.order
        by_method = [list(one) for one in zip(*self.chosen.values(), strict=True)]
        names = [method.name for method in order.methods]
        head = HEAD if HEAD in names else names[0]
        if self._as_json:
            summary_objects(by_method, head=head, seed=order.seed)
        summarise(by_method, protocol=order.protocol, head=head, seed=order.seed, aside=self._as_json)
