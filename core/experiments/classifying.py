"""What the failure classifier said: its composition, what was repaired of each type, and how far it
agrees with labels (MERIT, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.experiments import paper
from core.experiments.arms import Arm
from core.experiments.metrics import Result
from core.experiments.statistics import agreement, spread
from core.experiments.table import ABSENT, BEHIND, Cell, Table, behind, count, mean, words
from core.feedback.verdict import FailureType

FIRST, LAST = 0, -1
"""Which attempt of a question is meant."""


def failures_table(arms: Sequence[Arm], benchmark: str) -> Table:
    """The composition: of the first failures, and of what stays wrong."""
    rows, told = [], set[tuple[Cell, ...]]()
    for arm in arms:
        for label, attempt in (("first failures", FIRST), ("still wrong", LAST)):
            failed = [
                result
                for run in arm.runs
                for result in (run.failed_first if attempt == FIRST else run.judged)
                if _type(result, attempt)
            ]
            kinds = Counter(_type(result, attempt) for result in failed)
            shares = tuple(_share(kinds[kind], len(failed)) for kind in FailureType)
            row = (*behind(arm), words(label), count(len(failed)), *shares)
            if attempt == FIRST:
                # Initial predictions are shared: the same composition for every strategy.
                if row[1:] in told:
                    continue
                told.add(row[1:])
                row = (words(_initial_label(arms, arm)), *row[1:])
            rows.append(row)
    theirs = paper.MISMATCH_SHARE.get(benchmark)
    note = f" Paper: {theirs:.1f} % of Spider's first failures mismatch." if theirs else ""
    return Table(
        name="failures",
        title="Failure types, % (all orders together)",
        columns=(*BEHIND, "of", "failures", *(kind.value for kind in FailureType)),
        rows=tuple(rows),
        note="As the classifier sees the SQL that failed. First failures stand once where several"
        f" strategies share them.{note}",
    )


def _initial_label(arms: Sequence[Arm], arm: Arm) -> str:
    return "initial SQL" if len(arms) > 1 else arm.label


def _type(result: Result, attempt: int) -> FailureType | None:
    return result.attempts[attempt].failure if result.attempts else None


def repaired_table(arms: Sequence[Arm]) -> Table:
    """Of the questions that failed first with each type: how many were repaired."""
    rows = []
    for arm in arms:
        failed = [result for run in arm.runs for result in run.failed_first]
        if not failed or arm.strategy == "none":
            continue
        rows.append(
            (
                *behind(arm),
                _part(sum(result.right for result in failed), len(failed)),
                *(_repaired([each for each in failed if _type(each, FIRST) is k]) for k in FailureType),
            )
        )
    return Table(
        name="repaired-by-type",
        title="Repaired, by the type of the first failure (all orders together)",
        columns=(*BEHIND, "all", *(kind.value for kind in FailureType)),
        rows=tuple(rows),
        note="Questions repaired of those that failed first.",
    )


def _repaired(failed: Sequence[Result]) -> Cell:
    return _part(sum(result.right for result in failed), len(failed))


def _part(part: int, whole: int) -> Cell:
    return Cell(f"{part:,} of {whole:,}", (("", part), ("of", whole))) if whole else ABSENT


def _share(part: int, whole: int) -> Cell:
    return Cell(f"{100 * part / whole:.1f}", (("", 100 * part / whole),)) if whole else ABSENT


def classifier_table(arms: Sequence[Arm], benchmark: str, labels: Mapping[str, str]) -> Table:
    """Agreement with labels, over the first failures of each arm's first order: the initial
    predictions are the same in all."""
    rows, told = [], set[tuple[Cell, ...]]()
    for arm in arms:
        run = arm.runs[0]
        pairs = [
            (labels[result.question.id], str(kind))
            for result in run.failed_first
            if result.question.id in labels and (kind := _type(result, FIRST))
        ]
        found = agreement(pairs)
        if found is None:
            continue
        theirs = paper.CLASSIFIER.get(benchmark)
        figures = (
            count(found.n),
            count(1),
            mean(spread([found.accuracy]), scale=100),
            mean(spread([found.macro_f1]), 3),
            *(_f1(found.f1.get(kind.value)) for kind in FailureType),
            words(theirs) if theirs else ABSENT,
        )
        if figures not in told:
            told.add(figures)
            rows.append((words(_initial_label(arms, arm)), *figures))
    return Table(
        name="classifier",
        title="Failure classifier against labels",
        columns=(
            *BEHIND, "accuracy %", "macro-F1", *(f"F1 {kind.value}" for kind in FailureType), "paper",
        ),
        rows=tuple(rows),
        note="Over the labelled first failures. Macro-F1: over the types that are labelled or"
        " predicted.",
    )  # fmt: skip


def _f1(value: float | None) -> Cell:
    return ABSENT if value is None else Cell(f"{value:.3f}", (("", value),))
