"""Planted violations of causality are found, each under its rule; lawful stores show none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from core.run.events import (
    AnyEvent,
    EpisodeEnded,
    EpisodeOutcome,
    MemoriesRetrieved,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    RunSettings,
)
from stores.audit import Audit
from stores.store import Store
from tests.streams import EventWriter, episode_events, memory_entry, question, run_events, settings

REPAIRS = ((EpisodeOutcome.REPAIRED, 1),)


def rules(store: Store, *runs: str) -> list[str]:
    return [violation.rule for violation in Audit(store).violations(frozenset(runs) or None)]


def run_with(
    known: Sequence[MemoryEntry],
    *,
    run: str = "run-9",
    run_settings: RunSettings | None = None,
    change: Callable[[AnyEvent], AnyEvent] = lambda event: event,
) -> list[AnyEvent]:
    """A run of three questions; the last one is served `known`, whether that is lawful or not."""
    events = run_events(3, run=run, plans=REPAIRS, end=None, run_settings=run_settings)
    cut = next(i for i, event in enumerate(events) if getattr(event, "position", 0) == 2)
    served = episode_events(2, run=run, after=cut, at=events[cut - 1].at, known=known)
    return events[:cut] + [change(event) for event in served]


def test_lawful_runs_show_no_violation(store: Store) -> None:
    store.append(run_events(24, run="run-1"))
    store.append(run_events(24, run="run-2", reflections=True))
    audit = Audit(store)
    assert list(audit.violations()) == []
    assert audit.retrievals > 50
    assert audit.checked > audit.retrievals


def test_a_library_is_lawful_where_the_run_uses_it(store: Store) -> None:
    store.keep([memory_entry(50, run="elsewhere")], at=1.0)
    store.append(run_events(8, run="run-1"))
    known = store.entries()
    store.append(run_with(known, run_settings=settings(memory="library")))
    assert rules(store) == []


def test_a_memory_of_the_own_future(store: Store) -> None:
    """Also where it went into the prompt without being ranked."""
    later = memory_entry(7, run="run-9")
    events = run_with([later])
    store.append(events)
    assert rules(store) == ["unknown"], "it was never learned"
    store.keep([later], at=1.0)
    (found,) = Audit(store).violations()
    assert found.rule == "own position"
    assert (found.run, found.position, found.attempt, found.memory) == ("run-9", 2, 1, later.id)
    assert "learned at position 7, which is not earlier" in found.text
    assert "\n" not in found.text


def test_the_episode_s_own_memory(store: Store) -> None:
    own = memory_entry(2, run="run-9", asked=question(30), attempt=5)
    store.keep([own], at=1.0)
    store.append(run_with([own]))
    assert rules(store) == ["own position"]


def test_another_run_s_memory_in_a_fresh_run(store: Store) -> None:
    store.append(run_events(8, run="run-1"))
    store.append(run_with(store.entries()[:1]))
    assert rules(store) == ["fresh memory"]


def test_another_run_s_memory_that_came_after_this_run_began(store: Store) -> None:
    late = memory_entry(0, run="elsewhere")
    events = run_with([late], run_settings=settings(memory="library"))
    cut = next(i for i, event in enumerate(events) if getattr(event, "position", 0) == 1)
    store.append(events[:cut])
    store.keep([late], at=1.0)
    store.append(events[cut:])
    assert rules(store) == ["later run"]


def test_a_memory_learned_from_the_same_question(store: Store) -> None:
    asked = run_events(3)[0].questions[2]  # type: ignore[union-attr]
    shouted = msgspec.structs.replace(asked, text=f"  {asked.text.upper()}  ", id="other")
    same = memory_entry(0, run="elsewhere", asked=shouted)
    store.keep([same], at=1.0)
    # The stream's builder leaves the same question out, so it comes in as another one's memory.
    plain = memory_entry(0, run="elsewhere")
    events = run_with([plain], run_settings=settings(memory="library"))
    store.append([_swapped(event, plain, same) for event in events])
    assert "same question" in rules(store)


@pytest.mark.parametrize(
    ("confirmed", "decided", "include_pending", "expected"),
    [
        (True, None, False, []),
        (False, None, False, ["review"]),
        (False, None, True, []),
        (False, ReviewState.APPROVED, False, []),
        (True, ReviewState.REJECTED, False, ["review"]),
        (True, ReviewState.REJECTED, True, ["review"]),
        (True, ReviewState.PENDING, False, ["review"]),
    ],
)
def test_review_decisions_of_the_time_count(
    store: Store,
    confirmed: bool,
    decided: ReviewState | None,
    include_pending: bool,
    expected: list[str],
) -> None:
    entry = memory_entry(0, run="elsewhere", confirmed=confirmed)
    store.keep([entry], at=1.0)
    if decided is not None:
        store.review(ReviewDecision(memory=entry.id, state=decided, who="ada", at=2.0))
    chosen = settings(memory="library", include_pending=include_pending)
    store.append(run_with([entry], run_settings=chosen))
    after = ReviewDecision(memory=entry.id, state=ReviewState.REJECTED, who="bo", at=3.0)
    store.review(after)
    assert rules(store) == expected, "what was decided afterwards does not count"


def test_decisions_that_came_with_an_import_count(store: Store) -> None:
    entry = memory_entry(0, run="elsewhere")
    rejected = ReviewDecision(memory=entry.id, state=ReviewState.REJECTED, who="ada", at=0.5)
    store.keep([entry], at=1.0, reviews={entry.id: [rejected]})
    store.append(run_with([entry], run_settings=settings(memory="library")))
    assert rules(store) == ["review"]


def test_a_decision_counts_from_where_the_run_took_it_in(store: Store) -> None:
    """A reviewer may reject while an episode goes on: that episode may still use the memory."""
    entry = memory_entry(0, run="elsewhere")
    store.keep([entry], at=1.0)
    events = run_with([entry], run_settings=settings(memory="library"))
    rejected = ReviewDecision(memory=entry.id, state=ReviewState.REJECTED, who="ada", at=2.0)
    half = len(events) - 4
    store.append(events[:half])
    store.review(rejected)
    store.append(events[half:])
    writer = EventWriter(run="run-9", seq=events[-1].seq, at=events[-1].at)
    writer.add(ReviewsApplied, position=3, decisions=(rejected,))
    writer.events += episode_events(3, run="run-9", after=writer.seq, at=writer.at, known=[entry])
    store.append(writer.events)
    (found,) = Audit(store).violations()
    assert (found.position, found.rule) == (3, "review")


def test_a_resumed_run_knows_all_decisions_made_meanwhile(store: Store) -> None:
    entry = memory_entry(0, run="elsewhere")
    store.keep([entry], at=1.0)
    events = run_with([entry], run_settings=settings(memory="library"))
    writer = EventWriter(run="run-9", seq=events[-1].seq, at=events[-1].at)
    writer.add(RunEnded, reason="stopped")
    store.append([*events, *writer.events])
    store.review(ReviewDecision(memory=entry.id, state=ReviewState.REJECTED, who="ada", at=2.0))
    writer.events = []
    writer.add(RunResumed, finished=3)
    writer.events += episode_events(3, run="run-9", after=writer.seq, at=writer.at, known=[entry])
    store.append(writer.events)
    assert rules(store) == ["review"]


def test_a_question_that_overlaps_with_another_must_not_learn_from_it(store: Store) -> None:
    """Question 1 begins while a person still looks at question 0: what question 0 teaches before
    question 1 asks its memory comes too late."""
    first = episode_events(0)
    ended = first[-1]
    assert isinstance(ended, EpisodeEnded)
    assert ended.memory is not None
    second = episode_events(1, known=[ended.memory])
    told = [run_events(2, end=None)[0], first[0], second[0], *first[1:], *second[1:]]
    store.append(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(told, start=1))
    assert rules(store) == ["overlapping"]


def test_a_record_that_names_another_source(store: Store) -> None:
    store.append(run_events(8, run="run-1"))
    entry = store.entries()[0]
    forged = msgspec.structs.replace(
        entry, provenance=msgspec.structs.replace(entry.provenance, position=0, run="run-0")
    )
    store.append(run_with([forged], run_settings=settings(memory="library")))
    assert rules(store) == ["wrong source"]


def test_a_memory_that_is_only_ranked_must_be_lawful_too(store: Store) -> None:
    store.append(run_events(8, run="run-1"))
    entry = store.entries()[0]

    def not_shown(event: AnyEvent) -> AnyEvent:
        if isinstance(event, MemoriesRetrieved):
            return msgspec.structs.replace(event, entries=())
        return event

    store.append(run_with([entry], change=not_shown))
    assert rules(store) == ["fresh memory"]


def test_single_runs_can_be_audited(store: Store) -> None:
    store.append(run_events(8, run="run-1"))
    store.append(run_with(store.entries()[:1], run="run-8"))
    store.append(run_with(store.entries()[:1], run="run-9"))
    assert rules(store) == ["fresh memory"] * 2
    assert rules(store, "run-8") == ["fresh memory"]
    assert rules(store, "run-1") == []


def test_what_was_planted_into_the_file_is_found(store: Store) -> None:
    """In the projection the check finds it, in the events the audit."""
    store.append(run_events(24, run="run-1"))
    db = store.database
    db.execute("UPDATE retrieved SET source_position = 99 WHERE rowid = 5")
    assert store.check()
    store.rebuild()
    assert store.check() == ()
    number, body = db.execute(
        "SELECT number, body FROM events WHERE kind = 'memories_retrieved' ORDER BY number LIMIT 1"
    ).fetchone()
    late = store.entries()[-1]
    earlier = store.entries()[0]
    db.execute(
        "UPDATE events SET body = ? WHERE number = ?", (body.replace(earlier.id, late.id), number)
    )
    assert "own position" in rules(store)


def _swapped(event: AnyEvent, old: MemoryEntry, new: MemoryEntry) -> AnyEvent:
    if not isinstance(event, MemoriesRetrieved):
        return event
    plain: Any = msgspec.to_builtins(event)
    for channel in plain["retrieval"]["channels"]:
        for ranked in channel["candidates"]:
            ranked["id"] = new.id if ranked["id"] == old.id else ranked["id"]
    plain["entries"] = [
        msgspec.to_builtins(new) if entry["id"] == old.id else entry for entry in plain["entries"]
    ]
    return msgspec.convert(plain, MemoriesRetrieved)
