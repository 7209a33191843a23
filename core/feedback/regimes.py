"""Who says "correct": the regimes of feedback (merit.md, "Feedback"), as rows of one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from core.database.files import DatabaseFolder
from core.database.rows import Execution
from core.database.sandbox import Sandbox
from core.errors import UsageMistake
from core.feedback.consensus import ConsensusRegime
from core.feedback.denotation import Denotation
from core.feedback.unrun import not_run
from core.feedback.verdict import Regime, Status, Verdict
from core.question import Question
from core.run.control import Control

NO_ROWS = "the query returned no rows"


class DenotationRegime:
    """The oracle of the benchmarks: a comparison with the gold rows."""

    name = "denotation"
    confirms = True
    asks = False
    full_rows = True

    def __init__(
        self,
        sandbox: Sandbox,
        folder: DatabaseFolder,
        golds: Mapping[str, str],
        protocol: str,
        deadline: float,
        keep_distinct: bool = False,
    ) -> None:
        """`golds` is keyed by question id; `deadline` is in seconds."""
        self._denotation = Denotation(sandbox, folder, golds, protocol, deadline, keep_distinct)

    async def judge(
        self, question: Question, sql: str, execution: Execution, position: int, attempt: int
    ) -> Verdict:
        """Compare with gold. Raises QuestionBroken, which names the question and nothing of gold."""
        score = await self._denotation.score(question, sql, execution)
        return Verdict(
            status=score.status,
            message=score.message,
            confirmed=True,
            judge=self.name,
            limit_hit=score.limit_hit,
        )


class OperatorRegime:
    """A person in the console. What did not run is decided without asking."""

    name = "operator"
    confirms = True
    asks = True
    full_rows = False

    def __init__(self, control: Control) -> None:
        self._control = control

    async def judge(
        self, question: Question, sql: str, execution: Execution, position: int, attempt: int
    ) -> Verdict:
        """Wait for the person's word. Raises control.Stopped where the run is stopped meanwhile."""
        failed = not_run(execution, self.confirms)
        if failed is not None:
            return failed
        word = await self._control.judgement(position, attempt)
        right = word.right and not word.skip and not word.corrected_sql.strip()
        return Verdict(
            status=Status.CORRECT if right else Status.DENOTATION_MISMATCH,
            confirmed=not word.skip,
            judge=word.who,
            remark=word.remark,
            corrected_sql="" if word.skip else word.corrected_sql.strip(),
            skipped=word.skip,
        )


class ExecutionRegime:
    """Whatever runs is right; nothing is confirmed, so what it teaches waits for a review."""

    name = "execution"
    confirms = False
    asks = False
    full_rows = False

    def __init__(self, require_rows: bool = False) -> None:
        """`require_rows`: a result without rows counts as wrong."""
        self._require_rows = require_rows

    async def judge(
        self, question: Question, sql: str, execution: Execution, position: int, attempt: int
    ) -> Verdict:
        """Right where it ran (and returned rows, where they are required)."""
        failed = not_run(execution, self.confirms)
        if failed is not None:
            return failed
        if self._require_rows and not execution.rows:
            return Verdict(status=Status.DENOTATION_MISMATCH, judge=self.name, remark=NO_ROWS)
        return Verdict(status=Status.CORRECT, judge=self.name)


class RegimeParts(msgspec.Struct, frozen=True, kw_only=True):
    """What regimes are made from; each takes what it needs."""

    sandbox: Sandbox
    folder: DatabaseFolder
    control: Control
    golds: Mapping[str, str] = {}
    """Gold SQL by question id."""
    protocol: str = "spider"
    deadline: float = 30.0
    """Seconds."""
    keep_distinct: bool = False
    require_rows: bool = False
    agreed: Mapping[str, str] = {}
    """The SQL that candidates agree on, by question id; filled while the run goes on."""


class RegimeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One regime of the table."""

    name: str
    decides: str
    """Who says "correct", in a few words."""
    build: Callable[[RegimeParts], Regime]
    needs_gold: bool = False
    needs_candidates: bool = False
    """Whether it judges by candidates that were drawn for the question."""


REGIMES: dict[str, RegimeRow] = {
    row.name: row
    for row in (
        RegimeRow(
            name="denotation",
            decides="a comparison with the gold rows",
            needs_gold=True,
            build=lambda parts: DenotationRegime(
                parts.sandbox,
                parts.folder,
                parts.golds,
                parts.protocol,
                parts.deadline,
                parts.keep_distinct,
            ),
        ),
        RegimeRow(
            name="operator",
            decides="a person in the console",
            build=lambda parts: OperatorRegime(parts.control),
        ),
        RegimeRow(
            name="execution",
            decides="the database: whatever runs is taken as right, unconfirmed",
            build=lambda parts: ExecutionRegime(parts.require_rows),
        ),
        RegimeRow(
            name="consensus",
            decides="agreement of the candidates that the selector ranks, unconfirmed",
            needs_candidates=True,
            build=lambda parts: ConsensusRegime(
                parts.sandbox, parts.folder, parts.agreed, parts.protocol, parts.deadline
            ),
        ),
    )
}


def build_regime(name: str, parts: RegimeParts) -> Regime:
    """The regime of that name. Raises MeritoError where there is none, or where it needs gold
    queries and there are none."""
    row = REGIMES.get(name)
    if row is None:
        raise UsageMistake(f"There is no regime '{name}'.", f"Choose one of {', '.join(REGIMES)}.")
    if row.needs_gold and not parts.golds:
        raise UsageMistake(
            f"The regime '{name}' compares with gold queries, and the data set has none.",
            "Choose 'operator' or 'execution', or add gold queries.",
        )
    return row.build(parts)
