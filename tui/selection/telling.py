"""Choices in words, as JSON, and as a table of what each method came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tui.view.legible import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from core.selection.figures import Difference, MethodFigures
    from core.selection.pooling import Chosen

_LINE = 300
_TABLE_WIDTH = 140
"""Figures are better broken by the terminal than cut."""


def complain(problem: str) -> None:
    """One line on stderr."""
    click.echo(one_line(problem, _LINE), err=True)


def tell(chosen: Sequence[Chosen], *, as_json: bool) -> None:
    """What is wrong with one question's candidates, once, and its choices as JSON."""
    for problem in chosen[0].candidates.problems:
        complain(problem)
    for each in chosen:
        for remark in _remarks(each):
            if each.selection.method != "greedy":
                complain(f"Question {each.pooled.id}, {each.selection.method}: {remark}")
        if as_json:
            print_json(line(each))


def unusable(chosen: Sequence[Chosen]) -> bool:
    """Whether the user should look at a question: nothing to choose from, a database that cannot be
    used, gold that fails, a method that could not choose."""
    first = chosen[0]
    gold_fails = bool(first.pooled.gold.strip()) and first.candidates.oracle is None
    return (
        not first.candidates.executed
        or gold_fails
        or any(each.selection.choice is None and each.selection.method != "greedy" for each in chosen)
    )


def _remarks(chosen: Chosen) -> list[str]:
    """Why there is no choice, where the candidates' own problems do not say it."""
    remark = chosen.selection.remark
    return [remark] if remark and chosen.candidates.executed else []


def line(chosen: Chosen) -> dict[str, Any]:
    """One choice as an object of JSON."""
    selection, spent = chosen.selection, chosen.selection.spent
    told = {
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
        "tokens_written": spent.tokens_written,
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
        told["consistent"] = chosen.consistent
    return told


def print_json(fields: dict[str, Any]) -> None:
    """One object on a line of its own."""
    import msgspec

    click.echo(msgspec.json.encode(fields))


def summarise(
    by_method: Sequence[Sequence[Chosen]], *, protocol: str, head: str, seed: int, aside: bool
) -> None:
    """The table of methods, the pool's ceiling, and `head` against every other method. `aside`: on
    stderr, beside JSON lines, so that these can be piped."""
    from rich.console import Console

    from core.selection.figures import method_figures, oracle

    if not by_method or not by_method[0]:
        return
    figures = [method_figures(chosen) for chosen in by_method]
    console = Console(stderr=aside, markup=False, highlight=False)
    console.width = max(console.width, _TABLE_WIDTH)
    _table(console, figures)
    console.print(
        f"{figures[0].questions} questions, equal by {protocol}'s rule; oracle over the pool: "
        f"{_percent(oracle(by_method[0]))}, the ceiling. Costs are per question, each method's "
        "as if it were the only one; answers that methods share were asked for once.",
        soft_wrap=True,
    )
    for found in differences(by_method, head, seed):
        console.print(_compared(found), soft_wrap=True)


def summary_objects(by_method: Sequence[Sequence[Chosen]], *, head: str, seed: int) -> None:
    """The figures and differences as JSON, one object a line."""
    import msgspec

    from core.selection.figures import method_figures, oracle

    if not by_method or not by_method[0]:
        return
    print_json({"table": "pool", "questions": len(by_method[0]), "oracle": oracle(by_method[0])})
    for chosen in by_method:
        print_json({"table": "methods", **msgspec.to_builtins(method_figures(chosen))})
    for found in differences(by_method, head, seed):
        print_json({"table": "differences", **msgspec.to_builtins(found)})


def differences(by_method: Sequence[Sequence[Chosen]], head: str, seed: int) -> list[Difference]:
    """The head against every other method, over the same questions."""
    from core.selection.figures import difference

    named = {chosen[0].selection.method: chosen for chosen in by_method}
    first = named.pop(head)
    return [difference(first, other, seed) for other in named.values()]


_COLUMNS = (
    "method",
    "judged",
    "accuracy",
    "calls",
    "saved",
    "tokens sent",
    "evaluated",
    "written",
    "seconds",
    "consistent",
    "and correct",
)


def _table(console: Console, figures: Sequence[MethodFigures]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right")
    for each in figures:
        table.add_row(*_cells(each))
    console.print(table)


def _cells(figures: MethodFigures) -> tuple[str, ...]:
    return (
        figures.method,
        str(figures.judged),
        _percent(figures.accuracy),
        f"{figures.calls:.2f}",
        f"{figures.saved:.2f}",
        _whole(figures.tokens_sent),
        _whole(figures.tokens_evaluated),
        _whole(figures.tokens_written),
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
