"""Memories: found by what they say, decided about, and never overwritten."""

from __future__ import annotations

import msgspec
import pytest

from core.errors import MeritoError
from core.feedback.verdict import FailureType
from core.memory.entry import MemoryEntry, Polarity, ReviewDecision, ReviewState
from core.run.events import EpisodeOutcome, ReviewsApplied, RunEnded
from stores.errors import StoreConflict
from stores.library import EntryFilter, EntryUsage
from stores.store import Store
from tests.streams import HOSTILE, EventWriter, memory_entry, question, run_events, settings


def decision(memory: str, state: ReviewState, at: float = 1.0, **fields: str) -> ReviewDecision:
    return ReviewDecision(memory=memory, state=state, who=fields.pop("who", "ada"), at=at, **fields)


def ids(entries: list[MemoryEntry]) -> list[str]:
    return [entry.id for entry in entries]


@pytest.fixture
def taught(store: Store) -> Store:
    """A store that two runs have taught."""
    store.append(run_events(16, run="run-1"))
    store.append(run_events(8, run="run-2"))
    return store


def test_entries_come_oldest_first_and_whole(taught: Store) -> None:
    entries = taught.entries()
    assert len(entries) == 12
    assert [e.provenance.run for e in entries] == ["run-1"] * 8 + ["run-2"] * 4
    assert all(taught.entry(entry.id) == entry for entry in entries)


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        (EntryFilter(polarity=Polarity.NEGATIVE), lambda e: e.polarity is Polarity.NEGATIVE),
        (EntryFilter(failure=FailureType.SYNTAX), lambda e: e.failure is FailureType.SYNTAX),
        (EntryFilter(database="CLINIC"), lambda e: e.context.database == "clinic"),
        (EntryFilter(run="run-2"), lambda e: e.provenance.run == "run-2"),
        (EntryFilter(run="run-1", before=4), lambda e: e.provenance.position < 4),
        (EntryFilter(text="commission"), lambda e: "commission" in e.revised_sql),
        (EntryFilter(text="commis COST"), lambda e: "commission" in e.revised_sql),
    ],
)
def test_each_filter_narrows_alone(taught: Store, wanted: EntryFilter, rule: object) -> None:
    assert callable(rule)
    expected = {e.id for e in taught.entries() if rule(e)}
    if wanted.run == "run-1":
        expected = {e.id for e in taught.entries() if rule(e) and e.provenance.run == "run-1"}
    assert expected
    assert set(ids(taught.entries(wanted))) == expected


def test_filters_narrow_together_and_a_limit_cuts(taught: Store) -> None:
    both = EntryFilter(run="run-1", polarity=Polarity.POSITIVE)
    assert len(taught.entries(both)) == 6
    assert ids(taught.entries(msgspec.structs.replace(both, limit=2))) == ids(taught.entries(both))[:2]
    assert taught.entries(msgspec.structs.replace(both, limit=0)) == []


@pytest.mark.parametrize(
    "text",
    ["[/x]", '"', "' OR 1=1", "NEAR(a b)", "a AND", "*", "\x00", "{0}", "col:x", "^x", "-", "é", "("],
)
def test_whatever_is_searched_for_is_only_words(taught: Store, text: str) -> None:
    assert isinstance(taught.entries(EntryFilter(text=text)), list)


def test_hostile_text_is_found_by_its_words(store: Store) -> None:
    asked = question(0, text=f"Where is {HOSTILE} zanzibar?")
    store.keep([memory_entry(0, asked=asked)], at=1.0)
    assert store.entries(EntryFilter(text="zanzibar"))[0].context.question == asked.text
    assert store.check() == ()


def test_an_id_s_beginning_names_an_entry(taught: Store) -> None:
    entry = taught.entries()[0]
    assert taught.entry(entry.id[:8]) == entry
    with pytest.raises(MeritoError, match="There is no memory 'zzz'"):
        taught.entry("zzz")
    with pytest.raises(MeritoError, match="There is no memory ''"):
        taught.entry("")


def test_only_an_id_that_is_near_is_proposed(taught: Store) -> None:
    near = taught.entries()[0].id
    slip = near[:3] + ("0" if near[3] != "0" else "1") + near[4:]
    with pytest.raises(MeritoError) as caught:
        taught.entry(slip)
    assert caught.value.mend == f"Did you mean {near}?"
    with pytest.raises(MeritoError) as caught:
        taught.entry("nope")
    assert caught.value.mend == "List them: merito memory list."


def test_confirmed_entries_start_approved_and_others_pending(store: Store) -> None:
    sure, unsure = memory_entry(0), memory_entry(1, confirmed=False)
    store.keep([sure, unsure], at=1.0)
    assert store.review_states() == {sure.id: ReviewState.APPROVED, unsure.id: ReviewState.PENDING}
    assert ids(store.entries(EntryFilter(state=ReviewState.PENDING))) == [unsure.id]


def test_the_newest_decision_counts_and_all_are_kept(store: Store) -> None:
    entry = memory_entry(0)
    store.keep([entry], at=1.0)
    first = decision(entry.id, ReviewState.REJECTED, at=5.0, remark="[/x] too narrow")
    second = decision(entry.id, ReviewState.APPROVED, at=4.0, who="bo")
    store.review(first)
    store.review(second)
    assert store.history(entry.id) == [first, second], (
        "in the order of arrival, whatever the clocks say"
    )
    assert store.review_states([entry.id]) == {entry.id: ReviewState.APPROVED}
    assert ids(store.entries(EntryFilter(state=ReviewState.APPROVED))) == [entry.id]
    assert store.check() == ()


def test_taking_back_is_another_decision(store: Store) -> None:
    entry = memory_entry(0, confirmed=False)
    store.keep([entry], at=1.0)
    with pytest.raises(StoreConflict, match="Nobody has decided"):
        store.undo_of(entry.id, who="ada", at=2.0)
    store.review(decision(entry.id, ReviewState.APPROVED, at=2.0))
    store.review(decision(entry.id, ReviewState.REJECTED, at=3.0))
    states = []
    for at in (4.0, 5.0):
        store.review(store.undo_of(entry.id, who="ada", at=at))
        states.append(store.review_states()[entry.id])
    assert states == [ReviewState.APPROVED, ReviewState.REJECTED]
    assert len(store.history(entry.id)) == 4


def test_taking_back_the_first_decision_brings_back_the_start(store: Store) -> None:
    entry = memory_entry(0, confirmed=False)
    store.keep([entry], at=1.0)
    store.review(decision(entry.id, ReviewState.APPROVED, at=2.0))
    assert store.undo_of(entry.id, who="ada", at=3.0).state is ReviewState.PENDING


def test_decisions_are_kept_all_or_none(store: Store) -> None:
    entry = memory_entry(0)
    store.keep([entry], at=1.0)
    with pytest.raises(MeritoError, match="There is no memory"):
        store.review(decision(entry.id, ReviewState.REJECTED), decision("nope", ReviewState.REJECTED))
    assert store.history(entry.id) == []


def test_a_decision_that_a_run_obeys_is_the_reviewer_s_own(taught: Store) -> None:
    """The reviewer writes it, then the run tells that it counts from here."""
    entry = taught.entries()[0]
    made = decision(entry.id, ReviewState.REJECTED)
    taught.review(made)
    writer = EventWriter(run="run-3")
    writer.events = run_events(1, run="run-3", end=None)
    writer.seq = writer.events[-1].seq
    writer.add(ReviewsApplied, position=1, decisions=(made,))
    writer.add(RunEnded, reason="stopped")
    taught.append(writer.events)
    assert taught.history(entry.id) == [made]


def test_a_run_that_obeys_an_older_decision_does_not_bring_it_back(taught: Store) -> None:
    entry = taught.entries()[0]
    older = decision(entry.id, ReviewState.REJECTED, at=1.0)
    newer = decision(entry.id, ReviewState.APPROVED, at=2.0)
    taught.review(older)
    taught.review(newer)
    writer = EventWriter(run="run-3")
    writer.events = run_events(1, run="run-3", end=None)
    writer.seq = writer.events[-1].seq
    writer.add(ReviewsApplied, position=1, decisions=(older,))
    taught.append(writer.events)
    assert taught.history(entry.id) == [older, newer]
    assert taught.review_states()[entry.id] is ReviewState.APPROVED


def test_a_decision_of_a_run_alone_counts_as_well(taught: Store) -> None:
    entry = taught.entries()[0]
    writer = EventWriter(run="run-3")
    writer.events = run_events(1, run="run-3", end=None)
    writer.seq = writer.events[-1].seq
    made = decision(entry.id, ReviewState.PENDING)
    writer.add(ReviewsApplied, position=1, decisions=(made,))
    taught.append(writer.events)
    assert taught.review_states()[entry.id] is ReviewState.PENDING


def test_usage_counts_prompts_episodes_and_repairs(store: Store) -> None:
    plans = (
        (EpisodeOutcome.REPAIRED, 1),
        (EpisodeOutcome.REPAIRED, 3),
        (EpisodeOutcome.FAILED, 7),
        (EpisodeOutcome.RIGHT_AT_ONCE, 0),
    )
    store.append(run_events(4, plans=plans))
    first, second, failed = store.entries()
    assert store.usage(first.id) == EntryUsage(retrieved=10, episodes=2, repaired=1, right=1)
    assert store.usage(second.id) == EntryUsage(retrieved=7, episodes=1, repaired=0, right=0)
    assert store.usage(failed.id) == EntryUsage()
    assert store.usages() == {e.id: store.usage(e.id) for e in (first, second)}


def test_imported_entries_are_kept_once(store: Store) -> None:
    entries = [memory_entry(position) for position in range(5)]
    assert store.keep(entries, at=1.0) == 5
    assert store.keep(entries[2:], at=2.0) == 0
    assert store.keep([*entries, memory_entry(9), memory_entry(9)], at=3.0) == 1
    assert ids(store.entries()) == ids([*entries, memory_entry(9)])
    assert store.check() == ()


def test_another_entry_under_a_known_id_is_refused_with_all_that_came_along(store: Store) -> None:
    entry = memory_entry(0)
    store.keep([entry], at=1.0)
    forged = msgspec.structs.replace(entry, revised_sql="SELECT 1")
    for batch in (
        [memory_entry(1), forged],
        [memory_entry(2), msgspec.structs.replace(memory_entry(2), delta=())],
    ):
        with pytest.raises(StoreConflict, match="Another memory with the id"):
            store.keep(batch, at=2.0)
    assert store.entries() == [entry]


def test_imported_entries_bring_their_reviews(store: Store) -> None:
    """In the order in which they were made, even at the same moment."""
    entry = memory_entry(0)
    history = [
        decision(entry.id, state, at=7.0)
        for state in (ReviewState.REJECTED, ReviewState.APPROVED, ReviewState.PENDING)
    ]
    store.keep([entry], at=9.0, reviews={entry.id: history})
    assert store.history(entry.id) == history
    assert store.review_states() == {entry.id: ReviewState.PENDING}
    later = decision(entry.id, ReviewState.APPROVED, at=10.0)
    store.review(later)
    store.keep([entry], at=11.0, reviews={entry.id: history})
    assert store.history(entry.id) == [*history, later], "what is known here stays as it is"
    assert store.check() == ()


def test_an_entry_with_broken_text_is_recognised_again(store: Store) -> None:
    entry = memory_entry(0, asked=question(0, text="broken \ud800 text"))
    assert store.keep([entry], at=1.0) == 1
    assert store.keep([entry], at=2.0) == 0
    assert store.entries()[0].context.question == "broken \ufffd text"


def test_a_run_s_library_is_what_had_been_learned_before_it(store: Store) -> None:
    store.append(run_events(8, run="run-1"))
    store.keep([memory_entry(0, run="elsewhere")], at=1.0)
    store.append(run_events(8, run="run-2"))
    store.append(run_events(1, run="run-3"))
    before = [e.id for e in store.entries() if e.provenance.run in ("run-1", "elsewhere")]
    assert ids(store.library("run-2")) == before
    assert ids(store.library("run-1")) == []
    assert ids(store.library("not yet begun")) == ids(store.library()) == ids(store.entries())


def test_the_newest_entry_is_known(store: Store) -> None:
    assert store.newest() == (0, "")
    store.append(run_events(8))
    assert store.newest() == (4, store.entries()[-1].id)


def test_a_run_may_teach_what_was_imported_before(store: Store) -> None:
    events = run_events(2)
    entry = events[-2].memory  # type: ignore[union-attr]
    assert isinstance(entry, MemoryEntry)
    store.keep([entry], at=1.0)
    store.append(events)
    assert store.entries() == [entry]
    assert store.check() == ()


def test_where_everything_is_reviewed_a_confirmed_memory_waits_too(store: Store) -> None:
    """`--review all`: what a person confirmed is no rule for others until somebody approves it."""
    store.append(run_events(4, run="run-1"))
    store.append(run_events(4, run="run-2", run_settings=settings(review="all")))
    states = store.review_states()
    by_run = {entry.id: entry.provenance.run for entry in store.entries()}
    assert {states[each] for each, run in by_run.items() if run == "run-1"} == {ReviewState.APPROVED}
    held = [each for each, run in by_run.items() if run == "run-2"]
    assert {states[each] for each in held} == {ReviewState.PENDING}
    (why,) = store.history(held[0])
    assert (why.who, why.remark) == ("merito", "every memory of this run waits for a review")
    approved = ReviewDecision(memory=held[0], state=ReviewState.APPROVED, who="ana", at=9.0)
    store.review(approved)
    assert store.review_states([held[0]]) == {held[0]: ReviewState.APPROVED}
    assert store.check() == ()
    store.rebuild()
    assert len(store.history(held[0])) == 2
