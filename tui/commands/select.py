"""`merito select`: choose one of several candidate queries, for every question of a pool."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tui import options

if TYPE_CHECKING:
    from core.selection.figures import Difference, MethodFigures
    from core.selection.method import Method
    from core.selection.pool import Pool
    from core.selection.pooling import Chosen, Panel

_LINE = 300
_TABLE_WIDTH = 130
"""Figures are better broken by the terminal than cut."""


class _Order(NamedTuple):
    pool: Path
    root: Path
    methods: tuple[Method, ...]
    dataset: str
    permutations: int
    memory_tokens: int | None
    seed: int
    limit: int | None
    deadline: float
    consistency: bool
    all_runs: bool
    model: str | None
    judge: str | None
    store: Path | None
    as_json: bool


@click.command(
    epilog="""\b
Examples:
  merito select candidates.jsonl --root bird --method map-sql --memory-tokens 2048
  merito select candidates.jsonl --root bird --method map-sql --method majority --json"""
)
@click.argument("pool", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder that holds the databases.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("map-sql",),
    show_default=True,
    help="How to choose; several are compared with the first. 'list' names them.",
)
@click.option(
    "--dataset",
    type=click.Choice(["auto", "spider", "bird"]),
    default="auto",
    show_default=True,
    help="Whose rule says when results are equal; auto: by the layout of the folder.",
)
@click.option(
    "--memory-tokens",
    type=click.IntRange(0),
    help="Tokens of memories in a prompt; default: all that the context leaves.",
)
@click.option(
    "--permutations", type=click.IntRange(1, 64), default=4, show_default=True, help="K: runs."
)
@options.seed
@click.option("--limit", type=click.IntRange(min=1), help="Only so many questions.")
@click.option(
    "--deadline",
    type=options.SECONDS,
    default=30.0,
    show_default=True,
    help="Seconds that one statement may run.",
)
@click.option("--consistency", is_flag=True, help="Choose from two shuffled presentations.")
@click.option("--all-runs", is_flag=True, help="Make calls that cannot change the answer, too.")
@options.model
@click.option("--judge", help="Another model that scores ties; default: the selector.")
@options.store
@click.option("--json", "as_json", is_flag=True, help="One JSON object a question and method.")
def command(methods: tuple[str, ...], **asked: Any) -> int:
    """Choose one candidate for every question of POOL, a file of JSON lines: question_id, db_id,
    question, evidence, gold_sql (optional), candidates: [{source, sql}].

    Each candidate is executed once. Interrupted, the same command goes on: no finished call is
    repeated. Exits with 1 where a question or a record could not be used.
    """
    from core.selection.method import METHODS, method_named

    if methods == ("list",):
        for method in METHODS.values():
            click.echo(f"{method.name:<34}{method.about}")
        return 0
    order = _Order(methods=tuple(map(method_named, dict.fromkeys(methods))), **asked)
    return asyncio.run(_select(order))


async def _select(order: _Order) -> int:
    from core.errors import MeritoError
    from core.models.chat import ModelTrouble
    from core.selection.pool import read_pool

    pool = read_pool(order.pool)
    for problem in pool.problems:
        _complain(problem)
    chosen: list[list[Chosen]] = []
    async with AsyncExitStack() as stack:
        panel, at_once = await _panel(order, pool, stack)
        choices = panel.choose_all(pool.questions[: order.limit], at_once)
        try:
            async with aclosing(choices):
                async for each in choices:
                    chosen.append(each)
                    _tell(each, order.as_json)
        except ModelTrouble as trouble:
            raise MeritoError(
                trouble.problem, f"{trouble.mend} The same command goes on where it was."
            ) from trouble
    by_method = [[each[place] for each in chosen] for place in range(len(order.methods))]
    _summarise(by_method, order)
    return 1 if pool.problems or any(map(_unusable, chosen)) else 0


async def _panel(order: _Order, pool: Pool, stack: AsyncExitStack) -> tuple[Panel, int]:
    """Everything that choosing works with; a model and memories only where a method uses them."""
    from core.database.files import DatabaseFolder
    from core.database.sandbox import Sandbox
    from core.selection.calls import Caller, at_once
    from core.selection.candidates import Executor
    from core.selection.method import Terms
    from core.selection.pooling import Panel
    from core.selection.preparing import Preparer

    folder = DatabaseFolder(order.root)
    sandbox = await stack.enter_async_context(Sandbox(2))
    golds = {each.question.id: each.gold for each in pool.questions if each.gold.strip()}
    executor = Executor(sandbox, folder, golds, _protocol(order), order.deadline)
    parts: dict[str, Any] = {}
    together = 2
    if any(method.compares not in ("nothing", "groups") for method in order.methods):
        opened = stack.enter_context(closing(_specs(order)))
        bank = None
        if any(method.memory for method in order.methods) and order.memory_tokens != 0:
            bank = await stack.enter_async_context(_bank(opened))
        model = await _model(order.model, stack)
        caller = Caller(model, await model.describe(), opened)
        judge = None
        if order.judge:
            other = await _model(order.judge, stack)
            judge = Caller(other, await other.describe(), opened)
        together = at_once(caller.described)
        preparer = Preparer(folder, caller, bank, order.memory_tokens)
        parts = {"caller": caller, "judge": judge, "preparer": preparer}
    terms = Terms(permutations=order.permutations, seed=order.seed, early_stop=not order.all_runs)
    panel = Panel(
        executor=executor,
        methods=order.methods,
        terms=terms,
        consistency=order.consistency,
        **parts,
    )
    return panel, together


def _protocol(order: _Order) -> str:
    """The rule of equality: Spider's in its layout, BIRD's everywhere else."""
    if order.dataset != "auto":
        return order.dataset
    root = order.root.resolve()
    spider = root.name == "database" or (root / "database").is_dir()
    return "spider" if spider or (root / "tables.json").is_file() else "bird"


def _specs(order: _Order) -> Any:
    from stores.specs import Specs, specs_path
    from tui import settings

    return Specs(specs_path(settings.store_path(None if order.store is None else str(order.store))))


def _bank(opened: Any) -> Any:
    from core.errors import MeritoError
    from tui.commands.specs import memory_bank

    if not opened.ids():
        raise MeritoError(
            "There are no specification memories for this method.",
            "Make them with: merito specs build TRAIN; or go without: --memory-tokens 0.",
        )
    return memory_bank(opened)


async def _model(name: str | None, stack: AsyncExitStack) -> Any:
    from core.models.choosing import choose
    from tui import settings
    from tui.engines import terms

    choice = await choose(settings.value("model", name) or None, terms())
    stack.push_async_callback(choice.model.close)
    for line in choice.why:
        click.echo(line, err=True)
    return choice.model


def _unusable(chosen: Sequence[Chosen]) -> bool:
    """Whether the user should look at a question: nothing to choose from, or gold that fails."""
    first = chosen[0]
    gold_fails = bool(first.pooled.gold.strip()) and first.candidates.oracle is None
    return gold_fails or any(each.selection.remark for each in chosen if each.correct is False)


# What is told


def _tell(chosen: Sequence[Chosen], as_json: bool) -> None:
    for problem in chosen[0].candidates.problems:
        _complain(problem)
    for each in chosen:
        for remark in _remarks(each):
            if each.selection.method != "greedy":
                _complain(f"Question {each.pooled.id}, {each.selection.method}: {remark}")
        if as_json:
            _print_json(_line(each))


def _remarks(chosen: Chosen) -> list[str]:
    """Why there is no choice, where the candidates' own problems do not say it."""
    remark = chosen.selection.remark
    return [remark] if remark and chosen.candidates.executed else []


def _line(chosen: Chosen) -> dict[str, Any]:
    selection, spent = chosen.selection, chosen.selection.spent
    line = {
        "question_id": chosen.pooled.id,
        "method": selection.method,
        "choice": selection.choice,
        "sql": chosen.sql,
        "correct": chosen.correct,
        "groups": [list(group) for group in chosen.candidates.groups],
        "calls": spent.calls,
        "calls_saved": spent.saved,
        "tokens_sent": spent.tokens_sent,
        "tokens_evaluated": spent.tokens_evaluated,
        "seconds": round(spent.seconds, 3),
        "confidence": selection.confidence,
        "tied": list(selection.tied),
        "mean_ranks": list(selection.mean_ranks),
        "memories": list(selection.memories),
        "mended": sum(len(window.mended) > 0 for run in selection.runs for window in run.windows),
        "oracle": chosen.candidates.oracle,
        "problems": [*chosen.candidates.problems, *_remarks(chosen)],
    }
    if chosen.consistent is not None:
        line["consistent"] = chosen.consistent
    return line


def _print_json(line: dict[str, Any]) -> None:
    import msgspec

    click.echo(msgspec.json.encode(line))


def _summarise(by_method: Sequence[Sequence[Chosen]], order: _Order) -> None:
    """On stderr beside JSON lines, so that these can be piped."""
    from rich.console import Console
    from rich.table import Table

    from core.selection.figures import difference, method_figures, oracle

    if not by_method[0]:
        return
    figures = [method_figures(chosen) for chosen in by_method]
    console = Console(stderr=order.as_json, markup=False, highlight=False)
    console.width = max(console.width, _TABLE_WIDTH)
    table = Table(box=None, pad_edge=False)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right")
    for each in figures:
        table.add_row(*_cells(each))
    console.print(table)
    ceiling = oracle(by_method[0])
    console.print(
        f"{figures[0].questions} questions, equal by {_protocol(order)}'s rule; "
        f"oracle over the pool: {_percent(ceiling)}; costs are per question.",
        soft_wrap=True,
    )
    for other in by_method[1:]:
        console.print(_compared(difference(by_method[0], other, order.seed)), soft_wrap=True)


_COLUMNS = (
    "method",
    "judged",
    "accuracy",
    "calls",
    "saved",
    "tokens sent",
    "evaluated",
    "seconds",
    "consistent",
    "and correct",
)


def _cells(figures: MethodFigures) -> tuple[str, ...]:
    return (
        figures.method,
        str(figures.judged),
        _percent(figures.accuracy),
        f"{figures.calls:.2f}",
        f"{figures.saved:.2f}",
        _whole(figures.tokens_sent),
        _whole(figures.tokens_evaluated),
        f"{figures.seconds:.1f}",
        _percent(figures.consistency),
        _percent(figures.consistent_and_correct),
    )


def _compared(found: Difference) -> str:
    interval, test = found.interval, found.mcnemar
    if interval is None:
        return f"{found.first} - {found.second}: n/a, no question was judged for both"
    points = [f"{100 * value:+.2f}" for value in (interval.difference, interval.low, interval.high)]
    return (
        f"{found.first} - {found.second}: {points[0]} points, 95 % interval [{points[1]}, {points[2]}]"
        f" over {found.judged}; exact McNemar p = {test.p:.3g}"
        f" ({test.first_only} only the first, {test.second_only} only the second)"
    )


def _percent(rate: float | None) -> str:
    return "n/a" if rate is None else f"{100 * rate:.2f} %"


def _whole(value: float | None) -> str:
    return "n/a" if value is None else f"{value:,.0f}"


def _complain(problem: str) -> None:
    from tui.view.legible import one_line

    click.echo(one_line(problem, _LINE), err=True)
