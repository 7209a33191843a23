"""What the failure classifier said: its composition, what was repaired of each type, and how far it
agrees with labels (MERIT, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from core.experiments import paper
from core.experiments.arms import Arm, labels_of, question_key
from core.experiments.metrics import Result
from core.experiments.statistics import agreement, spread
from core.experiments.table import ABSENT, BEHIND, Cell, Table, behind, count, mean, published, words
from core.feedback.verdict import FailureType

FIRST, LAST = 0, -1
"""Which attempt of a question is meant."""


BenchmarkOf = Callable[[Arm], str]
"""Whose published figures stand beside an arm's; empty for nobody's."""


def failures_table(arms: Sequence[Arm], benchmark: BenchmarkOf) -> Table:
    """The composition: of the first failures, and of what stays wrong."""
    firsts = first_predictions(arms)
    rows = [
        (words(label), *_composition(arm, FIRST), published(_mismatches(arm, benchmark), 1))
        for label, arm in firsts
    ]
    beside = any(_mismatches(arm, benchmark) for _, arm in firsts)
    rows += [(words(arm.label), *_composition(arm, LAST), ABSENT) for arm in arms]
    return Table(
        name="failures",
        title="Failure types, % (all orders together)",
        columns=(
            *BEHIND, "of", "failures", *(kind.value for kind in FailureType), "paper mismatch",
        ),
        rows=tuple(rows),
        note="As the classifier sees the SQL that failed. First failures stand once where several"
        f" strategies share them.{f' Paper: {paper.ABOUT}.' if beside else ''}",
    )  # fmt: skip


def _mismatches(arm: Arm, benchmark: BenchmarkOf) -> float | None:
    return paper.MISMATCH_SHARE.get(benchmark(arm))


def _composition(arm: Arm, attempt: int) -> tuple[Cell, ...]:
    """What stands behind it, which failures are meant, their number, and the share of each type."""
    failed = [
        result
        for run in arm.told
        for result in (run.failed_first if attempt == FIRST else run.judged)
        if _type(result, attempt)
    ]
    kinds = Counter(_type(result, attempt) for result in failed)
    shares = tuple(_share(kinds[kind], len(failed)) for kind in FailureType)
    what = "first failures" if attempt == FIRST else "still wrong"
    return (*behind(arm)[1:], words(what), count(len(failed)), *shares)


def first_predictions(arms: Sequence[Arm]) -> list[tuple[str, Arm]]:
    """Every set of initial predictions with its label, once, as the arm has it that judged most of
    it: strategies share those of their model and data set."""
    kept: list[Arm] = []
    for arm in arms:
        place = next((n for n, other in enumerate(kept) if _share_firsts(arm, other)), None)
        if place is None:
            kept.append(arm)
        elif _judged(arm) > _judged(kept[place]):
            kept[place] = arm
    if len(arms) == 1:
        return [(arm.label, arm) for arm in kept]
    labels = labels_of([arm.runs[0] for arm in kept], "initial SQL")
    return list(zip(labels, kept, strict=True))


def _share_firsts(one: Arm, other: Arm) -> bool:
    first, second = one.runs[0], other.runs[0]
    if first.settings.dataset != second.settings.dataset:
        return False
    if first.model.fingerprint != second.model.fingerprint:
        return False
    mine, theirs = _first_sql(one), _first_sql(other)
    common = mine.keys() & theirs.keys()
    return bool(common) and all(mine[each] == theirs[each] for each in common)


def _first_sql(arm: Arm) -> dict[tuple[str, str], str]:
    return {
        question_key(result): result.attempts[0].sql
        for run in arm.runs
        for result in run.judged
        if result.attempts
    }


def _judged(arm: Arm) -> int:
    return sum(len(run.judged) for run in arm.told)


def _type(result: Result, attempt: int) -> FailureType | None:
    return result.attempts[attempt].failure if result.attempts else None


def repaired_table(arms: Sequence[Arm]) -> Table:
    """Of the questions that failed first with each type: how many were repaired."""
    rows = []
    for arm in arms:
        failed = [result for run in arm.told for result in run.failed_first]
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


def classifier_table(arms: Sequence[Arm], benchmark: BenchmarkOf, labels: Mapping[str, str]) -> Table:
    """Agreement with labels, over the first failures of each arm's first order: the initial
    predictions are the same in all."""
    rows = []
    for label, arm in first_predictions(arms):
        run = arm.told[0]
        pairs = [
            (labels[result.question.id], str(kind))
            for result in run.failed_first
            if result.question.id in labels and (kind := _type(result, FIRST))
        ]
        found = agreement(pairs)
        if found is None:
            continue
        theirs = paper.CLASSIFIER.get(benchmark(arm))
        figures = (
            words(label),
            count(found.n),
            count(1),
            mean(spread([found.accuracy]), scale=100),
            mean(spread([found.macro_f1]), 3),
            *(_f1(found.f1.get(kind.value)) for kind in FailureType),
            words(theirs) if theirs else ABSENT,
        )
        rows.append(figures)
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
