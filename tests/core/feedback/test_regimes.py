"""Who says "correct": the three regimes, and the place of the fourth."""

from __future__ import annotations

import asyncio

import pytest

from core.database.files import DatabaseFolder
from core.database.rows import Execution, Outcome
from core.database.sandbox import COMPLETE, Sandbox
from core.errors import MeritoError
from core.feedback.regimes import REGIMES, ExecutionRegime, OperatorRegime, RegimeParts, build_regime
from core.feedback.verdict import QuestionBroken, Regime, Status, Verdict
from core.question import Question
from core.run.control import Control, Judgement, Stopped

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = Question(id="q", database="shop", text="Which items are there?")
RAN = Execution(outcome=Outcome.OK, columns=("name",), rows=(("apple",),))
EMPTY = Execution(outcome=Outcome.OK, columns=("name",))
FAILED = Execution(outcome=Outcome.ERROR, error="no such column: nom")
LATE = Execution(outcome=Outcome.TIMEOUT, error="stopped at the deadline of 10 s")
STOPPED = Execution(outcome=Outcome.LIMIT, error="out of memory")


def _parts(sandbox: Sandbox, folder: DatabaseFolder, **more: object) -> RegimeParts:
    return RegimeParts(sandbox=sandbox, folder=folder, control=Control(), **more)  # type: ignore[arg-type]


async def _judge(regime: Regime, execution: Execution) -> Verdict:
    return await regime.judge(QUESTION, "SELECT name FROM item", execution, 3, 1)


async def test_denotation_confirms_by_the_gold_rows(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    parts = _parts(sandbox, folder, golds={"q": "SELECT name FROM item"})
    regime = build_regime("denotation", parts)
    assert (regime.confirms, regime.asks, regime.full_rows) == (True, False, True)
    for sql, status in (
        ("SELECT name FROM item", Status.CORRECT),
        ("SELECT nom FROM item", Status.EXECUTION_ERROR),
    ):
        execution = await sandbox.execute(folder.path("shop"), sql, caps=COMPLETE)
        verdict = await regime.judge(QUESTION, sql, execution, 0, 0)
        assert verdict == Verdict(
            status=status, message=execution.error, confirmed=True, judge="denotation"
        )


async def test_denotation_marks_limits(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    regime = build_regime("denotation", _parts(sandbox, folder, golds={"q": "SELECT 1"}))
    verdict = await _judge(regime, STOPPED)
    assert (verdict.status, verdict.limit_hit) == (Status.EXECUTION_ERROR, True)
    assert (await _judge(regime, LATE)).status is Status.TIMEOUT


async def test_denotation_says_when_the_question_is_at_fault(
    sandbox: Sandbox, folder: DatabaseFolder
) -> None:
    regime = build_regime("denotation", _parts(sandbox, folder, golds={"other": "SELECT 1"}))
    with pytest.raises(QuestionBroken, match="no gold"):
        await _judge(regime, RAN)


WORDS = [
    (Judgement(right=True, who="ana"), Verdict(status=Status.CORRECT, confirmed=True, judge="ana")),
    (
        Judgement(right=False, remark="only open ones"),
        Verdict(
            status=Status.DENOTATION_MISMATCH, confirmed=True, judge="operator", remark="only open ones"
        ),
    ),
    (
        Judgement(skip=True, right=True),
        Verdict(status=Status.DENOTATION_MISMATCH, judge="operator", skipped=True),
    ),
    (
        Judgement(corrected_sql=" SELECT 1 "),
        Verdict(
            status=Status.DENOTATION_MISMATCH,
            confirmed=True,
            judge="operator",
            corrected_sql="SELECT 1",
        ),
    ),
    (
        Judgement(right=True, corrected_sql="SELECT 1"),
        Verdict(
            status=Status.DENOTATION_MISMATCH,
            confirmed=True,
            judge="operator",
            corrected_sql="SELECT 1",
        ),
    ),
]


@pytest.mark.parametrize(("word", "verdict"), WORDS)
async def test_a_person_is_asked_and_their_word_counts(word: Judgement, verdict: Verdict) -> None:
    control = Control()
    asked = asyncio.Event()
    control.on_change(asked.set)
    judging = asyncio.create_task(_judge(OperatorRegime(control), RAN))
    await asked.wait()
    assert control.waiting == ((3, 1),)
    assert control.judge(3, 1, word)
    assert await judging == verdict


@pytest.mark.parametrize(
    ("execution", "status", "limit"),
    [
        (FAILED, Status.EXECUTION_ERROR, False),
        (LATE, Status.TIMEOUT, False),
        (STOPPED, Status.EXECUTION_ERROR, True),
    ],
)
async def test_nobody_is_asked_about_what_did_not_run(
    execution: Execution, status: Status, limit: bool
) -> None:
    control = Control()
    for regime, confirmed in ((OperatorRegime(control), True), (ExecutionRegime(), False)):
        verdict = await _judge(regime, execution)
        assert verdict == Verdict(
            status=status,
            message=execution.error,
            judge="database",
            confirmed=confirmed,
            limit_hit=limit,
        )
    assert control.waiting == ()


async def test_a_stopped_run_waits_for_nobody() -> None:
    control = Control()
    asked = asyncio.Event()
    control.on_change(asked.set)
    judging = asyncio.create_task(_judge(OperatorRegime(control), RAN))
    await asked.wait()
    control.stop()
    with pytest.raises(Stopped):
        await judging


async def test_execution_takes_whatever_runs_and_confirms_nothing() -> None:
    assert await _judge(ExecutionRegime(), EMPTY) == Verdict(status=Status.CORRECT, judge="execution")
    strict = ExecutionRegime(require_rows=True)
    assert not strict.confirms
    assert (await _judge(strict, RAN)).status is Status.CORRECT
    empty = await _judge(strict, EMPTY)
    assert (empty.status, empty.confirmed) == (Status.DENOTATION_MISMATCH, False)
    assert "no rows" in empty.remark


async def test_the_table_of_regimes(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    assert list(REGIMES) == ["denotation", "operator", "execution", "consensus"]
    parts = _parts(sandbox, folder, golds={"q": "SELECT 1"})
    for name, row in REGIMES.items():
        assert build_regime(name, parts).name == row.name == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("oracle", "no regime 'oracle'"),
        ("denotation", "has none"),
    ],
)
async def test_a_regime_that_cannot_be_had_says_why(
    sandbox: Sandbox, folder: DatabaseFolder, name: str, says: str
) -> None:
    with pytest.raises(MeritoError, match=says) as refused:
        build_regime(name, _parts(sandbox, folder))
    assert "operator" in refused.value.mend
