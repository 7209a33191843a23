"""Which questions of a run gold can judge, and which of their SQL."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from core.database.files import DatabaseFolder
from core.datasets.dataset import DataSet
from core.datasets.loading import MALFORMED, NO_DATABASE
from core.experiments.metrics import Result, RunMetrics, metrics_of
from core.experiments.rescoring import Omission, answer_of, plan_of
from core.feedback.verdict import Status
from core.question import LeftOut, Question, Stream
from tests.streams import question, run_events


@pytest.fixture
def run() -> RunMetrics:
    """Eight episodes, one of each kind, and the last of nine not finished."""
    events = [each for each in run_events(9) if getattr(each, "position", 0) != 8]
    return metrics_of(events)


def dataset(*questions: Question, without: str = "", left_out: tuple[LeftOut, ...] = ()) -> DataSet:
    """Questions that all have gold, but for one."""
    return DataSet(
        name="sample",
        protocol="spider",
        questions=Stream(questions),
        golds={each.id: "SELECT 1" for each in questions if each.id != without},
        folder=DatabaseFolder(Path()),
        left_out=left_out,
    )


def test_every_finished_question_that_is_the_same_today_is_judged(run: RunMetrics) -> None:
    plan = plan_of(run, dataset(*map(question, range(9))))
    assert [each.question.id for each in plan.results] == [f"q{n}" for n in range(7)]
    reasons = {each.result.question.id: each.why for each in plan.omitted}
    assert reasons == {"q7": Omission.BROKEN_IN_RUN, "q8": Omission.UNFINISHED}


def test_the_reason_is_told_for_each_that_is_not(run: RunMetrics) -> None:
    changed = msgspec.structs.replace(question(1), text="Something else?")
    lost = LeftOut(question="q2", database="clinic", why=NO_DATABASE)
    spoilt = LeftOut(question="q3", database="atelier", why=MALFORMED)
    known = dataset(question(0), changed, question(4), without="q4", left_out=(lost, spoilt))
    plan = plan_of(run, known)
    assert [each.question.id for each in plan.results] == ["q0"]
    assert {each.result.question.id: each.why for each in plan.omitted} == {
        "q1": Omission.ANOTHER,
        "q2": Omission.NO_DATABASE,
        "q3": Omission.GONE,
        "q4": Omission.NO_GOLD,
        "q5": Omission.GONE,
        "q6": Omission.GONE,
        "q7": Omission.GONE,
        "q8": Omission.UNFINISHED,
    }


def test_first_and_last_sql_are_put_once_each(run: RunMetrics) -> None:
    """Right at once: one text; repaired after three: the first and the fourth."""
    plan = plan_of(run, dataset(*map(question, range(9))))
    put = [pair.predicted for pair in plan.pairs if pair.question.id == "q0"]
    assert put == [run.results[0].attempts[0].sql]
    attempts = run.results[3].attempts
    put = [pair.predicted for pair in plan.pairs if pair.question.id == "q3"]
    assert put == [attempts[0].sql, attempts[3].sql]


def test_the_answer_is_what_was_called_right_or_else_the_last(run: RunMetrics) -> None:
    repaired, failed = run.results[3], run.results[2]
    assert answer_of(repaired).status is Status.CORRECT
    assert answer_of(failed) == failed.attempts[-1]
    with pytest.raises(ValueError, match="no answer"):
        answer_of(Result(position=0, question=question(0)))
