"""Causality, checked over everything that was ever retrieved (merit.md, "The loop").

Every memory that a stored retrieval ranked must have been legal for the question it served. The
check reads the events and the stored memories, never what a retrieval claims about itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from core.run.events import (
    EpisodeStarted,
    MemoriesRetrieved,
    ReviewsApplied,
    RunResumed,
    RunStarted,
)
from stores.errors import in_words
from stores.journal import EntryImported, EntryReviewed, StoredEvent, decode
from stores.ledger import Ledger


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that should not have been there."""

    run: str
    position: int
    attempt: int
    memory: str
    rule: str
    """unknown, or the first of RULES that is broken."""
    text: str
    """The violation as one line."""


class _Lesson(msgspec.Struct, frozen=True):
    number: int
    run: str
    position: int
    source_key: str
    confirmed: bool


class _Moment(msgspec.Struct, frozen=True):
    """What was final and decided when an episode began."""

    number: int
    states: dict[str, ReviewState]


class _Sight(msgspec.Struct):
    """What a run may see, as far as the walk through its events has come. A new decision makes a new
    `states`: an episode goes on seeing the one that it began with."""

    opening: RunStarted
    began: int
    states: dict[str, ReviewState]
    episodes: dict[int, _Moment]

    def moment(self, event: MemoriesRetrieved, number: int) -> _Moment:
        """What counts for an episode's retrievals."""
        return self.episodes.get(event.position) or _Moment(number, self.states)


class Audit:
    """A walk through the store's events in the order in which they were committed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lessons: dict[str, _Lesson] = {}
        self._decided: dict[str, ReviewState] = {}
        """The newest decision about each memory so far, whoever has taken it in yet."""
        self._runs: dict[str, _Sight] = {}
        self.retrievals = 0
        self.checked = 0

    def violations(self, runs: frozenset[str] | None = None) -> Iterator[Violation]:
        """Every violation, in the order in which they happened; only those of `runs` if given."""
        with self._ledger.snapshot():
            self._lessons = _lessons(self._ledger)
            yield from self._walked(runs)

    def _walked(self, runs: frozenset[str] | None) -> Iterator[Violation]:
        for number, event in _events(self._ledger):
            match event:
                case RunStarted():
                    self._runs[event.run] = _Sight(event, number, dict(self._decided), {})
                case RunResumed() if event.run in self._runs:
                    self._runs[event.run].states = dict(self._decided)
                case EntryReviewed():
                    self._decide((event.decision,))
                case EntryImported():
                    self._decide(event.reviews)
                case ReviewsApplied():
                    self._decide(event.decisions)
                    if event.run in self._runs:
                        sight = self._runs[event.run]
                        sight.states = sight.states | _states(event.decisions)
                case EpisodeStarted() if event.run in self._runs:
                    sight = self._runs[event.run]
                    sight.episodes.setdefault(event.position, _Moment(number, sight.states))
                case MemoriesRetrieved() if runs is None or event.run in runs:
                    yield from self._of_retrieval(number, event)
                case _:
                    pass

    def _decide(self, decisions: Sequence[ReviewDecision]) -> None:
        self._decided |= _states(decisions)

    def _first_state(self, lesson: _Lesson) -> ReviewState:
        teacher = self._runs.get(lesson.run)
        held = teacher is not None and teacher.opening.settings.holds
        return ReviewState.APPROVED if lesson.confirmed and not held else ReviewState.PENDING

    def _of_retrieval(self, number: int, event: MemoriesRetrieved) -> Iterator[Violation]:
        self.retrievals += 1
        sight = self._runs.get(event.run)
        if sight is None:
            yield _violation(event, "?", "unknown", f"the run {event.run} has no beginning")
            return
        named = {
            ranked.id: (ranked.source_run, ranked.source_position)
            for channel in event.retrieval.channels
            for ranked in channel.candidates
        }
        shown = {entry.id: entry for entry in event.entries}
        asked, moment = _asked(event, sight), sight.moment(event, number)
        for memory in sorted(named.keys() | shown.keys()):
            self.checked += 1
            lesson = self._lessons.get(memory)
            if lesson is None:
                yield _violation(event, memory, "unknown", "it is not in the store")
                continue
            case = _Case(
                lesson=lesson,
                number=number,
                began=moment.number,
                run=event.run,
                position=event.position,
                asked=asked,
                sight=sight,
                state=moment.states.get(memory) or self._first_state(lesson),
                claim=named.get(memory),
                entry=shown.get(memory),
            )
            broken = next(((rule, reason) for rule, breaks, reason in RULES if breaks(case)), None)
            if broken is not None:
                yield _violation(event, memory, broken[0], broken[1](case))


class _Case(msgspec.Struct, frozen=True, kw_only=True):
    """One memory in one retrieval, with all that decides whether it was legal there."""

    lesson: _Lesson
    number: int
    began: int
    """The number of the event with which the episode began."""
    run: str
    position: int
    asked: str
    sight: _Sight
    state: ReviewState
    claim: tuple[str, int] | None
    entry: MemoryEntry | None

    @property
    def own(self) -> bool:
        """Whether the run that asks had learned it itself."""
        return self.lesson.run == self.run

    @property
    def unreviewed(self) -> bool:
        """Whether the run's settings let it not be retrieved in this state."""
        if self.state is ReviewState.PENDING:
            return not self.sight.opening.settings.include_pending
        return self.state is ReviewState.REJECTED

    @property
    def misnamed(self) -> bool:
        """Whether the record tells another source than the store knows."""
        source = (self.lesson.run, self.lesson.position)
        if self.claim is not None and self.claim != source:
            return True
        if self.entry is None:
            return False
        told = (self.entry.provenance.run, self.entry.provenance.position)
        return told != source or self.entry.source_key != self.lesson.source_key


Rule = tuple[str, Callable[[_Case], bool], Callable[[_Case], str]]

RULES: tuple[Rule, ...] = (
    (
        "own position",
        lambda case: case.own and case.lesson.position >= case.position,
        lambda case: f"it was learned at position {case.lesson.position}, which is not earlier",
    ),
    (
        "fresh memory",
        lambda case: not case.own and case.sight.opening.settings.memory != "library",
        lambda case: f"it comes from the run {case.lesson.run}, and this run's memory was fresh",
    ),
    (
        "later run",
        lambda case: not case.own and case.lesson.number > case.sight.began,
        lambda case: f"it was learned in the run {case.lesson.run} after this run had begun",
    ),
    (
        "not final",
        lambda case: case.lesson.number > case.number,
        lambda _case: "its episode had not ended yet",
    ),
    (
        "overlapping",
        lambda case: case.own and case.lesson.number > case.began,
        lambda _case: "its episode was not final when this one began",
    ),
    (
        "same question",
        lambda case: case.lesson.source_key == case.asked,
        lambda _case: "it was learned from the same question",
    ),
    ("review", lambda case: case.unreviewed, lambda case: f"it was {case.state.value} at that time"),
    (
        "wrong source",
        lambda case: case.misnamed,
        lambda case: (
            f"the record names another source than run {case.lesson.run}, position"
            f" {case.lesson.position}"
        ),
    ),
)
"""Each rule with when it is broken and why; of a memory that breaks several, the first is told."""


def _asked(event: MemoriesRetrieved, sight: _Sight) -> str:
    """The source key of the question that was served, from the stream itself."""
    questions = sight.opening.questions
    return questions[event.position].source_key if event.position < len(questions) else ""


def _states(decisions: Sequence[ReviewDecision]) -> dict[str, ReviewState]:
    return {decision.memory: decision.state for decision in decisions}


def _violation(event: MemoriesRetrieved, memory: str, rule: str, reason: str) -> Violation:
    where = f"run {event.run}, question {event.position}, attempt {event.attempt}"
    return Violation(
        run=event.run,
        position=event.position,
        attempt=event.attempt,
        memory=memory,
        rule=rule,
        text=f"{where}: memory {memory} was not legal: {reason}.",
    )


def _lessons(ledger: Ledger) -> dict[str, _Lesson]:
    rows = ledger.rows("SELECT id, number, run, position, source_key, confirmed FROM memories")
    return {row[0]: _Lesson(row[1], row[2], row[3], row[4], bool(row[5])) for row in rows}


KINDS = tuple(
    str(kind.__struct_config__.tag)
    for kind in (
        RunStarted,
        RunResumed,
        EpisodeStarted,
        EntryImported,
        EntryReviewed,
        ReviewsApplied,
        MemoriesRetrieved,
    )
)

PAGE = 200


def _events(ledger: Ledger) -> Iterator[tuple[int, StoredEvent]]:
    last = 0
    marks = ", ".join("?" * len(KINDS))
    query = (
        f"SELECT number, body FROM events WHERE number > ? AND kind IN ({marks})"
        f" ORDER BY number LIMIT {PAGE}"
    )
    while rows := ledger.rows(query, (last, *KINDS)):
        for number, body in rows:
            with in_words(ledger.path):
                event = decode(body)
            yield number, event
        last = rows[-1][0]
