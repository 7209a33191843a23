"""A report: the papers' tables, curves, and the questions on which the arms part (evaluation.md,
"Reports"). It holds text and numbers; how they look is up to each face."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from core.experiments import paper, tables
from core.experiments.along import cost_of, curve_table
from core.experiments.arms import Arm, Golds, arms_of, loop_words
from core.experiments.design import order_words
from core.experiments.listings import dataset_name, jobs_words, listings_of, without_folders
from core.experiments.metrics import Result, RunMetrics, accuracy_along
from core.experiments.table import Table
from core.experiments.tables import GOLD
from core.feedback.evaluation import Tally
from core.memory.entry import MemoryEntry
from core.wording import counted

CAVEATS = (
    "Accuracy is execution accuracy over the questions that could be judged; broken ones are named"
    " below and are in no rate.",
    "One database file a schema is weaker than the test suites that the papers used, so figures here"
    " may be higher than theirs for the same answers.",
)


SIDE_BY_SIDE = (
    "Seconds are what each call took: where several questions were under way at once (see 'at once';"
    " runs of an older Merito do not tell) they shared the machine, so such seconds compare only with"
    " those of runs with the same number."
)


OWN_JUDGE = (
    "Not judged by gold but by {}: what is called right or accuracy is that judge's word alone. 'merito"
    " eval --run' tells what gold says of the same answers."
)


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """Accuracy over the first 1, 2, 3, ... questions of the stream, mean over the complete orders."""

    label: str
    values: tuple[float, ...]
    runs: tuple[str, ...] = ()
    """Ids of the arm's runs."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """An arm's accuracy and what it cost."""

    label: str
    cost: float
    """Prompt tokens evaluated for each question, mean over the orders."""
    accuracy: float
    questions: str
    """How many stand behind it: `60`, or `7 of 60` where not all are final."""


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a question in one run."""

    label: str
    order: int | None
    result: Result


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A question on which the arms part."""

    id: str
    database: str
    text: str
    gold: str
    """The right SQL; empty where the data set is not at hand."""
    tellings: tuple[Telling, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a face shows."""

    title: str
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    listings: tuple[Table, ...]
    """Long tables, one row a question or a run: for files rather than for screens."""
    curves: tuple[Curve, ...]
    points: tuple[Point, ...]
    stories: tuple[Story, ...]
    memories: Mapping[str, MemoryEntry]
    """The entries that the stories name."""


def report_of(
    runs: Sequence[RunMetrics],
    *,
    title: str,
    golds: Golds | None = None,
    benchmarks: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    right_sql: Golds | None = None,
) -> Report:
    """Compare runs. The sequence in which they are given changes nothing.

    `golds` are hashes for leaving out what memory could have served; `benchmarks` says which data
    sets (by name) are the papers' "spider" and "bird"; `labels` are true failure types by question
    id, for the classifier; `right_sql` is the gold itself, to be read beside the stories. Raises
    ValueError where there is no run.
    """
    if not runs:
        raise ValueError("a report needs a run")
    ordered = _in_sequence(runs)
    arms = ordered_arms(ordered, golds or {})
    stories = tuple(_stories(arms, right_sql or {}))
    told = {
        memory
        for story in stories
        for telling in story.tellings
        for attempt in telling.result.attempts
        for memory in attempt.memories
    }
    return Report(
        title=title,
        facts=tuple(_facts(ordered)),
        notes=(
            *CAVEATS,
            *_on_purpose(ordered),
            *_other_questions(ordered, benchmarks or {}),
            *_notes(ordered, golds),
        ),
        tables=tables.tables_of(arms, benchmarks or {}, labels or {}),
        listings=(*listings_of(arms), curve_table(arms)),
        curves=curves_of(arms),
        points=tuple(point for arm in arms if (point := _point(arm))),
        stories=stories,
        memories={
            name: entry for run in ordered for name, entry in run.memories.items() if name in told
        },
    )


def ordered_arms(runs: Sequence[RunMetrics], golds: Golds) -> tuple[Arm, ...]:
    """The arms of the runs in the sequence of the papers' tables."""
    return tuple(sorted(arms_of(_in_sequence(runs), golds), key=tables.rank))


def _in_sequence(runs: Sequence[RunMetrics]) -> list[RunMetrics]:
    return sorted(runs, key=lambda run: (run.settings.strategy, run.settings.layout, run.run))


def _facts(runs: Sequence[RunMetrics]) -> list[tuple[str, str]]:
    def each(values: Sequence[object]) -> str:
        return ", ".join(dict.fromkeys(str(value) for value in values))

    return [
        ("data set", each([dataset_name(run.settings.dataset) for run in runs])),
        ("questions", each([f"{len(run.results):,}" for run in runs])),
        ("model", each([f"{run.model.name} ({run.model.engine})" for run in runs])),
        ("runs", str(len(runs))),
        ("orders", each([order_words(run.settings.order_seed) for run in runs])),
        ("layout", each([run.settings.layout for run in runs])),
        ("K", each([run.settings.budget for run in runs])),
        ("at once", each([jobs_words(run) for run in runs])),
        ("judged by", each([f"{run.settings.regime}, {run.settings.protocol}" for run in runs])),
        ("SQLite", each([run.versions.get("sqlite", "?") for run in runs])),
        ("merito", each([run.versions.get("merito", "?") for run in runs])),
        ("repair loop", each([loop_words(run) for run in runs])),
    ]


def _on_purpose(runs: Sequence[RunMetrics]) -> Iterator[str]:
    """Where decisions differ from the published scripts' (evaluation.md, "Denotation protocols")."""
    for protocol in sorted({run.settings.protocol for run in runs if run.settings.regime == GOLD}):
        said = "; ".join(difference.says for difference in Tally(protocol=protocol).differences())
        yield f"Judged as {protocol}'s published script does, except on purpose: {said}."


def _other_questions(runs: Sequence[RunMetrics], benchmarks: Mapping[str, str]) -> Iterator[str]:
    """Where the papers' figures stand beside those of other questions."""
    asked = {(run.settings.dataset, len(run.results)) for run in runs if run.settings.regime == GOLD}
    for name, count in sorted(asked):
        theirs = paper.QUESTIONS.get(benchmarks.get(name, ""))
        if theirs is not None and count != theirs:
            yield (
                f"The paper's figures beside {dataset_name(name)} are of all {theirs:,} questions of"
                f" its dev set; {count:,} were asked here."
            )


def _notes(runs: Sequence[RunMetrics], golds: Golds | None) -> list[str]:
    notes = list(dict.fromkeys(without_folders(each, run) for run in runs for each in run.problems))
    for run in runs:
        done, uncounted = run.figures.finished, run.spending.cost.uncounted
        if not run.complete:
            notes.append(
                f"{run.run} is not finished: {done:,} of its {len(run.results):,} questions are. Paired"
                " differences take what both judged; all other figures are of finished orders where a"
                " strategy has one, and else of the order that is furthest."
            )
        if uncounted:
            notes.append(
                f"{run.run}: {counted(uncounted, 'call')} without token counts, missing in the sums."
            )
    if any(number != 1 for run in runs for number in run.jobs):
        notes.append(SIDE_BY_SIDE)
    judges = sorted({run.settings.regime for run in runs} - {GOLD})
    if judges:
        notes.insert(0, OWN_JUDGE.format(" or ".join(judges)))
    missing = {run.settings.dataset for run in runs} - set(golds or {})
    notes += [
        f"The gold of {dataset_name(name)} is not at hand: nothing is reported without the questions"
        " that memory could have served."
        for name in sorted(missing)
    ]
    return notes


def curves_of(arms: Sequence[Arm]) -> tuple[Curve, ...]:
    """One curve an arm."""
    return tuple(_curve(arm) for arm in arms)


def _curve(arm: Arm) -> Curve:
    curves = [accuracy_along(run.results) for run in arm.told]
    shortest = min(len(curve) for curve in curves)
    values = tuple(sum(curve[n] for curve in curves) / len(curves) for n in range(shortest))
    return Curve(label=arm.label, values=values, runs=tuple(run.run for run in arm.runs))


def _point(arm: Arm) -> Point | None:
    right = arm.over_orders(lambda run: run.figures.accuracy_now)
    cost = arm.over_orders(cost_of)
    if right is None or cost is None:
        return None
    told = f"{arm.questions}{arm.unfinished}"
    return Point(label=arm.label, cost=cost.mean, accuracy=right.mean, questions=told)


def _stories(arms: Sequence[Arm], right_sql: Golds) -> list[Story]:
    by_question: dict[tuple[str, str], list[Telling]] = {}
    golds: dict[tuple[str, str], str] = {}
    for arm in arms:
        for run in arm.runs:
            for result in run.judged:
                key = (result.question.id, result.question.source_key)
                telling = Telling(label=arm.label, order=run.settings.order_seed, result=result)
                by_question.setdefault(key, []).append(telling)
                golds[key] = right_sql.get(run.settings.dataset, {}).get(result.question.id, "")
    parted = [
        (golds[key], tellings)
        for key, tellings in sorted(by_question.items())
        if len({telling.result.right for telling in tellings}) > 1
    ]
    return [_story(gold, tellings) for gold, tellings in parted]


def _story(gold: str, tellings: Sequence[Telling]) -> Story:
    question = tellings[0].result.question
    return Story(
        id=question.id,
        database=question.database,
        text=question.text,
        gold=gold,
        tellings=tuple(tellings),
    )
