"""Judging a prediction by the rows of its gold query (evaluation.md, "Denotation protocols").

A protocol is a row of `PROTOCOLS`; one code path reads it. The gold SQL and its rows live in here
and never leave: what goes out is a `Score`, or a `QuestionBroken` that names the question alone.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from core.database.files import DatabaseFolder
from core.database.rows import Execution, Outcome, Row, published_rows
from core.database.sandbox import COMPLETE, Sandbox
from core.errors import MeritoError, UsageMistake
from core.feedback.bird import bird_equal, soft_f1
from core.feedback.columns import TooHard
from core.feedback.ending import is_followed
from core.feedback.spider import says_nothing, spider_equal, spider_order_matters, spider_prepare
from core.feedback.verdict import QuestionBroken, Status
from core.question import Question

NO_SQL = "no SQL found in the answer"
SEVERAL = "more than one statement"
TOO_HARD = "the result is too regular to compare within the limits"
TRUNCATED = "the result is larger than the limit for comparing"
OUT_OF_TIME = "the deadline passed"


CACHED_CELLS = 5_000_000
"""Gold cells kept in memory; the oldest results go first and are computed again when asked for."""


class DenotationProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """When two queries count as equal."""

    name: str
    prepare: Callable[[str, bool], str]
    """(SQL, keep distinct) -> the text that is run in its place."""
    order_matters: Callable[[str], bool]
    """Prepared gold SQL -> whether the order of rows counts."""
    equal: Callable[[Sequence[Row], Sequence[Row], bool], bool]
    """(predicted rows, gold rows, order matters) -> verdict."""
    soft: Callable[[Sequence[Row], Sequence[Row]], float] | None = None
    """A second figure between 0 and 1, where the benchmark has one."""
    every_database: bool = False
    """Whether every database beside the named one is a test case too."""
    shared_deadline: bool = False
    """Whether the deadline holds for prediction and gold together."""
    empty_may_be_right: bool = False
    """Whether a text without a statement counts as a query without rows."""


PROTOCOLS: dict[str, DenotationProtocol] = {
    protocol.name: protocol
    for protocol in (
        DenotationProtocol(
            name="spider",
            prepare=spider_prepare,
            order_matters=spider_order_matters,
            equal=spider_equal,
            every_database=True,
            empty_may_be_right=True,
        ),
        DenotationProtocol(
            name="bird",
            prepare=lambda sql, _keep_distinct: sql,
            order_matters=lambda _gold: False,
            equal=lambda predicted, gold, _ordered: bird_equal(predicted, gold),
            soft=soft_f1,
            shared_deadline=True,
        ),
    )
}


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """What the comparison says of one prediction. It carries nothing of the gold query."""

    status: Status
    message: str = ""
    limit_hit: bool = False
    soft: float | None = None
    """The protocol's second figure; None where it has none."""

    @property
    def correct(self) -> bool:
        """Whether the prediction is right."""
        return self.status is Status.CORRECT


class _Case(msgspec.Struct, frozen=True):
    """One database and what gold returns on it."""

    path: Path
    rows: Sequence[Row]
    seconds: float


class _Gold(msgspec.Struct, frozen=True):
    """A question's gold results; `broken` says why there are none."""

    cases: tuple[_Case, ...] = ()
    order_matters: bool = False
    broken: str = ""

    @property
    def cells(self) -> int:
        """What the rows weigh in the cache."""
        return sum(len(case.rows) * len(case.rows[0]) for case in self.cases if case.rows)


class Denotation:
    """Compares predictions with gold under one protocol.

    A gold query runs once, and its rows are kept up to `CACHED_CELLS` over all questions.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        folder: DatabaseFolder,
        golds: Mapping[str, str],
        protocol: str,
        deadline: float = 30.0,
        keep_distinct: bool = False,
    ) -> None:
        """`golds` is keyed by question id; `deadline` is in seconds. Raises MeritoError for a
        protocol that there is not."""
        if protocol not in PROTOCOLS:
            raise UsageMistake(
                f"There is no protocol '{protocol}'.", f"Choose one of {', '.join(PROTOCOLS)}."
            )
        self.protocol = PROTOCOLS[protocol]
        self._sandbox = sandbox
        self._folder = folder
        self._golds = golds
        self._deadline = deadline
        self._keep_distinct = keep_distinct
        self._results: dict[str, _Gold] = {}
        self._cells = 0
        self._running: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def score(self, question: Question, sql: str, execution: Execution | None = None) -> Score:
        """Compare `sql` with the question's gold on every test case.

        `execution` is the complete result of `sql` as it stands, where somebody ran it already;
        it spares a run where the protocol changes nothing, and its failure is what is reported.
        Raises QuestionBroken where gold is missing, fails, or hits a limit.
        """
        gold = await self._gold(question)
        text = self.protocol.prepare(sql, self._keep_distinct)
        silent = says_nothing(text)
        if not sql.strip() or (silent and not self.protocol.empty_may_be_right):
            return self._wrong(Status.EXECUTION_ERROR, NO_SQL)
        known = None
        if text.strip() == sql.strip() and not is_followed(text):
            known = execution
        score = Score(status=Status.CORRECT)
        for case in gold.cases:
            if silent:
                run = Execution(outcome=Outcome.OK)
            elif known is not None and case is gold.cases[0]:
                run = known
            else:
                run = await self._run(case.path, text)
            failure = self._failure(run, case)
            if failure is None:
                score = await asyncio.to_thread(self._compared, run, case, gold.order_matters)
            else:
                score = failure
            if not score.correct:
                return self._as_written(score, execution)
        return score

    def _compared(self, run: Execution, case: _Case, order_matters: bool) -> Score:
        """Runs in a thread: large results take seconds."""
        rows = published_rows(run)
        try:
            equal = self.protocol.equal(rows, case.rows, order_matters)
        except TooHard:
            return self._wrong(Status.EXECUTION_ERROR, TOO_HARD, limit_hit=True)
        soft = self.protocol.soft
        return Score(
            status=Status.CORRECT if equal else Status.DENOTATION_MISMATCH,
            soft=None if soft is None else soft(rows, case.rows),
        )

    def _failure(self, run: Execution, case: _Case) -> Score | None:
        """Why an execution cannot be compared; None where it can."""
        shared = case.seconds if self.protocol.shared_deadline else 0.0
        if run.outcome is Outcome.ERROR:
            return self._wrong(Status.EXECUTION_ERROR, run.error)
        if run.outcome is Outcome.TIMEOUT or run.seconds + shared > self._deadline:
            return self._wrong(Status.TIMEOUT, run.error or OUT_OF_TIME)
        if run.outcome is Outcome.LIMIT or run.truncated:
            return self._wrong(Status.EXECUTION_ERROR, run.error or TRUNCATED, limit_hit=True)
        return None

    def _wrong(self, status: Status, message: str, limit_hit: bool = False) -> Score:
        soft = None if self.protocol.soft is None else 0.0
        return Score(status=status, message=message, limit_hit=limit_hit, soft=soft)

    def _as_written(self, score: Score, execution: Execution | None) -> Score:
        """A wrong answer's score as its author should see it: of the SQL as written, where that
        was run, and not of the text that the protocol ran in its place."""
        if execution is None or score.limit_hit:
            return score
        if execution.outcome is Outcome.ERROR:
            return self._wrong(Status.EXECUTION_ERROR, execution.error)
        if execution.outcome is Outcome.OK and score.status is Status.EXECUTION_ERROR:
            return self._wrong(Status.DENOTATION_MISMATCH, "")
        return score

    async def _run(self, path: Path, text: str) -> Execution:
        if is_followed(text):
            return Execution(outcome=Outcome.ERROR, error=SEVERAL)
        return await self._sandbox.execute(path, text, deadline=self._deadline, caps=COMPLETE)

    async def _gold(self, question: Question) -> _Gold:
        async with self._running[question.id]:
            gold = self._results.get(question.id)
            if gold is None:
                gold = await self._gold_results(question)
                self._keep(question.id, gold)
        if gold.broken:
            raise QuestionBroken(
                f"Question {question.id} (database {question.database}) cannot be judged: "
                f"{gold.broken}."
            )
        return gold

    def _keep(self, question_id: str, gold: _Gold) -> None:
        self._results[question_id] = gold
        self._cells += gold.cells
        while self._cells > CACHED_CELLS and len(self._results) > 1:
            oldest = next(iter(self._results))
            self._cells -= self._results.pop(oldest).cells

    async def _gold_results(self, question: Question) -> _Gold:
        try:
            return await self._run_gold(question)
        except MeritoError as unusable:
            problem = unusable.problem.rstrip(".")
            return _Gold(broken=f"its database cannot be used ({problem})")

    def _databases(self, db_id: str) -> tuple[Path, ...]:
        if self.protocol.every_database:
            return self._folder.test_cases(db_id)
        return (self._folder.path(db_id),)

    async def _run_gold(self, question: Question) -> _Gold:
        """Run gold on every test case. Of the DBMS's message only the kind is passed on: the rest of it
        would quote gold."""
        sql = self._golds.get(question.id, "")
        if not sql.strip():
            return _Gold(broken="it has no gold query")
        text = self.protocol.prepare(sql, self._keep_distinct)
        cases = []
        for path in self._databases(question.database):
            run = await self._run(path, text)
            broken = _broken(run) or (_TOO_LARGE if run.truncated else "")
            if broken:
                return _Gold(broken=broken)
            rows = await asyncio.to_thread(published_rows, run)
            cases.append(_Case(path, rows, run.seconds))
        return _Gold(tuple(cases), self.protocol.order_matters(text))


def _broken(run: Execution) -> str:
    """Why a gold query has no rows to compare with; empty where it has."""
    said = run.error.casefold() if run.outcome is Outcome.ERROR else ""
    kind = next((kind for kind in _KINDS if kind in said), "")
    return _BROKEN.get(run.outcome, "") + (f" ({kind})" if kind else "")


_KINDS = (
    "no such column", "no such table", "no such function", "no such collation", "no such module",
    "ambiguous column name", "syntax error", "incomplete input", "unrecognized token",
    "misuse of aggregate", "misuse of window function", "wrong number of arguments",
    "sub-select returns", "do not have the same number of result columns", "integer overflow",
    "more than one statement", "is not authorized", "prohibited", "malformed json",
)  # fmt: skip
"""Errors of SQLite and of the sandbox, each by the words of its message that quote nothing."""
_TOO_LARGE = "its gold result is larger than the limit for comparing"
_BROKEN = {
    Outcome.ERROR: "its gold query fails",
    Outcome.TIMEOUT: "its gold query does not end within the deadline",
    Outcome.LIMIT: "its gold query hits a limit of the sandbox",
}
