"""What a report lists one by one: runs, questions, and the questions that are in no rate."""

from __future__ import annotations

from collections.abc import Sequence

from core.experiments.arms import Arm
from core.experiments.metrics import Result
from core.experiments.table import Cell, Table, count, words
from core.run.events import EpisodeOutcome

LEFT_OUT = (EpisodeOutcome.BROKEN, EpisodeOutcome.SKIPPED)


def left_out(arms: Sequence[Arm]) -> Table:
    """Questions that are in no rate, by name: broken, or skipped by a person."""
    found: dict[tuple[str, str, str, str], int] = {}
    for arm in arms:
        for run in arm.runs:
            for result in run.results:
                if result.outcome in LEFT_OUT:
                    question = result.question
                    key = (question.id, question.database, str(result.outcome), result.note)
                    found[key] = found.get(key, 0) + 1
    return Table(
        name="left-out",
        title="Questions that are in no rate",
        columns=("question", "database", "why", "note", "runs"),
        rows=tuple((*map(words, key), count(times)) for key, times in sorted(found.items())),
    )


def listings_of(arms: Sequence[Arm]) -> tuple[Table, ...]:
    """One row a run, and one row a question of each run."""
    runs = tuple(
        (
            words(arm.label),
            words("file" if run.settings.order_seed is None else str(run.settings.order_seed)),
            words(run.run),
            count(len(run.results)),
            count(run.figures.finished),
            count(len(run.judged)),
        )
        for arm in arms
        for run in arm.runs
    )
    questions = tuple(
        _listed(arm, run.run, run.settings.order_seed, result)
        for arm in arms
        for run in arm.runs
        for result in run.results
    )
    return (
        Table(
            name="runs",
            title="Runs",
            columns=("strategy", "order", "run", "questions", "finished", "judged"),
            rows=runs,
        ),
        Table(
            name="questions",
            title="Every question of every run",
            columns=(
                "strategy", "order", "run", "position", "question", "database", "outcome", "repairs",
                "repeats", "first failure", "seconds",
            ),
            rows=questions,
        ),
    )  # fmt: skip


def _listed(arm: Arm, run: str, order: int | None, result: Result) -> tuple[Cell, ...]:
    first = result.attempts[0].failure if result.attempts else None
    return (
        words(arm.label),
        words("file" if order is None else str(order)),
        words(run),
        count(result.position),
        words(result.question.id),
        words(result.question.database),
        words(str(result.outcome or "unfinished")),
        count(result.repairs),
        count(sum(attempt.repeats is not None for attempt in result.attempts)),
        words(str(first or "")),
        Cell(f"{result.seconds:.2f}", (("", result.seconds),)),
    )
