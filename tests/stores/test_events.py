"""Every event comes back as it was stored, whatever its text."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.database.rows import Outcome
from core.errors import MeritoError
from core.feedback.verdict import Status
from core.memory.entry import ReviewDecision, ReviewState
from core.models.chat import Sampling, Usage
from core.run.events import (
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    JudgementAwaited,
    ResultTable,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    SelectorAnswered,
    TokenDelta,
)
from core.selection.grouped import Candidates, Executed
from core.selection.selection import Selection
from stores.errors import StoreConflict
from stores.store import Store
from tests.streams import HOSTILE, EventWriter, batches, episode_events, run_events

CHOSEN_FROM_A_LIST = {"run", "role", "finish", "channel"}
MEGABYTE = "[/b]{x}\x00é" * (1024 * 1024 // 10)

TEXTS = {
    "markup, braces, control characters": HOSTILE,
    "NUL alone": "\x00",
    "empty": "",
    "a megabyte": MEGABYTE,
    "SQL": "'); DROP TABLE events; --",
    "JSON": '{"event": "run_ended", "run": "run-1"}',
    "line separators": "a\u2028b\u2029c\x85d",
    "noncharacters": "\ufffe\uffff\U0010ffff",
}


def every_kind() -> list[AnyEvent]:
    """One valid stream in which every kind of event occurs."""
    events = run_events(8, reflections=True, end=None)
    writer = EventWriter(seq=events[-1].seq, at=events[-1].at)
    decision = ReviewDecision(memory="m", state=ReviewState.PENDING, who="w", at=1.0, remark="r")
    writer.add(ReviewsApplied, position=8, decisions=(decision,))
    writer.add(RunEnded, reason="stopped")
    writer.add(RunResumed, finished=8)
    writer.events += episode_events(8, after=writer.seq)[:-2]
    writer.seq = writer.events[-1].seq
    drawn = {"number": 1, "sampling": Sampling(), "text": "t", "sql": "q", "usage": Usage()}
    writer.add(CandidateDrawn, position=8, attempt=0, seconds=1.0, **drawn)
    asked = {"template": "select-list", "usage": Usage(), "seconds": 1.0}
    writer.add(SelectorAnswered, position=8, attempt=0, **asked)
    table = ResultTable(outcome=Outcome.OK, columns=("a",), rows=(("r",),), digest="d")
    executed = Executed(sql="q", source="greedy", key="k", table=table)
    writer.add(
        CandidatesSelected,
        position=8,
        attempt=0,
        candidates=Candidates(executed=(executed,), groups=((0,),)),
        selection=Selection(method="map-sql", choice=0),
    )
    writer.add(JudgementAwaited, position=8, attempt=1)
    writer.add(AttemptJudged, position=8, attempt=1, sql="", status=Status.CORRECT)
    writer.add(RunEnded, reason="interrupted")
    return events + writer.events


def with_text(value: Any, text: str) -> Any:
    """The same value with `text` wherever free text stands."""
    if type(value) is str:
        return text
    if isinstance(value, msgspec.Struct):
        fields = {
            name: with_text(getattr(value, name), text)
            for name in value.__struct_fields__
            if name not in CHOSEN_FROM_A_LIST
        }
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(with_text(item, text) for item in value)
    return value


def test_the_stream_holds_every_kind() -> None:
    assert {type(event) for event in every_kind()} == set(get_args(AnyEvent)) - {TokenDelta}


def test_every_kind_comes_back(store: Store) -> None:
    events = every_kind()
    store.append(events)
    assert list(store.events("run-1")) == events
    assert store.check() == ()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if text is MEGABYTE else name
        for name, text in TEXTS.items()
    ],
)
def test_every_kind_with_hostile_text_comes_back(store: Store, name: str) -> None:
    first, *kept = _one_of_each()
    hostile = [first, *(with_text(event, TEXTS[name]) for event in kept)]
    store.append(hostile)
    assert list(store.events("run-1")) == hostile
    assert store.check() == ()


def test_a_lone_surrogate_becomes_a_replacement_character(store: Store) -> None:
    first, *rest = _one_of_each()
    store.append([first, *(with_text(event, "a\ud800b\udfffc") for event in rest)])
    assert list(store.events("run-1")) == [
        first,
        *(with_text(event, "a\ufffdb\ufffdc") for event in rest),
    ]


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_comes_back(text: str) -> None:
    from stores.journal import decode, encode

    for event in every_kind():
        changed = with_text(event, text)
        assert decode(encode(changed)) == changed


def test_what_could_not_be_read_back_is_refused(store: Store) -> None:
    started = run_events(1)[0]
    with pytest.raises(StoreConflict, match="cannot be stored"):
        store.append([msgspec.structs.replace(started, at=float("nan"))])
    assert store.runs() == []


def test_deltas_are_never_stored(store: Store) -> None:
    events = run_events(3, deltas=True)
    for batch in batches(events):
        store.append(batch)
    assert any(isinstance(event, TokenDelta) for event in events)
    assert list(store.events("run-1")) == [e for e in events if not isinstance(e, TokenDelta)]


def test_the_same_event_twice_is_one_event(store: Store) -> None:
    events = run_events(3)
    store.append(events)
    store.append(events)
    store.append(events[4:9])
    assert list(store.events("run-1")) == events


def test_another_event_in_the_same_place_is_an_error(store: Store) -> None:
    events = run_events(3)
    store.append(events[:-1])
    other = msgspec.structs.replace(events[4], at=0.5)
    with pytest.raises(StoreConflict, match="another event 5 already"):
        store.append([events[-1], other])
    assert list(store.events("run-1")) == events[:-1]


def test_a_gap_is_an_error_and_nothing_of_the_batch_is_kept(store: Store) -> None:
    events = run_events(3)
    store.append(events[:3])
    with pytest.raises(StoreConflict, match="Event 6 of the run run-1 cannot follow event 4"):
        store.append([events[3], events[5]])
    assert list(store.events("run-1")) == events[:3]


def test_a_run_begins_with_its_start(store: Store) -> None:
    orphan = msgspec.structs.replace(run_events(1)[1], seq=1)
    with pytest.raises(MeritoError, match="was never started"):
        store.append([orphan])


def test_a_final_episode_does_not_go_on(store: Store) -> None:
    events = run_events(2, end=None)
    store.append(events)
    again = episode_events(0, after=events[-1].seq)
    with pytest.raises(StoreConflict, match="Episode 0 of the run run-1 is final"):
        store.append(again)
    assert list(store.events("run-1")) == events


def test_events_are_read_in_pages_from_any_place(store: Store) -> None:
    events = run_events(80)
    store.append(events)
    assert len(events) > 1000
    assert list(store.events("run-1", after=700)) == events[700:]
    assert list(store.events("run-1", after=len(events))) == []
    assert list(store.events("nobody")) == []


def _one_of_each() -> list[AnyEvent]:
    """One event of each kind, renumbered so that they follow one another; start first."""
    by_kind: dict[type, AnyEvent] = {}
    for event in every_kind():
        by_kind.setdefault(type(event), event)
    return [
        msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(by_kind.values(), start=1)
    ]
