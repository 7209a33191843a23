"""Who may be told what: each rule by itself, then all of them on random histories."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Polarity, ReviewState
from core.memory.policy import Asking, RetrievalPolicy
from core.memory.retrieval import MemoryIndex, QueryVector
from core.memory.texts import RetrievalQuery
from core.question import source_key
from tests.core.memory.memories import DIMENSIONS, memory, unit

QUERY = RetrievalQuery(
    question="How many singers?",
    sql="SELECT name FROM singer",
    status=Status.DENOTATION_MISMATCH,
    failure=FailureType.RESULT_MISMATCH,
)
EVERYTHING = RetrievalPolicy(positives=100, negatives=100, type_filter=False)


def asking(**changes: Any) -> Asking:
    """The question at position 5 of run-1, with a fresh memory."""
    fields = {
        "run": "run-1",
        "position": 5,
        "source_key": source_key("concert", "How many singers?"),
        "database": "concert",
        **changes,
    }
    return Asking(**fields)


def told(index: MemoryIndex, who: Asking, policy: RetrievalPolicy = EVERYTHING) -> set[str]:
    vector = QueryVector(values=unit(0, 1, 2, 3))
    return {entry.id for entry in index.retrieve(QUERY, who, policy, vector).entries}


def holding(*entries: MemoryEntry, state: ReviewState = ReviewState.APPROVED) -> MemoryIndex:
    index = MemoryIndex(DIMENSIONS)
    for entry in entries:
        index.append(entry, unit(0, 1, 2, 3), state)
    return index


RULES = {
    "earlier in the run": (memory(4), {}, True),
    "the same position": (memory(5), {}, False),
    "later in the run": (memory(6), {}, False),
    "another run, fresh memory": (memory(1, run="run-0"), {}, False),
    "another run, in the library": (memory(1, run="run-0"), {"library": 1}, True),
    "in the library at a later position": (memory(99, run="run-0"), {"library": 1}, True),
    "the run's own later entry is no library": (memory(99), {"library": 1}, False),
    "the same question": (memory(1, question="How many singers?"), {}, False),
    "the same question in other letters": (memory(1, question=" how MANY  singers? "), {}, False),
    "the same words about another database": (
        memory(1, question="How many singers?", database="opera"),
        {},
        True,
    ),
    "the same question from the library": (
        memory(1, run="run-0", question="How many singers?"),
        {"library": 1},
        False,
    ),
    "among those fixed when the episode began": (memory(4), {"only": frozenset({memory(4).id})}, True),
    "not among those fixed": (memory(4), {"only": frozenset({"m-other"})}, False),
    "fixed, and of a later position all the same": (
        memory(6),
        {"only": frozenset({memory(6).id})},
        False,
    ),
    "fixed own entries do not close the library": (
        memory(1, run="run-0"),
        {"library": 1, "only": frozenset()},
        True,
    ),
    "a negative one": (memory(4, polarity=Polarity.NEGATIVE), {}, True),
}


@pytest.mark.parametrize(("entry", "who", "legal"), RULES.values(), ids=RULES)
def test_causality(entry: MemoryEntry, who: dict[str, Any], legal: bool) -> None:
    assert told(holding(entry), asking(**who)) == ({entry.id} if legal else set())


@pytest.mark.parametrize(
    ("state", "include_pending", "legal"),
    [
        (ReviewState.APPROVED, False, True),
        (ReviewState.APPROVED, True, True),
        (ReviewState.PENDING, False, False),
        (ReviewState.PENDING, True, True),
        (ReviewState.REJECTED, False, False),
        (ReviewState.REJECTED, True, False),
    ],
)
def test_review(state: ReviewState, include_pending: bool, legal: bool) -> None:
    index = holding(memory(1), state=state)
    assert bool(told(index, asking(include_pending=include_pending))) is legal


def test_a_decision_counts_from_the_next_retrieval_on() -> None:
    index = holding(memory(1), memory(2))
    index.set_state(memory(1).id, ReviewState.REJECTED)
    assert told(index, asking()) == {memory(2).id}
    index.set_state(memory(1).id, ReviewState.APPROVED)
    assert told(index, asking()) == {memory(1).id, memory(2).id}
    with pytest.raises(MeritoError, match="no memory m-nobody"):
        index.set_state("m-nobody", ReviewState.APPROVED)


def test_the_library_ends_where_it_ended_when_the_run_began() -> None:
    """What another run learns meanwhile is not told, even if one index serves both."""
    index = holding(memory(1, run="run-0"))
    began = len(index)
    index.append(memory(2, run="run-0"), unit(0, 1, 2, 3), ReviewState.APPROVED)
    index.append(memory(3), unit(0, 1, 2, 3), ReviewState.APPROVED)
    assert told(index, asking(library=began)) == {memory(1).id, memory(3).id}


@pytest.mark.parametrize(
    ("rule", "databases"),
    [
        ("any", {"concert", "Concert", "pets"}),
        ("same", {"concert", "Concert"}),
        ("other", {"pets"}),
        ("same-first", {"concert", "Concert", "pets"}),
    ],
)
def test_database_rules(rule: Any, databases: set[str]) -> None:
    entries = [memory(n, database=name) for n, name in enumerate(["concert", "Concert", "pets"])]
    policy = RetrievalPolicy(positives=10, type_filter=False, databases=rule)
    names = {entry.id: entry.context.database for entry in entries}
    assert {names[one] for one in told(holding(*entries), asking(), policy)} == databases


def test_the_same_database_comes_first_where_that_is_wished() -> None:
    index = MemoryIndex(DIMENSIONS)
    index.append(memory(1, database="pets"), unit(0, 1, 2, 3), ReviewState.APPROVED)
    index.append(memory(2, database="concert"), unit(4, 5, 6, 7), ReviewState.APPROVED)
    policy = RetrievalPolicy(databases="same-first")
    vector = QueryVector(values=unit(0, 1, 2, 3))
    best = index.retrieve(QUERY, asking(), policy, vector).retrieval.channels[0].candidates
    assert [candidate.id for candidate in best] == [memory(2).id, memory(1).id]
    assert best[0].score < best[1].score


@pytest.mark.parametrize(("same_type", "pool", "fallback"), [(2, 7, True), (3, 3, False)])
def test_the_type_filter_needs_three_of_the_type(same_type: int, pool: int, fallback: bool) -> None:
    others = 5 if same_type == 2 else 4
    entries = [memory(n) for n in range(same_type)]
    entries += [memory(10 + n, failure=FailureType.SYNTAX) for n in range(others)]
    vector = QueryVector(values=unit(0, 1, 2, 3))
    found = holding(*entries).retrieve(QUERY, asking(position=50), RetrievalPolicy(), vector)
    channel = found.retrieval.channels[0]
    assert (channel.legal, channel.typed) == (7, same_type)
    assert (channel.pool, channel.fallback) == (pool, fallback)


def test_the_reliability_variant_filters_by_reliable_types_alone() -> None:
    policy = RetrievalPolicy(reliability=True, negatives=0)
    entries = [memory(n, failure=FailureType.SYNTAX) for n in range(3)]
    entries += [memory(10 + n, failure=FailureType.RESULT_MISMATCH) for n in range(4)]
    index = holding(*entries)
    vector = QueryVector(values=unit(0, 1, 2, 3))

    def channel(failure: FailureType) -> Any:
        query = msgspec.structs.replace(QUERY, failure=failure)
        return index.retrieve(query, asking(position=50), policy, vector).retrieval.channels[0]

    syntax, mismatch = channel(FailureType.SYNTAX), channel(FailureType.RESULT_MISMATCH)
    assert (syntax.pool, syntax.fallback) == (3, False)
    assert all(c.score <= 1.0 for c in syntax.candidates)
    assert (mismatch.pool, mismatch.fallback) == (7, False)
    for candidate in mismatch.candidates:
        base = 0.75 * candidate.dense_norm + 0.25 * candidate.bm25_norm
        assert candidate.score == base + (0.10 if candidate.type_match else 0.0)


@settings(max_examples=150, deadline=None)
@given(
    past=st.lists(
        st.tuples(
            st.sampled_from(["run-1", "run-2", "run-3"]),
            st.integers(0, 9),
            st.integers(0, 3),
            st.sampled_from(list(ReviewState)),
        ),
        max_size=25,
    ),
    position=st.integers(0, 10),
    words=st.integers(0, 3),
    library=st.integers(0, 25),
    include_pending=st.booleans(),
    databases=st.sampled_from(["any", "same", "other", "same-first"]),
    mixed=st.booleans(),
)
def test_nothing_illegal_is_ever_told(
    past: list[tuple[str, int, int, ReviewState]],
    position: int,
    words: int,
    library: int,
    include_pending: bool,
    databases: Any,
    mixed: bool,
) -> None:
    index = MemoryIndex(DIMENSIONS)
    states = {}
    for number, (run, at, question, state) in enumerate(past):
        entry = memory(number, run=run, position=at, question=f"question {question}")
        index.append(entry, unit(0, 1, 2, 3), state)
        states[entry.id] = (number, state)
    who = asking(
        position=position,
        source_key=source_key("concert", f"Question  {words}"),
        library=library,
        include_pending=include_pending,
    )
    policy = RetrievalPolicy(
        mixed=mixed, mixed_quota=50, positives=50, negatives=50, databases=databases
    )
    vector = QueryVector(values=unit(0, 1, 2, 3))
    for entry in index.retrieve(QUERY, who, policy, vector).entries:
        number, state = states[entry.id]
        if entry.provenance.run == "run-1":
            assert entry.provenance.position < position
        else:
            assert number < library
        assert entry.source_key != who.source_key
        assert state is not ReviewState.REJECTED
        assert state is ReviewState.APPROVED or include_pending
