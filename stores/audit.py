"""Causality, checked over everything that was ever retrieved (merit.md, "The loop").

Every memory that a stored retrieval ranked must have been legal for the question it served. The
check reads the events and the stored memories, never what a retrieval claims about itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from core.run.events import (
    MemoriesRetrieved,
    ReviewsApplied,
    RunResumed,
    RunStarted,
)
from stores.errors import in_words
from stores.journal import EntryReviewed, StoredEvent, decode
from stores.ledger import Ledger


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that should not have been there."""

    run: str
    position: int
    attempt: int
    memory: str
    rule: str
    """unknown, own position, later run, fresh memory, same question, review, wrong source, not
    final."""
    text: str
    """The violation as one line."""


class _Lesson(msgspec.Struct, frozen=True):
    number: int
    run: str
    position: int
    source_key: str
    confirmed: bool


class _Sight(msgspec.Struct):
    """What a run may see, as far as the walk through its events has come."""

    opening: RunStarted
    began: int
    states: dict[str, ReviewState]


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
                    self._runs[event.run] = _Sight(event, number, dict(self._decided))
                case RunResumed() if event.run in self._runs:
                    self._runs[event.run].states = dict(self._decided)
                case EntryReviewed():
                    self._decide(event.decision)
                case ReviewsApplied():
                    for decision in event.decisions:
                        self._decide(decision)
                        if event.run in self._runs:
                            self._runs[event.run].states[decision.memory] = decision.state
                case MemoriesRetrieved() if runs is None or event.run in runs:
                    yield from self._of_retrieval(number, event)
                case _:
                    pass

    def _decide(self, decision: ReviewDecision) -> None:
        self._decided[decision.memory] = decision.state

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
        for memory in sorted(named.keys() | shown.keys()):
            self.checked += 1
            lesson = self._lessons.get(memory)
            found = (
                ("unknown", "it is not in the store")
                if lesson is None
                else self._judged(memory, lesson, event, sight, named.get(memory), shown.get(memory))
            )
            if found is None and lesson is not None and lesson.number > number:
                found = ("not final", "its episode had not ended yet")
            if found is not None:
                yield _violation(event, memory, *found)

    def _judged(
        self,
        memory: str,
        lesson: _Lesson,
        event: MemoriesRetrieved,
        sight: _Sight,
        claim: tuple[str, int] | None,
        entry: MemoryEntry | None,
    ) -> tuple[str, str] | None:
        """The first rule that the memory breaks, with the reason; None where it was legal."""
        state = sight.states.get(memory) or _first_state(lesson)
        for rule, broken, reason in (
            (
                "own position",
                lesson.run == event.run and lesson.position >= event.position,
                f"it was learned at position {lesson.position}, which is not earlier",
            ),
            (
                "fresh memory",
                lesson.run != event.run and sight.opening.settings.memory != "library",
                f"it comes from the run {lesson.run}, and this run started with a fresh memory",
            ),
            (
                "later run",
                lesson.run != event.run and lesson.number > sight.began,
                f"it was learned in the run {lesson.run} after this run had begun",
            ),
            (
                "same question",
                lesson.source_key == _asked(event, sight),
                "it was learned from the same question",
            ),
            (
                "review",
                state is ReviewState.REJECTED
                or (state is ReviewState.PENDING and not sight.opening.settings.include_pending),
                f"it was {state.value} at that time",
            ),
            (
                "wrong source",
                _lies(lesson, claim, entry),
                f"the record names another source than {lesson.run}, position {lesson.position}",
            ),
        ):
            if broken:
                return rule, reason
        return None


def _lies(lesson: _Lesson, claim: tuple[str, int] | None, entry: MemoryEntry | None) -> bool:
    told = [claim] if claim else []
    if entry is not None:
        told.append((entry.provenance.run, entry.provenance.position))
        if entry.source_key != lesson.source_key:
            return True
    return any(source != (lesson.run, lesson.position) for source in told)


def _asked(event: MemoriesRetrieved, sight: _Sight) -> str:
    """The source key of the question that was served, from the stream itself."""
    questions = sight.opening.questions
    return questions[event.position].source_key if event.position < len(questions) else ""


def _first_state(lesson: _Lesson) -> ReviewState:
    return ReviewState.APPROVED if lesson.confirmed else ReviewState.PENDING


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
