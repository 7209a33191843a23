"""Trying one SQL text: has it been tried before, what does the database say, who says it is right."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from core.database.rows import Execution, Outcome, clipped
from core.database.sandbox import COMPLETE, DISPLAY
from core.feedback.denotation import NO_SQL
from core.feedback.failure import classify
from core.feedback.unrun import not_run
from core.feedback.verdict import Status, Verdict
from core.repair.equipment import Equipment
from core.repair.history import History
from core.run.events import AnyEvent, AttemptJudged, JudgementAwaited, SqlExecuted


async def attempt_sql(
    equipment: Equipment,
    history: History,
    attempt: int,
    sql: str,
    *,
    refuse_same_rows: bool,
    mended: str = "",
) -> AsyncGenerator[AnyEvent, None]:
    """Run and judge `sql` as attempt number `attempt`; the last event is its AttemptJudged.

    A repeat of an earlier attempt takes its place in the budget and is not run again. With
    `refuse_same_rows`, neither is SQL judged again whose rows were already called a mismatch.
    `mended` says what a rule changed, where the SQL is not the model's.
    """
    position, stamp = history.position, equipment.stamp

    def judged(verdict: Verdict, **more: object) -> AttemptJudged:
        return _judged(equipment, history, attempt, sql, verdict, **more)

    if not sql:
        yield judged(Verdict(status=Status.EXECUTION_ERROR, message=NO_SQL, judge="extraction"))
        return
    earlier = history.repeat_of(sql)
    if earlier is not None:
        yield judged(as_before(earlier), repeats=earlier.attempt, refused="repeats an earlier SQL")
        return

    regime = equipment.regime
    execution = await equipment.sandbox.execute(
        equipment.folder.path(history.question.database),
        sql,
        deadline=equipment.settings.deadline,
        caps=COMPLETE if regime.full_rows else DISPLAY,
    )
    result = clipped(execution)
    yield stamp(SqlExecuted, position=position, attempt=attempt, sql=sql, result=result, mended=mended)
    same = history.same_rows_as(result.digest, before=attempt) if refuse_same_rows else None
    if same is not None:
        yield judged(as_before(same), refused=f"returns the same rows as attempt {same.attempt}")
        return
    if regime.asks and execution.outcome is Outcome.OK:
        equipment.control.expect(position, attempt)
        yield stamp(JudgementAwaited, position=position, attempt=attempt)
    verdict = await regime.judge(history.question, sql, execution, position, attempt)
    yield judged(verdict)


async def asked_again(
    equipment: Equipment, history: History, asked: SqlExecuted
) -> AsyncGenerator[AnyEvent, None]:
    """The question to a person that an interruption left open, about the rows of then."""
    position, attempt = history.position, asked.attempt
    equipment.control.expect(position, attempt)
    yield equipment.stamp(JudgementAwaited, position=position, attempt=attempt)
    verdict = await equipment.regime.judge(
        history.question, asked.sql, Execution(outcome=asked.result.outcome), position, attempt
    )
    yield _judged(equipment, history, attempt, asked.sql, verdict)


async def corrected_by_hand(equipment: Equipment, history: History) -> AsyncGenerator[AnyEvent, None]:
    """The person's own SQL as the next attempt: right by their word, unless it does not run."""
    last, position = history.last, history.position
    attempt = last.attempt + 1
    execution = await equipment.sandbox.execute(
        equipment.folder.path(history.question.database),
        last.correction,
        deadline=equipment.settings.deadline,
        caps=DISPLAY,
    )
    yield equipment.stamp(
        SqlExecuted,
        position=position,
        attempt=attempt,
        sql=last.correction,
        result=clipped(execution),
    )
    verdict = not_run(execution, confirms=True) or Verdict(
        status=Status.CORRECT, confirmed=True, judge=last.judge, remark=last.remark
    )
    yield _judged(equipment, history, attempt, last.correction, verdict)


def _judged(
    equipment: Equipment, history: History, attempt: int, sql: str, verdict: Verdict, **more: object
) -> AttemptJudged:
    """The event that closes an attempt."""
    correct = verdict.status is Status.CORRECT
    failure, rule = (None, "") if correct else classify(verdict.status, verdict.message)
    return equipment.stamp(
        AttemptJudged,
        position=history.position,
        attempt=attempt,
        sql=sql,
        status=verdict.status,
        message=verdict.message,
        failure=failure,
        rule=rule,
        confirmed=verdict.confirmed,
        judge=verdict.judge,
        remark=verdict.remark,
        correction=verdict.corrected_sql,
        skipped=verdict.skipped,
        limit_hit=verdict.limit_hit,
        **more,
    )


def as_before(earlier: AttemptJudged) -> Verdict:
    """The verdict on an earlier attempt, for one that is no different."""
    return Verdict(
        status=earlier.status,
        message=earlier.message,
        confirmed=earlier.confirmed,
        judge=earlier.judge,
        limit_hit=earlier.limit_hit,
    )
