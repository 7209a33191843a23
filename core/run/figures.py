"""The figures of a run, folded from its events: nothing here that the store cannot reproduce."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from core.memory.entry import MemoryEntry, Polarity, ReviewState, first_state
from core.models.chat import ModelDescription, Usage
from core.run.cost import Answered, Cost
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    MemoriesRetrieved,
    ReflectionWritten,
    ReviewsApplied,
    RunEnded,
    RunSettings,
    RunStarted,
    SqlExecuted,
)

_CALLS_FOR_SPEED = 12

TAKEN = (EpisodeOutcome.RIGHT_AT_ONCE, EpisodeOutcome.REPAIRED)
"""Outcomes of questions whose judge took the model's answer."""


@dataclass
class Figures:
    """Counts of one run. Rates leave out broken and skipped questions, and both rates are over
    the same questions: the finished ones."""

    run: str = ""
    model: ModelDescription | None = None
    settings: RunSettings | None = None
    questions: int = 0
    ended: str = ""
    """Why the run's last session ended; empty while it goes on."""

    outcomes: Counter[EpisodeOutcome] = field(default_factory=Counter)
    taken_empty: int = 0
    """Questions whose judge took an answer without rows."""
    repaired_with_memory: int = 0
    """Repaired, with memories in the prompt of the attempt that came out right."""
    attempts: int = 0
    """Repairs judged: first SQLs are not among them."""
    repeats: int = 0
    """Repairs that wrote an earlier SQL of their episode again (oscillation)."""
    repairs_to_success: int = 0
    """Repairs that the repaired episodes took, together."""

    cost: Cost = field(default_factory=Cost)
    """Model calls of this run; answers shared from an earlier run are not calls."""
    shared_answers: int = 0

    learned: dict[str, tuple[Polarity, ReviewState]] = field(default_factory=dict)
    _recent: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=_CALLS_FOR_SPEED))
    _answered: Answered = field(default_factory=dict)
    """Of open episodes."""
    _empty: dict[int, bool] = field(default_factory=dict)
    """Position -> whether the SQL that ran last returned no rows, for open episodes."""
    _fed: dict[int, int] = field(default_factory=dict)
    """Position -> the last attempt that had memories in its prompt, for open episodes."""

    @property
    def finished(self) -> int:
        """Episodes that are final, whatever their outcome."""
        return self.outcomes.total()

    @property
    def judged(self) -> int:
        """n of both rates."""
        left_out = self.outcomes[EpisodeOutcome.SKIPPED] + self.outcomes[EpisodeOutcome.BROKEN]
        return self.finished - left_out

    @property
    def initially_right(self) -> int:
        """Questions whose first SQL was right."""
        return self.outcomes[EpisodeOutcome.RIGHT_AT_ONCE]

    @property
    def repaired(self) -> int:
        """Questions that failed first and came out right."""
        return self.outcomes[EpisodeOutcome.REPAIRED]

    @property
    def repaired_without_memory(self) -> int:
        """Repaired with no memory in the prompt that came out right."""
        return self.repaired - self.repaired_with_memory

    @property
    def corrected(self) -> int:
        """Questions whose right SQL a person wrote: right in no rate, for no model made them so."""
        return self.outcomes[EpisodeOutcome.CORRECTED]

    @property
    def wrong(self) -> int:
        """Questions that stayed wrong."""
        return self.outcomes[EpisodeOutcome.FAILED]

    @property
    def accuracy_initial(self) -> float | None:
        """Share of the n finished questions whose first SQL was right; None while n is 0."""
        return self.initially_right / self.judged if self.judged else None

    @property
    def accuracy_now(self) -> float | None:
        """Share of the n finished questions that are right now; None while n is 0."""
        return (self.initially_right + self.repaired) / self.judged if self.judged else None

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens a second over the latest calls; None where no call told."""
        seconds = sum(seconds for _, seconds in self._recent)
        return sum(count for count, _ in self._recent) / seconds if seconds > 0 else None

    def memories(self, polarity: Polarity, state: ReviewState | None = None) -> int:
        """Entries that this run taught, of one polarity and, where asked, one review state."""
        return sum(
            1
            for each, now in self.learned.values()
            if each is polarity and (state is None or now is state)
        )

    def apply(self, event: AnyEvent) -> bool:
        """Fold one event in; True where a figure changed."""
        reduce = _REDUCERS.get(type(event))
        if reduce is None:
            return False
        reduce(self, event)
        return True

    def _start(self, event: RunStarted) -> None:
        self.run, self.model, self.settings = event.run, event.model, event.settings
        self.questions = len(event.questions)

    def _answer(self, event: AnswerWritten) -> None:
        here = event.position, event.attempt
        earlier = self._answered.get(here)
        if event.reused:
            self.shared_answers += earlier is None
            return
        if earlier is not None:
            self.cost.add(*earlier, times=-1)
        self._answered[here] = event.usage, event.seconds
        self._call(event.usage, event.seconds)

    def _reflection(self, event: ReflectionWritten) -> None:
        self._call(event.usage, event.seconds)

    def _drawn(self, event: CandidateDrawn) -> None:
        self._call(event.usage, event.seconds)

    def _selected(self, event: CandidatesSelected) -> None:
        self.cost.add_selection(event.selection.spent)

    def _executed(self, event: SqlExecuted) -> None:
        self._empty[event.position] = not event.result.row_count

    def _retrieved(self, event: MemoriesRetrieved) -> None:
        if event.entries:
            self._fed[event.position] = event.attempt

    def _judge(self, event: AttemptJudged) -> None:
        self.attempts += event.attempt > 0
        self.repeats += event.attempt > 0 and event.repeats is not None

    def _begin(self, event: EpisodeStarted) -> None:
        self.ended = ""
        self._fed.pop(event.position, None)

    def _review(self, event: ReviewsApplied) -> None:
        for decision in event.decisions:
            if known := self.learned.get(decision.memory):
                self.learned[decision.memory] = (known[0], decision.state)

    def _first_state(self, entry: MemoryEntry) -> ReviewState:
        return first_state(entry, holds=self.settings is not None and self.settings.holds)

    def _close(self, event: RunEnded) -> None:
        self.ended = event.reason

    def _call(self, usage: Usage, seconds: float) -> None:
        self.cost.add(usage, seconds)
        if usage.output_tokens is not None and seconds > 0:
            self._recent.append((usage.output_tokens, seconds))

    def _end(self, event: EpisodeEnded) -> None:
        self.outcomes[event.outcome] += 1
        self.taken_empty += self._empty.pop(event.position, False) and event.outcome in TAKEN
        if event.outcome is EpisodeOutcome.REPAIRED:
            self.repairs_to_success += event.attempts
            self.repaired_with_memory += self._fed.get(event.position) == event.attempts
        self._fed.pop(event.position, None)
        for here in [each for each in self._answered if each[0] == event.position]:
            del self._answered[here]
        if event.memory is not None:
            self.learned[event.memory.id] = (event.memory.polarity, self._first_state(event.memory))


_REDUCERS: dict[type, Callable[[Figures, Any], None]] = {
    RunStarted: Figures._start,
    AnswerWritten: Figures._answer,
    CandidateDrawn: Figures._drawn,
    CandidatesSelected: Figures._selected,
    ReflectionWritten: Figures._reflection,
    SqlExecuted: Figures._executed,
    MemoriesRetrieved: Figures._retrieved,
    AttemptJudged: Figures._judge,
    EpisodeStarted: Figures._begin,
    EpisodeEnded: Figures._end,
    ReviewsApplied: Figures._review,
    RunEnded: Figures._close,
}


def figures_of(events: Iterable[AnyEvent]) -> Figures:
    """The figures of a whole run, read from its events."""
    figures = Figures()
    for event in events:
        figures.apply(event)
    return figures
