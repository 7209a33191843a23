"""Scoring a file of predictions: one decision a pair, as the benchmarks' own scripts decide."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable

import msgspec

from core.feedback.denotation import NO_SQL, Denotation
from core.feedback.verdict import QuestionBroken
from core.question import Question

BROKEN, LIMIT = "BROKEN", "LIMIT"
"""Statuses beside those of `Status`: gold fails, and a limit of the sandbox decided."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one pair. It says nothing of gold."""

    index: int
    db_id: str
    correct: bool | None
    """None for a broken question, which is part of no rate."""
    status: str
    error: str = ""
    soft_f1: float | None = None


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction by the id under which its gold is known."""

    question: Question
    predicted: str


async def decide(
    pairs: Iterable[Pairing], denotation: Denotation, at_once: int = 2
) -> AsyncGenerator[Decision, None]:
    """Decisions in the order of the pairs, `at_once` of them under way."""
    waiting: deque[asyncio.Task[Decision]] = deque()
    try:
        for index, pair in enumerate(pairs):
            waiting.append(asyncio.create_task(_decide(index, pair, denotation)))
            if len(waiting) >= at_once:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _decide(index: int, pair: Pairing, denotation: Denotation) -> Decision:
    database = pair.question.database
    try:
        score = await denotation.score(pair.question, pair.predicted)
    except QuestionBroken as broken:
        return Decision(index=index, db_id=database, correct=None, status=BROKEN, error=str(broken))
    return Decision(
        index=index,
        db_id=database,
        correct=score.correct,
        status=LIMIT if score.limit_hit else score.status,
        error=score.message,
        soft_f1=score.soft,
    )


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that differs from the published script's on purpose."""

    says: str
    applies: Callable[[Decision], bool]
    """Whether it may have decided this one."""
    protocols: tuple[str, ...] = ("spider", "bird")
    """Where it applies at all."""


DIFFERENCES = (
    Difference(
        says="a prediction that writes, or does anything else the sandbox refuses, is wrong",
        applies=lambda decision: decision.error.startswith("not authorized"),
    ),
    Difference(
        says="a query stopped by a limit of the sandbox is counted apart from wrong",
        applies=lambda decision: decision.status == LIMIT,
    ),
    Difference(
        says="a question whose gold query fails is left out of every rate",
        applies=lambda decision: decision.status == BROKEN,
    ),
    Difference(
        says="an empty prediction is wrong, also where the gold result is empty",
        applies=lambda decision: decision.error == NO_SQL,
        protocols=("bird",),
    ),
    Difference(
        says="text that is not UTF-8 is read without its bad bytes instead of failing",
        applies=lambda _decision: False,
        protocols=("bird",),
    ),
)
"""All of them; `evaluation.md` allows no others."""


class Tally(msgspec.Struct, kw_only=True):
    """The figures over decisions, and where the differences from the published script apply."""

    protocol: str
    total: int = 0
    correct: int = 0
    statuses: dict[str, int] = {}
    soft_sum: float = 0.0
    differing: dict[str, list[int]] = {}
    """Sentence -> indexes of decisions."""
    decided: dict[int, bool | None] = {}
    """Index -> whether it is right."""

    def add(self, decision: Decision) -> None:
        """Count one decision."""
        self.total += 1
        self.decided[decision.index] = decision.correct
        self.correct += decision.correct is True
        self.statuses[decision.status] = self.statuses.get(decision.status, 0) + 1
        self.soft_sum += decision.soft_f1 or 0.0
        for difference in self.differences():
            if difference.applies(decision):
                self.differing.setdefault(difference.says, []).append(decision.index)

    def differences(self) -> list[Difference]:
        """Those that can apply under this protocol."""
        return [each for each in DIFFERENCES if self.protocol in each.protocols]

    @property
    def broken(self) -> int:
        """Questions left out of every rate."""
        return self.statuses.get(BROKEN, 0)

    @property
    def judged(self) -> int:
        """Questions that the rates are over."""
        return self.total - self.broken

    @property
    def accuracy(self) -> float | None:
        """Execution accuracy between 0 and 1; None where nothing could be judged."""
        return self.correct / self.judged if self.judged else None

    @property
    def soft_f1(self) -> float | None:
        """Mean soft F1 between 0 and 1; None where nothing could be judged."""
        return self.soft_sum / self.judged if self.judged else None
