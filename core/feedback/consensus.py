"""Judging by the agreement of candidates, where there is no gold and nobody to ask."""

from __future__ import annotations

from collections.abc import Mapping

from core.database.files import DatabaseFolder
from core.database.rows import Execution
from core.database.sandbox import Sandbox
from core.feedback.denotation import Denotation
from core.feedback.unrun import not_run
from core.feedback.verdict import QuestionBroken, Status, Verdict
from core.question import Question

NOT_AGREED = "the candidates do not agree on a result"
ANOTHER = "the candidates agree on another result"


class ConsensusRegime:
    """Right is what returns the rows that the candidates agree on, equal by the data set's rule.
    Nothing is confirmed, so what it teaches waits for a review."""

    name = "consensus"
    confirms = False
    asks = False
    full_rows = True

    def __init__(
        self,
        sandbox: Sandbox,
        folder: DatabaseFolder,
        agreed: Mapping[str, str],
        protocol: str,
        deadline: float,
    ) -> None:
        """`agreed`: question id -> the SQL whose rows count; it grows while the run goes on. A
        question without one has no right answer. `deadline` is in seconds."""
        self._agreed = agreed
        self._denotation = Denotation(sandbox, folder, agreed, protocol, deadline)

    async def judge(
        self, question: Question, sql: str, execution: Execution, position: int, attempt: int
    ) -> Verdict:
        """Compare with what was agreed on."""
        failed = not_run(execution, self.confirms)
        if failed is not None:
            return failed
        wrong = Verdict(status=Status.DENOTATION_MISMATCH, judge=self.name, remark=ANOTHER)
        none = Verdict(status=Status.DENOTATION_MISMATCH, judge=self.name, remark=NOT_AGREED)
        if question.id not in self._agreed:
            return none
        try:
            score = await self._denotation.score(question, sql, execution)
        except QuestionBroken:
            return none
        return Verdict(status=Status.CORRECT, judge=self.name) if score.correct else wrong
