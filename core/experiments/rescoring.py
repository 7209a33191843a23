"""What gold says of a run whose own judge was another: a person, the database, or the agreement of
candidates (merit.md, "Feedback"). It tells what repairing was worth where nobody had the gold, and
how often it made a right answer wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from enum import StrEnum

import msgspec

from core.datasets.dataset import DataSet
from core.datasets.loading import NO_DATABASE
from core.experiments.metrics import Attempt, Result, RunMetrics, gold_hash, served_by_memory
from core.experiments.statistics import Interval, McNemar, mcnemar, paired_difference
from core.experiments.table import ABSENT, Cell, Table, Value, count, interval, words
from core.feedback.denotation import Denotation
from core.feedback.evaluation import BROKEN, Decision, Difference, Pairing, Tally, decide
from core.feedback.verdict import Status
from core.question import Question
from core.run.events import EpisodeOutcome


class Omission(StrEnum):
    """Why a question of the run is in no figure."""

    UNFINISHED = "unfinished"
    BROKEN_IN_RUN = "broken in the run"
    NO_DATABASE = "database missing"
    GONE = "no longer in the data set"
    ANOTHER = "another question since the run"
    NO_GOLD = "no gold"
    BROKEN_GOLD = "broken gold"


class Change(StrEnum):
    """What became of the first SQL by the last, as gold has it."""

    STAYED_RIGHT = "stayed right"
    MADE_RIGHT = "made right"
    MADE_WRONG = "made wrong"
    STILL_WRONG = "still wrong"


_CHANGES = {
    (True, True): Change.STAYED_RIGHT,
    (False, True): Change.MADE_RIGHT,
    (True, False): Change.MADE_WRONG,
    (False, False): Change.STILL_WRONG,
}


class Omitted(msgspec.Struct, frozen=True, kw_only=True):
    """A question that gold says nothing about."""

    result: Result
    why: Omission
    note: str = ""


class Rescored(msgspec.Struct, frozen=True, kw_only=True):
    """One question with gold's word on its first and its last SQL."""

    result: Result
    first: Decision
    last: Decision

    @property
    def change(self) -> Change:
        """What repairing did to it."""
        return _CHANGES[self.first.correct is True, self.last.correct is True]

    @property
    def called_right(self) -> bool:
        """Whether the run's own judge was content with the last SQL."""
        return answer_of(self.result).status is Status.CORRECT


class Rescoring(msgspec.Struct, frozen=True, kw_only=True):
    """A run, judged again by gold."""

    run: RunMetrics
    answers: tuple[Rescored, ...]
    """In the order of the stream."""
    omitted: tuple[Omitted, ...]
    served: frozenset[str]
    """Questions whose gold occurred earlier in the stream: memory could have served the answer."""

    @property
    def complete(self) -> bool:
        """Whether every finished question could be judged."""
        return all(each.why is Omission.UNFINISHED for each in self.omitted)

    @property
    def changes(self) -> Counter[Change]:
        """Questions by what became of them."""
        return Counter(each.change for each in self.answers)

    @property
    def first_right(self) -> int:
        """Questions whose first SQL is right by gold."""
        return sum(each.first.correct is True for each in self.answers)

    @property
    def last_right(self) -> int:
        """Questions whose last SQL is right by gold."""
        return sum(each.last.correct is True for each in self.answers)

    @property
    def gain(self) -> Interval | None:
        """Accuracy of the last SQL minus that of the first; None where nothing could be judged."""
        return _gain(self._pairs(self.answers))

    @property
    def unserved(self) -> list[Rescored]:
        """The answers that memory could not have served."""
        return [each for each in self.answers if each.result.question.id not in self.served]

    @property
    def gain_unserved(self) -> Interval | None:
        """The same over them alone."""
        return _gain(self._pairs(self.unserved))

    @property
    def test(self) -> McNemar | None:
        """Last against first; None where nothing could be judged."""
        return mcnemar(self._pairs(self.answers)) if self.answers else None

    @staticmethod
    def _pairs(answers: Iterable[Rescored]) -> list[tuple[bool, bool]]:
        return [(each.last.correct is True, each.first.correct is True) for each in answers]


def _gain(pairs: Sequence[tuple[bool, bool]]) -> Interval | None:
    return paired_difference([last for last, _ in pairs], [first for _, first in pairs])


def answer_of(result: Result) -> Attempt:
    """What a question got in the end: the attempt that the run's judge called right, else the last
    one. Raises ValueError where nothing was attempted."""
    if not result.attempts:
        raise ValueError("a question without an attempt has no answer")
    called = (each for each in result.attempts if each.status is Status.CORRECT)
    return next(called, result.attempts[-1])


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run gold can judge."""

    run: RunMetrics
    results: tuple[Result, ...]
    omitted: tuple[Omitted, ...]
    served: frozenset[str]
    """As in Rescoring."""

    @property
    def pairs(self) -> list[Pairing]:
        """First and last SQL of each question; a text that is both stands once."""
        return [
            Pairing(question=result.question, predicted=sql)
            for result in self.results
            for sql in dict.fromkeys((result.attempts[0].sql, answer_of(result).sql))
        ]


def plan_of(run: RunMetrics, dataset: DataSet) -> Plan:
    """Find the questions that can be judged. `dataset` is read anew: what it says today must still
    be about what the run asked."""
    known = {question.id: question for question in dataset.questions}
    absent = {each.question: each.why for each in dataset.left_out}
    results, omitted = [], []
    for result in run.results:
        why = _in_the_way(result, dataset, known, absent)
        if why is None:
            results.append(result)
        else:
            omitted.append(Omitted(result=result, why=why, note=result.note))
    golds = {
        asked.id: gold_hash(asked.database, dataset.golds[asked.id])
        for asked in (result.question for result in run.results)
        if asked.id in dataset.golds
    }
    served = served_by_memory(run.results, golds)
    return Plan(run=run, results=tuple(results), omitted=tuple(omitted), served=served)


def _in_the_way(
    result: Result, dataset: DataSet, known: Mapping[str, Question], absent: Mapping[str, str]
) -> Omission | None:
    asked = result.question
    now = known.get(asked.id)
    if result.outcome is None:
        return Omission.UNFINISHED
    if now is None:
        return Omission.NO_DATABASE if absent.get(asked.id) == NO_DATABASE else Omission.GONE
    if now.source_key != asked.source_key:
        return Omission.ANOTHER
    if asked.id not in dataset.golds:
        return Omission.NO_GOLD
    broken = result.outcome is EpisodeOutcome.BROKEN or not result.attempts
    return Omission.BROKEN_IN_RUN if broken else None


async def rescored(
    plan: Plan,
    denotation: Denotation,
    *,
    at_once: int = 2,
    heard: Callable[[Decision], object] = lambda _decision: None,
) -> Rescoring:
    """Judge by the golds that `denotation` knows; `heard` is told each decision."""
    pairs = plan.pairs
    decisions: dict[tuple[str, str], Decision] = {}
    async with aclosing(decide(pairs, denotation, at_once)) as deciding:
        async for decision in deciding:
            pair = pairs[decision.index]
            decisions[pair.question.id, pair.predicted] = decision
            heard(decision)
    answers, omitted = [], list(plan.omitted)
    for result in plan.results:
        first = decisions[result.question.id, result.attempts[0].sql]
        last = decisions[result.question.id, answer_of(result).sql]
        if first.correct is None or last.correct is None:
            omitted.append(Omitted(result=result, why=Omission.BROKEN_GOLD, note=first.error))
        else:
            answers.append(Rescored(result=result, first=first, last=last))
    omitted.sort(key=lambda each: each.result.position)
    return Rescoring(run=plan.run, answers=tuple(answers), omitted=tuple(omitted), served=plan.served)


def summary_table(rescorings: Sequence[Rescoring]) -> Table:
    """One row a run."""
    return Table(
        name="by-gold",
        title="Answers by gold",
        columns=(
            "run", "strategy", "judged by", "questions", "left out", "first right", "last right",
            *(str(change) for change in Change if change is not Change.STAYED_RIGHT),
            "called right", "of these right", "by hand", "gain", "McNemar p", "gain, gold not seen",
            "questions, gold not seen",
        ),
        rows=tuple(map(_row, rescorings)),
        note="Gain: points of accuracy, last SQL minus first, with the 95 % interval of a paired"
        " bootstrap over the questions (10,000 draws, seed 0). Gold not seen: without the questions"
        " whose gold SQL occurred earlier in the stream, which memory could have served. McNemar:"
        " exact. Called right: the run's own judge was content with the last SQL. By hand: a person"
        " wrote the last SQL.",
    )  # fmt: skip


def _row(rescoring: Rescoring) -> tuple[Cell, ...]:
    run, changes, test = rescoring.run, rescoring.changes, rescoring.test
    called = [each for each in rescoring.answers if each.called_right]
    by_hand = sum(each.result.outcome is EpisodeOutcome.CORRECTED for each in rescoring.answers)
    return (
        words(run.run),
        words(run.settings.strategy),
        words(run.settings.regime),
        count(len(rescoring.answers)),
        count(len(rescoring.omitted)),
        count(rescoring.first_right),
        count(rescoring.last_right),
        count(changes[Change.MADE_RIGHT]),
        count(changes[Change.MADE_WRONG]),
        count(changes[Change.STILL_WRONG]),
        count(len(called)),
        count(sum(each.last.correct is True for each in called)),
        count(by_hand),
        interval(rescoring.gain),
        Cell(f"{test.p:.3g}", (("", test.p),)) if test else ABSENT,
        interval(rescoring.gain_unserved),
        count(len(rescoring.unserved)),
    )


def omitted_table(rescorings: Sequence[Rescoring]) -> Table:
    """Questions that are in no figure, by run and reason; the first of each by name."""
    rows = []
    for rescoring in rescorings:
        by_reason: dict[Omission, list[Omitted]] = {}
        for each in rescoring.omitted:
            by_reason.setdefault(each.why, []).append(each)
        for why, group in by_reason.items():
            rows.append(
                (
                    words(rescoring.run.run),
                    words(str(why)),
                    count(len(group)),
                    words(group[0].result.question.id),
                    words(group[0].note),
                )
            )
    return Table(
        name="left-out",
        title="Questions left out",
        columns=("run", "why", "questions", "the first", "note"),
        rows=tuple(rows),
    )


def difference_table(rescorings: Sequence[Rescoring]) -> Table:
    """Where decisions may differ from the published scripts' on purpose, and how many do."""
    rows = []
    for protocol in sorted({each.run.settings.protocol for each in rescorings}):
        under = [each for each in rescorings if each.run.settings.protocol == protocol]
        for difference in Tally(protocol=protocol).differences():
            named = [name for each in under for name in _differing(each, difference)]
            first = words(named[0]) if named else ABSENT
            rows.append((words(difference.says), words(protocol), count(len(named)), first))
    return Table(
        name="on-purpose",
        title="Where decisions differ from the published script's on purpose",
        columns=("difference", "protocol", "questions", "the first"),
        rows=tuple(rows),
        note="Questions of all these runs whose first or last SQL it may have decided.",
    )


def _differing(rescoring: Rescoring, difference: Difference) -> Iterator[str]:
    for each in rescoring.answers:
        if difference.applies(each.first) or difference.applies(each.last):
            yield each.result.question.id
    broken = Decision(index=0, db_id="", correct=None, status=BROKEN)
    for omitted in rescoring.omitted:
        gold_fails = omitted.why in (Omission.BROKEN_IN_RUN, Omission.BROKEN_GOLD)
        if gold_fails and difference.applies(broken):
            yield omitted.result.question.id


def question_records(rescoring: Rescoring) -> list[dict[str, Value]]:
    """One record a question of the run, in the order of the stream, those left out too."""
    found: Mapping[int, Rescored] = {each.result.position: each for each in rescoring.answers}
    why = {each.result.position: each for each in rescoring.omitted}
    records: list[dict[str, Value]] = []
    for result in rescoring.run.results:
        judged, omitted = found.get(result.position), why.get(result.position)
        finished = result.outcome is not None and bool(result.attempts)
        records.append(
            {
                "run": rescoring.run.run,
                "question": result.question.id,
                "database": result.question.database,
                "outcome": str(result.outcome) if result.outcome else None,
                "change": str(judged.change) if judged else None,
                "called right": judged.called_right if judged else None,
                **_told("first", judged.first if judged else None),
                **_told("last", judged.last if judged else None),
                "first SQL": result.attempts[0].sql if finished else None,
                "last SQL": answer_of(result).sql if finished else None,
                "left out": str(omitted.why) if omitted else None,
                "note": omitted.note if omitted else "",
            }
        )
    return records


def _told(which: str, decision: Decision | None) -> dict[str, Value]:
    return {
        f"{which} right": decision.correct if decision else None,
        f"{which} status": str(decision.status) if decision else None,
        f"{which} message": decision.error if decision else "",
    }
