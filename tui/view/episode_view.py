"""One episode as a face shows it: its attempts in order, and everything that fed each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.database.rows import ResultTable
from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Retrieval
from core.models.chat import Message, Usage
from core.question import Question
from core.run.events import (
    AnswerWritten,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    Hint,
    JudgementAwaited,
    MemoriesRetrieved,
    ModelStumbled,
    PromptSent,
    ReflectionWritten,
    SelectorAnswered,
    SqlExecuted,
    TokenDelta,
)
from tui.view.difference import Change, changes
from tui.view.states import OUTCOMES, State

EpisodeEvent = (
    EpisodeStarted
    | MemoriesRetrieved
    | PromptSent
    | TokenDelta
    | AnswerWritten
    | CandidateDrawn
    | SelectorAnswered
    | CandidatesSelected
    | SqlExecuted
    | JudgementAwaited
    | AttemptJudged
    | ReflectionWritten
    | ModelStumbled
    | EpisodeEnded
)
"""Events that belong to one position."""

MENDED = "mended by rule, no model call"
"""Stands before what a rule changed."""
_LONGEST_STREAM = 64_000
"""Characters of a running answer that are kept: a model that never stops must not fill memory."""


@dataclass(slots=True)
class AttemptView:
    """One attempt: 0 is the initial SQL, 1..K are repairs."""

    number: int
    state: State = State.STARTED
    purpose: str = ""
    streaming: str = ""
    """The answer while it arrives; empty once it is written."""
    answer: str = ""
    sql: str = ""
    drawn: list[CandidateDrawn] = field(default_factory=list)
    """Further candidates of the first SQL, as they come."""
    selected: CandidatesSelected | None = None
    status: Status | None = None
    failure: FailureType | None = None
    rule: str = ""
    message: str = ""
    result: ResultTable | None = None
    usage: Usage | None = None
    model_seconds: float = 0.0
    retrieval: Retrieval | None = None
    entries: tuple[MemoryEntry, ...] = ()
    hints: tuple[Hint, ...] = ()
    prompt: tuple[Message, ...] = ()
    template: str = ""
    extraction: tuple[str, ...] = ()
    cut: bool = False
    """The answer ended at the token limit."""
    shared: bool = False
    """The answer was made earlier and only taken over."""
    confirmed: bool = False
    judge: str = ""
    remark: str = ""
    repeats: int | None = None
    refused: str = ""
    mended: str = ""
    """What a rule changed in the attempt before, where no model wrote this one."""
    limit_hit: bool = False
    skipped: bool = False
    correction: str = ""
    """SQL that a person wrote instead; it stands as the next attempt."""
    reflection: str = ""
    trouble: str = ""
    version: int = 0


@dataclass(slots=True)
class EpisodeView:
    """A question's episode; `version` grows with every change."""

    position: int
    question: Question
    attempts: list[AttemptView] = field(default_factory=list)
    outcome: EpisodeOutcome | None = None
    note: str = ""
    learned: MemoryEntry | None = None
    seconds: float = 0.0
    began: float = 0.0
    version: int = 0

    def attempt(self, number: int) -> AttemptView:
        """The attempt with this number, created where it is new."""
        while len(self.attempts) <= number:
            self.attempts.append(AttemptView(len(self.attempts)))
        return self.attempts[number]

    def changes(self, number: int) -> tuple[Change, ...]:
        """What this attempt's SQL changed against the attempt before it."""
        if not 0 < number < len(self.attempts):
            return ()
        return changes(self.attempts[number - 1].sql, self.attempts[number].sql)

    @property
    def waiting(self) -> AttemptView | None:
        """The attempt that waits for a person's judgement."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.state is State.YOURS else None

    def apply(self, event: EpisodeEvent) -> None:
        """Fold in one event of this episode."""
        self.version += 1
        if isinstance(event, EpisodeStarted):
            self.attempts.clear()
            self.outcome, self.learned, self.note = None, None, ""
            self.began = event.at
        elif isinstance(event, EpisodeEnded):
            self.outcome, self.note, self.seconds = event.outcome, event.note, event.seconds
            self.learned = event.memory
            if self.attempts and not self.attempts[-1].state.final:
                self._set(self.attempts[-1], OUTCOMES[event.outcome])
        else:
            attempt = self.attempt(event.attempt)
            attempt.version += 1
            _ATTEMPT_REDUCERS[type(event)](attempt, event)

    @staticmethod
    def _set(attempt: AttemptView, state: State) -> None:
        attempt.state = state
        attempt.version += 1


def _retrieved(attempt: AttemptView, event: MemoriesRetrieved) -> None:
    attempt.retrieval, attempt.entries = event.retrieval, event.entries


def _sent(attempt: AttemptView, event: PromptSent) -> None:
    attempt.state, attempt.trouble, attempt.streaming = State.WRITING, "", ""
    if event.purpose == "reflection":
        return
    attempt.purpose, attempt.hints = event.purpose, event.hints
    attempt.prompt, attempt.template = event.messages, event.template


def _delta(attempt: AttemptView, event: TokenDelta) -> None:
    attempt.state = State.WRITING
    attempt.streaming = (attempt.streaming + event.text)[-_LONGEST_STREAM:]


def _written(attempt: AttemptView, event: AnswerWritten) -> None:
    attempt.state, attempt.streaming, attempt.trouble = State.RUNNING, "", ""
    attempt.answer, attempt.sql, attempt.extraction = event.text, event.sql, event.extraction
    attempt.usage, attempt.model_seconds = event.usage, attempt.model_seconds + event.seconds
    attempt.cut, attempt.shared = event.finish == "length", event.reused


def _drawn(attempt: AttemptView, event: CandidateDrawn) -> None:
    known = [each for each in attempt.drawn if each.number < event.number]
    attempt.drawn = [*known, event]
    attempt.state, attempt.trouble = State.WRITING, ""
    attempt.model_seconds += event.seconds


def _chosen_among(attempt: AttemptView, _event: SelectorAnswered) -> None:
    """What it cost comes with the choice that it led to."""
    attempt.state = State.WRITING


def _selected(attempt: AttemptView, event: CandidatesSelected) -> None:
    attempt.selected, attempt.state = event, State.RUNNING
    attempt.model_seconds += event.selection.spent.seconds


def _executed(attempt: AttemptView, event: SqlExecuted) -> None:
    attempt.sql, attempt.result, attempt.mended = event.sql, event.result, event.mended
    attempt.state = State.RUNNING


def _awaited(attempt: AttemptView, _event: JudgementAwaited) -> None:
    attempt.state = State.YOURS


def _judged(attempt: AttemptView, event: AttemptJudged) -> None:
    attempt.state = State.RIGHT if event.status is Status.CORRECT else State.JUDGED
    attempt.skipped, attempt.correction = event.skipped, event.correction
    attempt.sql, attempt.status, attempt.failure = event.sql, event.status, event.failure
    attempt.rule, attempt.message, attempt.judge = event.rule, event.message, event.judge
    attempt.confirmed, attempt.remark, attempt.repeats = event.confirmed, event.remark, event.repeats
    attempt.refused, attempt.limit_hit = event.refused, event.limit_hit
    attempt.streaming, attempt.trouble = "", ""


def _reflected(attempt: AttemptView, event: ReflectionWritten) -> None:
    attempt.state, attempt.streaming, attempt.reflection = State.JUDGED, "", event.text


def _stumbled(attempt: AttemptView, event: ModelStumbled) -> None:
    then = "The run is paused." if event.retry_in is None else f"Next try in {event.retry_in:.0f} s."
    attempt.state, attempt.streaming = State.TROUBLE, ""
    attempt.trouble = f"{event.problem} {event.mend} {then}".strip()


_ATTEMPT_REDUCERS: dict[type, Callable[[AttemptView, Any], None]] = {
    MemoriesRetrieved: _retrieved,
    PromptSent: _sent,
    TokenDelta: _delta,
    AnswerWritten: _written,
    CandidateDrawn: _drawn,
    SelectorAnswered: _chosen_among,
    CandidatesSelected: _selected,
    SqlExecuted: _executed,
    JudgementAwaited: _awaited,
    AttemptJudged: _judged,
    ReflectionWritten: _reflected,
    ModelStumbled: _stumbled,
}
