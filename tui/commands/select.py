"""`merito select`: choose one of several candidate queries, for every question of a pool."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from tui import options
from tui.interruption import run_whole

if TYPE_CHECKING:
    from core.selection.pooling import Chosen
    from tui.selection.panel import PanelOrder


def _named(_ctx: click.Context, _param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for each in names for name in each.split(",")))


@click.command(
    epilog="""\b
Examples:
  merito select candidates.jsonl --root bird --method map-sql --memory-tokens 2048
  merito select candidates.jsonl --root bird --method map-sql,majority --json"""
)
@options.pool
@options.databases
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("map-sql",),
    show_default=True,
    callback=_named,
    help="How to choose; several are compared with the first. 'list' names them.",
)
@options.choosing
@click.option("--consistency", is_flag=True, help="Choose from two shuffled presentations.")
@click.option("--all-runs", is_flag=True, help="Make calls that cannot change the answer, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a question and method.")
def command(methods: tuple[str, ...], consistency: bool, as_json: bool, **asked: Any) -> int:
    """Choose one candidate for every question of POOL, a file of JSON lines: question_id, db_id,
    question, evidence, gold_sql (optional), candidates: [{source, sql}].

    Each candidate is executed once. Interrupted, the same command goes on: no finished call is
    repeated. Exits with 1 where a question or a record could not be used. The console's room
    Selection shows what was chosen, and why.
    """
    from core.selection.method import METHODS, method_named
    from core.selection.pooling import FILE_ORDER
    from tui.selection.panel import SHUFFLED, PanelOrder

    if methods == ("list",):
        for method in METHODS.values():
            click.echo(f"{method.name:<34}{method.about}")
        return 0
    order = PanelOrder(
        methods=tuple(map(method_named, methods)),
        presentations=SHUFFLED if consistency else (FILE_ORDER,),
        **asked,
    )
    return run_whole(_select(order, as_json))


async def _select(order: PanelOrder, as_json: bool) -> int:
    from core.errors import MeritoError
    from core.models.chat import ModelTrouble
    from core.selection.pool import read_pool
    from tui.selection.panel import panel_for, questions_of
    from tui.selection.summing import summarise
    from tui.selection.telling import complain, tell, tell_choice, unusable

    pool = read_pool(order.pool)
    for problem in pool.problems:
        complain(problem)
    if not any(each.gold.strip() for each in pool.questions):
        complain("No question has gold SQL, so nothing is judged.")
    chosen: list[list[Chosen]] = []
    async with panel_for(order, pool) as ready:
        choices = ready.panel.choose_all(questions_of(order, pool), ready.at_once)
        try:
            async with aclosing(choices):
                async for each in choices:
                    chosen.append(each)
                    ready.keep(each)
                    tell(each, as_json=as_json)
                    for one in () if as_json else each:
                        tell_choice(one)
        except ModelTrouble as trouble:
            raise MeritoError(
                trouble.problem, f"{trouble.mend} The same command goes on where it was."
            ) from trouble
    summarise(
        [[one] for one in zip(*chosen, strict=True)],
        protocol=order.protocol,
        head=order.methods[0].name,
        seed=order.seed,
        permutations=order.permutations,
        aside=as_json,
    )
    return 1 if pool.problems or any(map(unusable, chosen)) else 0
