"""What methods came to: a table of figures, differences, and both as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.wording import counted
from tui.selection.telling import print_json

if TYPE_CHECKING:
    from rich.console import Console

    from core.experiments.statistics import Spread
    from core.selection.figures import Difference, RepeatedFigures, Repeats
    from core.selection.repeating import Unfinished

_TABLE_WIDTH, _WITH_DEVIATIONS = 140, 220
"""Figures are better broken by the terminal than cut."""


def summarise(
    by_method: Sequence[Repeats],
    *,
    protocol: str,
    head: str,
    seed: int,
    permutations: int,
    aside: bool,
    sweep: Mapping[int, Sequence[Repeats]] | None = None,
    unfinished: Sequence[Unfinished] = (),
) -> None:
    """The table of methods, the pool's ceiling, the repeats that are unfinished, `head` against every
    other method, and what other numbers of permutations come to. `aside`: on stderr, beside JSON
    lines, so that these can be piped."""
    from rich.console import Console

    from core.selection.figures import oracle, repeated_figures

    if not by_method:
        return
    figures = [repeated_figures(each, permutations) for each in by_method]
    console = Console(stderr=aside, markup=False, highlight=False)
    repeated = figures[0].repeats > 1
    console.width = max(console.width, _WITH_DEVIATIONS if repeated else _TABLE_WIDTH)
    _table(console, figures, ("method",))
    ceiling = _with_deviation(oracle(by_method[0]), ".2f", 100, " %")
    console.print(
        f"{_counted(figures[0])}, equal by {protocol}'s rule; oracle over the pool: {ceiling}, the "
        "ceiling.",
        soft_wrap=True,
    )
    for note in _notes(figures):
        console.print(note, soft_wrap=True)
    for each in unfinished:
        console.print(_left(each, alone=len(unfinished) == 1), soft_wrap=True)
    for found in differences(by_method, head, seed):
        console.print(_compared(found), soft_wrap=True)
    swept = _swept({permutations: by_method, **(sweep or {})}) if sweep else []
    if swept:
        console.print("\nBy the number of permutations (K):")
        _table(console, swept, ("method", "K"))


def summary_objects(
    by_method: Sequence[Repeats],
    *,
    head: str,
    seed: int,
    permutations: int,
    sweep: Mapping[int, Sequence[Repeats]],
    unfinished: Sequence[Unfinished] = (),
) -> None:
    """The figures and differences as JSON, one object a line: of each repeat, over all repeats, and
    by the number of permutations; and the repeats that are unfinished."""
    import msgspec

    from core.selection.figures import method_figures, oracle, repeated_figures

    if not by_method:
        return
    asked = repeated_figures(by_method[0], permutations)
    pool = {"repeats": asked.repeats, "questions": len(by_method[0][0]), "choices": asked.questions}
    ceiling = oracle(by_method[0])
    told = {"oracle": ceiling and ceiling.mean, "oracle_deviation": ceiling and ceiling.deviation}
    print_json({"table": "pool", **pool, **told})
    for each in unfinished:
        print_json({"table": "unfinished", **msgspec.to_builtins(each)})
    for repeats in by_method:
        for number, chosen in enumerate(repeats):
            told = msgspec.to_builtins(method_figures(chosen))
            print_json({"table": "methods", "repeat": number, **told})
    for repeats in by_method if asked.repeats > 1 else ():
        told = msgspec.to_builtins(repeated_figures(repeats, permutations))
        print_json({"table": "methods-over-repeats", **told})
    for found in differences(by_method, head, seed):
        print_json({"table": "differences", **msgspec.to_builtins(found)})
    for figures in _swept({permutations: by_method, **sweep}) if sweep else ():
        print_json({"table": "permutations", **msgspec.to_builtins(figures)})


_COSTS = (
    "Costs are per question. Calls and tokens sent are each method's as if it were the only one: "
    "tokens sent are the cost to compare by. Evaluated tokens and seconds are not so: methods ran one "
    "after another on prompts that begin alike, so the engine's cache served those that came later."
)
_SAVED = (
    "Where all candidates agree nobody is asked. The papers of {} ask then, too: such calls are among "
    "those saved."
)
_CONSISTENT = "Consistent: of the questions that have candidates; where a method failed it was not."


def _notes(figures: Sequence[RepeatedFigures]) -> list[str]:
    """What the table's columns mean, as far as it has something in them."""
    from core.selection.method import METHODS

    asked = any(each.calls and each.calls.mean for each in figures)
    asking = [each.method for each in figures if METHODS[each.method].calls_alone(1)]
    consistent = any(each.consistency for each in figures)
    notes = {
        _COSTS: asked,
        _SAVED.format(", ".join(asking)): bool(asking),
        _CONSISTENT: consistent,
    }
    return [note for note, holds in notes.items() if holds]


def differences(by_method: Sequence[Repeats], head: str, seed: int) -> list[Difference]:
    """The head against every other method, over the same questions."""
    from core.selection.figures import difference

    named = {repeats[0][0].selection.method: repeats for repeats in by_method}
    first = named.pop(head)
    return [difference(first, other, seed) for other in named.values()]


def _swept(by_number: Mapping[int, Sequence[Repeats]]) -> list[RepeatedFigures]:
    """Methods that were tried with several numbers of permutations, by the number."""
    from core.selection.figures import repeated_figures

    found = [
        repeated_figures(repeats, number)
        for number, by_method in sorted(by_number.items())
        for repeats in by_method
    ]
    tried = [each.method for each in found]
    several = [each for each in found if tried.count(each.method) > 1]
    return sorted(several, key=lambda each: tried.index(each.method))


def _counted(figures: RepeatedFigures) -> str:
    if figures.repeats == 1:
        return _questions(figures.questions)
    return (
        f"{figures.questions} choices in {figures.repeats} repeats (± is the sample deviation of what"
        " each repeat came to)"
    )


def _questions(number: int) -> str:
    return counted(number, "question")


def _left(unfinished: Unfinished, *, alone: bool) -> str:
    """What became of a repeat that is not complete. `alone`: it is the only one of its kind."""
    made = f"{unfinished.chosen} of {_questions(unfinished.questions)}"
    repeat = f"repeat {unfinished.repeat + 1}"
    if unfinished.left_out:
        return f"{repeat}: {made}, left out"
    if alone:
        return f"Unfinished: {made}"
    return f"No repeat is complete; the figures are of {repeat} alone: {made}"


def _table(console: Console, figures: Sequence[RepeatedFigures], names: Sequence[str]) -> None:
    from rich.table import Table

    columns = {**{name: _NAMES[name] for name in names}, **_COLUMNS}
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column == "method" else "right")
    for each in figures:
        table.add_row(*(written(each) for written in columns.values()))
    console.print(table, soft_wrap=True)


def _compared(found: Difference) -> str:
    interval, test = found.interval, found.mcnemar
    if interval is None:
        return f"{found.first} - {found.second}: n/a, no question was judged for both"
    points = [f"{100 * value:+.2f}" for value in (interval.difference, interval.low, interval.high)]
    repeated = interval.outcomes > interval.clusters
    over = f"{found.judged}" + (f" ({_questions(interval.clusters)})" if repeated else "")
    return (
        f"{found.first} - {found.second}: {points[0]} points, 95 % interval [{points[1]}, {points[2]}]"
        f" over {over}; exact McNemar{' of the first repeat' if repeated else ''} p = {test.p:.3g}"
        f" ({test.first_only} only the first, {test.second_only} only the second)"
    )


def _with_deviation(found: Spread | None, form: str, scale: float, unit: str) -> str:
    if found is None:
        return "n/a"
    mean = format(scale * found.mean, form)
    if found.deviation is None:
        return mean + unit
    return f"{mean} ± {format(scale * found.deviation, form)}{unit}"


def _spread(name: str, form: str, scale: float = 1.0, unit: str = "") -> Callable[[Any], str]:
    """How a figure with its deviation is written."""

    def written(figures: RepeatedFigures) -> str:
        return _with_deviation(getattr(figures, name), form, scale, unit)

    return written


_NAMES: dict[str, Callable[[RepeatedFigures], str]] = {
    "method": lambda each: each.method,
    "K": lambda each: str(each.permutations),
}
_COLUMNS: dict[str, Callable[[RepeatedFigures], str]] = {
    "judged": lambda each: str(each.judged),
    "accuracy": _spread("accuracy", ".2f", 100, " %"),
    "calls": _spread("calls", ".2f"),
    "saved": _spread("saved", ".2f"),
    "tokens sent": _spread("tokens_sent", ",.0f"),
    "evaluated": _spread("tokens_evaluated", ",.0f"),
    "written": _spread("tokens_written", ",.0f"),
    "seconds": _spread("seconds", ".1f"),
    "mended": _spread("mended", ".2f"),
    "consistent": _spread("consistency", ".2f", 100, " %"),
    "and correct": _spread("consistent_and_correct", ".2f", 100, " %"),
}
"""The columns' names, and how each figure is written."""
