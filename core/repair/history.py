"""What has happened in an episode so far: a reducer over its events, the same for an episode that
runs and for one that is taken up again after an interruption."""

from __future__ import annotations

from collections.abc import Iterable

from core.database.rows import ResultTable
from core.feedback.verdict import Status
from core.models.chat import Message
from core.question import Question
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeStarted,
    Hint,
    JudgementAwaited,
    MemoriesRetrieved,
    PromptSent,
    ReflectionWritten,
    SqlExecuted,
)
from core.sql import normalised


class History:
    """The attempts of one episode with all that belongs to each."""

    def __init__(self, position: int, question: Question, events: Iterable[AnyEvent] = ()) -> None:
        self.position = position
        self.question = question
        self.started: EpisodeStarted | None = None
        self.attempts: list[AttemptJudged] = []
        self.awaiting: SqlExecuted | None = None
        """What a person has been asked about and has not judged."""
        self.greedy: AnswerWritten | None = None
        """The first answer of attempt 0."""
        self.drawn: dict[int, CandidateDrawn] = {}
        self.selected: CandidatesSelected | None = None
        self.results: dict[int, ResultTable] = {}
        self.retrieved: dict[int, MemoriesRetrieved] = {}
        self.hints: list[Hint] = []
        self.reflections: dict[int, str] = {}
        self.mended: set[int] = set()
        """Attempts that a rule made of the one before, without the model."""
        self.prompted = 0
        """The attempt that the model was last asked for."""
        self.greedily: dict[int, tuple[Message, ...]] = {}
        """Prompts that were answered by what is most likely, by attempt."""
        self._executed: SqlExecuted | None = None
        for event in events:
            self.apply(event)

    def apply(self, event: AnyEvent) -> None:
        """Take one event in. Events that say nothing about attempts pass by."""
        match event:
            case EpisodeStarted():
                self.started = event
            case AttemptJudged():
                self.attempts.append(event)
                self.awaiting = None
            case SqlExecuted():
                self.results[event.attempt] = event.result
                self._executed = event
                # An attempt that was cut off before its judgement is made anew, maybe otherwise.
                self.mended.discard(event.attempt)
                if event.mended:
                    self.mended.add(event.attempt)
            case JudgementAwaited():
                self.awaiting = self._executed
            case MemoriesRetrieved():
                self.retrieved[event.attempt] = event
            case ReflectionWritten():
                self.reflections[event.attempt] = event.text
            case PromptSent():
                known = {hint.text for hint in self.hints}
                self.hints += [hint for hint in event.hints if hint.text not in known]
                self.prompted = event.attempt
                if event.sampling.temperature == 0:
                    self.greedily[event.attempt] = event.messages
            case _:
                self._draft(event)

    def _draft(self, event: AnyEvent) -> None:
        """What leads to the first SQL."""
        match event:
            case AnswerWritten() if event.attempt == 0:
                self.greedy = event
            case CandidateDrawn():
                self.drawn[event.number] = event
            case CandidatesSelected():
                self.selected = event
            case _:
                pass

    @property
    def last(self) -> AttemptJudged:
        """The newest attempt; there is one once the initial SQL was judged."""
        return self.attempts[-1]

    @property
    def repairs(self) -> int:
        """Repairs made: every attempt but the initial one."""
        return max(len(self.attempts) - 1, 0)

    @property
    def drafts(self) -> int:
        """Repairs that the model made."""
        return sum(each.attempt not in self.mended for each in self.attempts[1:])

    @property
    def by_hand(self) -> bool:
        """Whether the newest attempt is a person's own."""
        return len(self.attempts) > 1 and bool(self.attempts[-2].correction)

    @property
    def solved(self) -> bool:
        """Whether the newest attempt was called correct."""
        return bool(self.attempts) and self.last.status is Status.CORRECT

    def repeat_of(self, sql: str) -> AttemptJudged | None:
        """The earlier attempt with the same SQL after normalisation (the paper's oscillation)."""
        if not sql:
            return None
        wanted = normalised(sql)
        return next((a for a in self.attempts if a.sql and normalised(a.sql) == wanted), None)

    def asked_greedily(self, messages: tuple[Message, ...], *, before: int) -> bool:
        """Whether an attempt earlier than `before` took the most likely answer to this prompt."""
        return any(asked == messages for number, asked in self.greedily.items() if number < before)

    def same_rows_as(self, digest: str, *, before: int) -> AttemptJudged | None:
        """The attempt earlier than `before` that returned the same rows and was judged a mismatch."""
        for attempt in self.attempts:
            result = self.results.get(attempt.attempt)
            if (
                result is not None
                and attempt.attempt < before
                and digest
                and result.digest == digest
                and attempt.status is Status.DENOTATION_MISMATCH
            ):
                return attempt
        return None
