"""Choices in words and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tui.view.legible import one_line
from tui.view.selection_words import name_of

if TYPE_CHECKING:
    from core.models.retry import Stumble
    from core.selection.pooling import Chosen

_LINE = 300


def complain(problem: str) -> None:
    """One line on stderr."""
    click.echo(one_line(problem, _LINE), err=True)


def stumbled(stumble: Stumble) -> None:
    """One line on stderr for a failure of the engine that may pass."""
    from tui.view.plain import trouble_words

    click.echo(trouble_words(stumble.problem, stumble.mend, stumble.retry_in), err=True)


def tell(
    chosen: Sequence[Chosen],
    *,
    as_json: bool,
    again: bool = False,
    under: Mapping[str, str | int] | None = None,
) -> None:
    """What is wrong with one question's candidates, once, and its choices as JSON. `again`: what is
    wrong with them was told before; `under`: further fields of the JSON."""
    for problem in chosen[0].candidates.problems if chosen and not again else ():
        complain(problem)
    for each in chosen:
        for remark in _remarks(each):
            if each.selection.method != "greedy" and not again:
                complain(f"Question {each.pooled.id}, {each.selection.method}: {remark}")
        if as_json:
            print_json({**line(each), **(under or {})})


def tell_choice(chosen: Chosen) -> None:
    """One line: which candidate of a question, by which method, and its SQL."""
    from tui.memory_lines import fitting

    choice = chosen.selection.choice
    if choice is not None:
        who = f"Question {chosen.pooled.id}, {chosen.selection.method}: {name_of(choice)}"
        click.echo(f"{one_line(who, _LINE)}, {fitting(chosen.sql or '', _LINE)}")


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
        "mended": selection.mended,
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
