"""What a report lists one by one: runs, questions, and the questions that are in no rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from core.experiments.arms import Arm
from core.experiments.metrics import Result, RunMetrics
from core.experiments.table import Cell, Table, count, words
from core.run.events import EpisodeOutcome

LEFT_OUT = (EpisodeOutcome.BROKEN, EpisodeOutcome.SKIPPED)


def left_out(arms: Sequence[Arm]) -> Table:
    """Questions that are in no rate, by name: malformed, without a database, broken, or skipped by a
    person."""
    found = Counter(why for arm in arms for run in arm.runs for why in _left_out(run))
    return Table(
        name="left-out",
        title="Questions that are in no rate",
        columns=("question", "database", "why", "note", "runs"),
        rows=tuple((*map(words, key), count(times)) for key, times in sorted(found.items())),
    )


def _left_out(run: RunMetrics) -> Iterator[tuple[str, str, str, str]]:
    """Question, database, why, and a note."""
    for each in run.left_out:
        yield each.question, each.database, each.why, without_folders(each.note, run)
    for result in run.results:
        if result.outcome in LEFT_OUT:
            question = result.question
            yield question.id, question.database, str(result.outcome), result.note


def dataset_name(dataset: str) -> str:
    """A data set without the folders that lead to it: a report is read elsewhere."""
    path = PurePath(dataset)
    return f"{path.parent.name}/{path.name}" if path.suffix and path.parent.name else path.name


def without_folders(problem: str, run: RunMetrics) -> str:
    """A problem of a run's data set, told in the same way."""
    path = PurePath(run.settings.dataset)
    for folder in filter(None, (run.settings.root, str(path), str(path.parent))):
        if len(folder) > 1:
            problem = problem.replace(folder, dataset_name(folder))
    return problem


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
            words(jobs_words(run)),
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
            columns=("strategy", "order", "run", "questions", "finished", "judged", "at once"),
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


def jobs_words(run: RunMetrics) -> str:
    """How many questions were under way at once: `4`, or `1, 4` where that changed."""
    return ", ".join(str(number) if number else "not told" for number in run.jobs)


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
