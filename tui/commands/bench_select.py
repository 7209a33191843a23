"""`merito bench select`: every way of choosing, from one pool of executed candidates."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
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
    help="Choose from a second shuffled presentation, too.",
)
@click.option("--json", "as_json", is_flag=True, help="Choices and report as JSON lines.")
def command(methods: str, consistency: bool, as_json: bool, **asked: Any) -> int:
    """Compare ways of choosing on POOL, which needs gold SQL: accuracy, calls, tokens, the pool's
    ceiling, the difference between map-sql and every other method, and consistency.

    All methods choose for one question, then for the next, from candidates that are executed once; a
    prompt that several methods share is sent once. Stop it at any moment: it reports what is finished,
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
    return 1 if pool.problems or any(map(unusable, study.chosen)) else 0


class _Study:
    """Every question in turn, by all methods and, where that is wanted, from both presentations:
    what a question's prompts begin with is then still in the engine's cache."""

    def __init__(self, ready: Ready, pool: Pool, as_json: bool) -> None:
        from tui.selection.panel import questions_of

        self._ready, self._as_json = ready, as_json
        self._questions = questions_of(ready.order, pool)
        self.chosen: list[list[Chosen]] = []

    async def run(self) -> None:
        """Choose. Raises MeritoError where the engine fails for good."""
        from core.errors import MeritoError
        from core.models.chat import ModelTrouble
        from tui.selection.telling import tell

        choices = self._ready.panel.choose_all(self._questions, self._ready.at_once)
        began = time.monotonic()
        try:
            async with aclosing(choices):
                async for each in choices:
                    self.chosen.append(each)
                    self._ready.keep(each)
                    tell(each, as_json=self._as_json)
                    click.echo(self._progress(time.monotonic() - began), err=True)
        except ModelTrouble as trouble:
            raise MeritoError(
                trouble.problem, f"{trouble.mend} The same command goes on where it was."
            ) from trouble

    def _progress(self, seconds: float) -> str:
        from tui.view.summary import duration

        done, total = len(self.chosen), len(self._questions)
        words = f"{done} of {total} questions"
        left = seconds / done * (total - done)
        return f"{words}; about {duration(left)} left" if left else words

    def report(self) -> None:
        """What is there so far."""
        from tui.selection.telling import summarise, summary_objects

        order = self._ready.order
        by_method = [list(one) for one in zip(*self.chosen, strict=True)]
        names = [method.name for method in order.methods]
        head = HEAD if HEAD in names else names[0]
        if self._as_json:
            summary_objects(by_method, head=head, seed=order.seed)
        summarise(by_method, protocol=order.protocol, head=head, seed=order.seed, aside=self._as_json)
