"""What one run came to, question by question, from its events alone (evaluation.md, "Experiments").

The counts that every face shows are `core.run.figures`; this adds what a study needs beyond them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache

import msgspec

from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry
from core.models.chat import ModelDescription
from core.question import LeftOut, Question
from core.run.cost import Answered, Cost
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeOutcome,
    MemoriesRetrieved,
    ReflectionWritten,
    RunResumed,
    RunSettings,
    RunStarted,
    SqlExecuted,
)
from core.run.figures import Figures
from core.sql import normalised

IN_RATES = frozenset(
    {
        EpisodeOutcome.RIGHT_AT_ONCE,
        EpisodeOutcome.REPAIRED,
        EpisodeOutcome.CORRECTED,
        EpisodeOutcome.FAILED,
    }
)

RIGHT = frozenset({EpisodeOutcome.RIGHT_AT_ONCE, EpisodeOutcome.REPAIRED})


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One SQL text and what became of it."""

    number: int
    sql: str
    status: Status
    message: str
    failure: FailureType | None
    repeats: int | None
    refused: str
    limit_hit: bool
    memories: tuple[str, ...]
    """Ids of the entries that stood in its prompt."""


class Spending(msgspec.Struct, kw_only=True):
    """What questions took."""

    initial: Cost = msgspec.field(default_factory=Cost)
    """The initial predictions. An answer taken over from another run counts as the call that it was,
    so that every strategy is charged with its own."""
    repairing: Cost = msgspec.field(default_factory=Cost)
    """Repairs and reflections."""
    database: float = 0.0
    """Seconds, as those below."""
    retrieval: float = 0.0
    """Ranking, the embedding of the query included."""
    embedding: float = 0.0

    @property
    def cost(self) -> Cost:
        """All calls, the initial ones included, as the paper counts."""
        return self.initial.plus(self.repairing)

    @property
    def seconds(self) -> float:
        """Model, database and retrieval together."""
        return self.cost.seconds + self.database + self.retrieval

    def plus(self, other: Spending) -> Spending:
        """Both together."""
        return Spending(
            initial=self.initial.plus(other.initial),
            repairing=self.repairing.plus(other.repairing),
            database=self.database + other.database,
            retrieval=self.retrieval + other.retrieval,
            embedding=self.embedding + other.embedding,
        )


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a run; `outcome` is None while its episode is not final."""

    position: int
    question: Question
    outcome: EpisodeOutcome | None = None
    repairs: int = 0
    attempts: tuple[Attempt, ...] = ()
    note: str = ""
    seconds: float = 0.0

    @property
    def judged(self) -> bool:
        """Whether it counts in rates: final, neither broken nor skipped."""
        return self.outcome in IN_RATES

    @property
    def right(self) -> bool:
        """Whether the model's SQL was right in the end."""
        return self.outcome in RIGHT

    @property
    def limit_hit(self) -> bool:
        """Whether a limit of the sandbox decided its last attempt."""
        return bool(self.attempts) and self.attempts[-1].limit_hit


class RunMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """One run, read."""

    run: str
    settings: RunSettings
    model: ModelDescription
    problems: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    """Questions of the data set that the run does not ask."""
    jobs: tuple[int, ...]
    """How many questions were under way at once, rising; several where that changed, 0 where nobody
    said."""
    versions: Mapping[str, str]
    figures: Figures
    results: tuple[Result, ...]
    """In the order of the stream."""
    spending: Spending
    """Everything, for every question."""
    spending_on_judged: Spending
    """What the questions behind every rate took, and they alone."""
    memories: Mapping[str, MemoryEntry]
    """Every entry that stood in a prompt, by id."""

    @property
    def complete(self) -> bool:
        """Whether every question is final."""
        return self.figures.finished == len(self.results)

    @property
    def judged(self) -> tuple[Result, ...]:
        """The questions behind every rate."""
        return tuple(result for result in self.results if result.judged)

    @property
    def failed_first(self) -> tuple[Result, ...]:
        """Judged questions whose initial SQL was wrong."""
        return tuple(
            result for result in self.judged if result.outcome is not EpisodeOutcome.RIGHT_AT_ONCE
        )

    @property
    def steps(self) -> float | None:
        """Repairs for each initial failure."""
        failed = self.failed_first
        return sum(result.repairs for result in failed) / len(failed) if failed else None

    @property
    def oscillation(self) -> float | None:
        """Share of the repairs that write an earlier SQL of their episode again."""
        return self.figures.repeats / self.figures.attempts if self.figures.attempts else None

    @property
    def limit_hits(self) -> int:
        """Questions whose last attempt was stopped by a limit of the sandbox."""
        return sum(result.limit_hit for result in self.judged)


def metrics_of(events: Iterable[AnyEvent]) -> RunMetrics:
    """Read a run from its events. Raises ValueError where they do not begin with RunStarted."""
    reading = Reading()
    for event in events:
        reading.apply(event)
    return reading.metrics()


class Reading:
    """A run as far as its events have been read; one that goes on is read on."""

    def __init__(self) -> None:
        self.seq = 0
        """Number of the last event that was read."""
        self.figures = Figures()
        self.opening: RunStarted | None = None
        self.attempts: dict[int, dict[int, Attempt]] = {}
        self.shown: dict[tuple[int, int], tuple[str, ...]] = {}
        self.endings: dict[int, EpisodeEnded] = {}
        self.memories: dict[str, MemoryEntry] = {}
        self.jobs: set[int] = set()
        self.spent: defaultdict[int, Spending] = defaultdict(Spending)
        self.answered: Answered = {}

    def apply(self, event: AnyEvent) -> None:
        """Take in the next event."""
        self.seq = event.seq
        self.figures.apply(event)
        match event:
            case RunStarted() | RunResumed():
                self._opened(event)
            case AnswerWritten():
                self._answer(event)
            case CandidateDrawn():
                self.spent[event.position].initial.add(event.usage, event.seconds)
            case CandidatesSelected():
                self.spent[event.position].initial.add_selection(event.selection.spent)
            case ReflectionWritten():
                self.spent[event.position].repairing.add(event.usage, event.seconds)
            case MemoriesRetrieved():
                self._retrieved(event)
            case SqlExecuted():
                self.spent[event.position].database += event.result.seconds
            case AttemptJudged():
                self._judged(event)
            case EpisodeEnded():
                self.endings[event.position] = event
            case _:
                pass

    def _opened(self, event: RunStarted | RunResumed) -> None:
        self.jobs.add(event.jobs)
        if isinstance(event, RunStarted):
            self.opening = event

    def _answer(self, event: AnswerWritten) -> None:
        spent, here = self.spent[event.position], (event.position, event.attempt)
        cost = spent.repairing if event.attempt else spent.initial
        if here in self.answered:
            cost.add(*self.answered[here], times=-1)
        self.answered[here] = event.usage, event.seconds
        cost.add(event.usage, event.seconds)

    def _retrieved(self, event: MemoriesRetrieved) -> None:
        self.shown[event.position, event.attempt] = tuple(entry.id for entry in event.entries)
        self.memories |= {entry.id: entry for entry in event.entries}
        spent, taken = self.spent[event.position], event.retrieval
        spent.retrieval += taken.seconds + taken.embedding_seconds
        spent.embedding += taken.embedding_seconds

    def _judged(self, event: AttemptJudged) -> None:
        self.attempts.setdefault(event.position, {})[event.attempt] = Attempt(
            number=event.attempt,
            sql=event.sql,
            status=event.status,
            message=event.message,
            failure=event.failure,
            repeats=event.repeats,
            refused=event.refused,
            limit_hit=event.limit_hit,
            memories=self.shown.get((event.position, event.attempt), ()),
        )

    def metrics(self) -> RunMetrics:
        """What the run came to so far. Later events change nothing in it. Raises ValueError where
        the events did not begin with RunStarted."""
        opening = self.opening
        if opening is None:
            raise ValueError("a run's events begin with RunStarted")
        results = tuple(self._result(*place) for place in enumerate(opening.questions))
        return RunMetrics(
            run=opening.run,
            settings=opening.settings,
            model=opening.model,
            problems=opening.problems,
            left_out=opening.left_out,
            jobs=tuple(sorted(self.jobs)),
            versions=opening.versions,
            figures=deepcopy(self.figures),
            results=results,
            spending=self._together(results),
            spending_on_judged=self._together(result for result in results if result.judged),
            memories=dict(self.memories),
        )

    def _together(self, results: Iterable[Result]) -> Spending:
        total = Spending()
        for result in results:
            total = total.plus(self.spent[result.position])
        return total

    def _result(self, position: int, question: Question) -> Result:
        attempts = self.attempts.get(position, {})
        ending = self.endings.get(position)
        result = Result(
            position=position,
            question=question,
            attempts=tuple(attempts[number] for number in sorted(attempts)),
        )
        if ending is None:
            return result
        return msgspec.structs.replace(
            result,
            outcome=ending.outcome,
            repairs=ending.attempts,
            note=ending.note,
            seconds=ending.seconds,
        )


def accuracy(results: Iterable[Result]) -> float | None:
    """Share of the judged questions that are right; None where none is judged."""
    rights = [result.right for result in results if result.judged]
    return sum(rights) / len(rights) if rights else None


def accuracy_along(results: Sequence[Result]) -> list[float]:
    """Accuracy over the first 1, 2, 3, ... judged questions of the stream."""
    curve, right = [], 0
    for n, result in enumerate((each for each in results if each.judged), start=1):
        right += result.right
        curve.append(right / n)
    return curve


@lru_cache(maxsize=4096)
def gold_hash(database: str, gold: str) -> str:
    """Of the normalised gold: equal where the same query is right about the same database."""
    key = f"{database}\x1f{normalised(gold)}"
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def served_by_memory(results: Sequence[Result], golds: Mapping[str, str]) -> frozenset[str]:
    """Ids of the questions whose gold occurred earlier in the stream: memory could have served the
    answer. `golds` holds `gold_hash` by question id; it never comes from events.
    """
    seen: set[str] = set()
    served: set[str] = set()
    for result in results:
        gold = golds.get(result.question.id)
        if gold is None:
            continue
        if gold in seen:
            served.add(result.question.id)
        seen.add(gold)
    return frozenset(served)
