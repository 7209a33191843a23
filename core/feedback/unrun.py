"""The verdict on SQL that did not run, which every regime shares."""

from __future__ import annotations

from core.database.rows import Execution, Outcome
from core.feedback.verdict import Status, Verdict


def not_run(execution: Execution, confirms: bool) -> Verdict | None:
    """The verdict on what did not run, which needs no judge: the database said it."""
    if execution.outcome is Outcome.OK:
        return None
    return Verdict(
        status=Status.TIMEOUT if execution.outcome is Outcome.TIMEOUT else Status.EXECUTION_ERROR,
        message=execution.error,
        confirmed=confirms,
        judge="database",
        limit_hit=execution.outcome is Outcome.LIMIT,
    )
