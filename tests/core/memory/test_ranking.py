"""The fast ranking and the plain one agree on random memories, for every policy."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.entry import Polarity, ReviewState
from core.memory.policy import Asking, RetrievalPolicy
from core.memory.retrieval import MemoryIndex, QueryVector
from core.memory.texts import RetrievalQuery
from core.question import source_key
from tests.core.memory.memories import DIMENSIONS, memory, unit, vectors
from tests.core.memory.reference import Stored, ranked

WORDS = ["singer", "concert", "count", "year", "name", "o_o", "2014", "où", ""]
TYPES = [FailureType.RESULT_MISMATCH, FailureType.SYNTAX, FailureType.AGGREGATION]
DATABASES = ["concert", "Concert", "world", "pets"]

phrases = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)

memories = st.builds(
    dict,
    run=st.sampled_from(["run-1", "run-2"]),
    position=st.integers(0, 12),
    polarity=st.sampled_from(list(Polarity)),
    failure=st.sampled_from(TYPES),
    database=st.sampled_from(DATABASES),
    question=phrases,
    failed_sql=phrases,
    revised_sql=phrases,
    delta=st.lists(phrases, max_size=2).map(tuple),
    message=phrases,
    reflections=st.sampled_from([(), ("think again",)]),
)

states = st.sampled_from([ReviewState.APPROVED] * 4 + [ReviewState.PENDING, ReviewState.REJECTED])
stored_ones = st.tuples(memories, vectors, states)
libraries = st.lists(stored_ones, max_size=5) | st.lists(stored_ones, min_size=15, max_size=30)

queries = st.builds(
    RetrievalQuery,
    question=phrases,
    sql=phrases,
    status=st.just(Status.DENOTATION_MISMATCH),
    failure=st.sampled_from(TYPES),
    message=phrases,
)

askings = st.builds(
    Asking,
    run=st.sampled_from(["run-1", "run-2", "run-3"]),
    position=st.integers(0, 13) | st.just(13),
    source_key=st.builds(source_key, st.sampled_from(DATABASES), phrases),
    database=st.sampled_from(DATABASES),
    library=st.integers(0, 30),
    include_pending=st.booleans(),
    only=st.none() | st.frozensets(st.integers(0, 29).map(lambda number: f"m-{number:012d}")),
)

POLICIES = {
    "merit": RetrievalPolicy(),
    "merit-reliability": RetrievalPolicy(reliability=True),
    "merit-no-negative": RetrievalPolicy(negatives=0),
    "merit-no-type": RetrievalPolicy(type_filter=False),
    "merit-no-dense": RetrievalPolicy(dense=False),
    "merit-no-bm25": RetrievalPolicy(lexical=False),
    "merit-other-databases": RetrievalPolicy(databases="other"),
    "merit-same-database": RetrievalPolicy(databases="same"),
    "same database first": RetrievalPolicy(databases="same-first", explained=4),
    "dynamic-rag": RetrievalPolicy(mixed=True, type_filter=False),
    "reflexion": RetrievalPolicy(
        mixed=True, mixed_quota=3, lexical=False, type_filter=False, with_reflections=True
    ),
    "lessons and examples": RetrievalPolicy(databases="same-first", examples=3),
    "examples alone": RetrievalPolicy(positives=0, negatives=0, examples=2, reliability=True),
    "nothing but ties": RetrievalPolicy(
        dense_weight=0.0, lexical=False, type_filter=False, positives=1, explained=1
    ),
    "no score but BM25": RetrievalPolicy(
        dense=False, lexical_weight=0.0, mixed=True, mixed_quota=2, explained=2
    ),
    "a sweep": RetrievalPolicy(dense_weight=0.4, lexical_weight=0.6, type_threshold=1, explained=1),
}


def index_of(drawn: list[tuple[dict[str, Any], Any, ReviewState]]) -> tuple[MemoryIndex, list[Stored]]:
    index = MemoryIndex(DIMENSIONS)
    stored = []
    # Ids do not rise with the order of arrival, so that a tie is not settled by accident.
    for number, (fields, vector, state) in enumerate(drawn):
        entry = memory(number, id=f"m-{number * 7 % 31:012d}", **fields)
        index.append(entry, vector, state)
        stored.append(Stored(entry, vector, state))
    return index, stored


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=libraries, query=queries, query_vector=vectors, asking=askings, explain=st.booleans())
def test_ranking_scores_and_pools_equal_the_reference(
    policy: RetrievalPolicy,
    drawn: list[Any],
    query: RetrievalQuery,
    query_vector: Any,
    asking: Asking,
    explain: bool,
) -> None:
    index, stored = index_of(drawn)
    vector = QueryVector(values=query_vector) if policy.dense else None
    recalled = index.retrieve(query, asking, policy, vector, explain=explain)

    shown: list[str] = []
    assert len(recalled.retrieval.channels) == len(policy.channels)
    for wanted, channel in zip(policy.channels, recalled.retrieval.channels, strict=True):
        legal, typed, fallback, expected = ranked(stored, query, query_vector, asking, policy, wanted)
        assert (channel.channel, channel.legal, channel.typed) == (wanted.name, legal, typed)
        assert (channel.fallback, channel.pool) == (fallback, len(expected))
        assert channel.taken == min(wanted.quota, len(expected))
        length = len(expected) if explain else max(policy.explained, wanted.quota)
        got = [
            (c.id, c.score, c.dense, c.dense_norm, c.bm25, c.bm25_norm, c.type_match)
            for c in channel.candidates
        ]
        assert got == [tuple(item) for item in expected[:length]]
        assert [c.rank for c in channel.candidates] == list(range(1, len(got) + 1))
        assert all(bool(c.lexical_text) <= explain for c in channel.candidates)
        shown += [item.id for item in expected[: channel.taken]]
    assert [entry.id for entry in recalled.entries] == shown


def test_terms_of_many_documents_score_as_in_the_reference() -> None:
    """Common terms are stored in another form than rare ones, which small memories never reach."""
    index = MemoryIndex(DIMENSIONS)
    stored = []
    for number in range(400):
        words = " ".join([*WORDS[: number % 7], *[f"only{number}"] * (number % 3), f"w{number % 50}"])
        entry = memory(number, question=words)
        vector = unit(number % 4, 4, 5, 6 + number % 2, signs=number % 16)
        index.append(entry, vector, ReviewState.APPROVED)
        stored.append(Stored(entry, vector, ReviewState.APPROVED))
    query = RetrievalQuery(
        question="how many singer w7 only3 concert",
        sql="SELECT name FROM singer",
        status=Status.DENOTATION_MISMATCH,
        failure=FailureType.RESULT_MISMATCH,
    )
    for position in (5, 31, 300, 500):
        asking = Asking(run="run-1", position=position, source_key="", database="concert")
        recalled = index.retrieve(query, asking, RetrievalPolicy(), VECTOR, explain=True)
        *_, expected = ranked(
            stored, query, VECTOR.values, asking, RetrievalPolicy(), RetrievalPolicy().channels[0]
        )
        candidates = recalled.retrieval.channels[0].candidates
        assert [(c.id, c.score, c.bm25) for c in candidates] == [
            (item.id, item.score, item.bm25) for item in expected
        ]


QUERY = RetrievalQuery(
    question="How many singers?",
    sql="SELECT name FROM singer",
    status=Status.DENOTATION_MISMATCH,
    failure=FailureType.RESULT_MISMATCH,
)
ASKING = Asking(run="run-1", position=1000, source_key="", database="concert")
VECTOR = QueryVector(values=unit(0, 1, 2, 3))


@settings(max_examples=30, deadline=None)
@given(
    order=st.permutations(range(12)),
    seed=st.integers(0, 5),
    policy=st.sampled_from(list(POLICIES.values())),
)
def test_the_order_of_arrival_has_no_say(order: list[int], seed: int, policy: RetrievalPolicy) -> None:
    """A parallel or resumed run may append in another order and must recall the same."""

    def recalled(numbers: Any, choice: RetrievalPolicy) -> list[str]:
        index = MemoryIndex(DIMENSIONS)
        for number in numbers:
            index.append(memory(number), unit(number % 5, 5, 6, 7), ReviewState.APPROVED)
        vector = VECTOR if choice.dense else None
        return [entry.id for entry in index.retrieve(QUERY, ASKING, choice, vector).entries]

    assert recalled(order, policy) == recalled(range(12), policy)
    drawing = msgspec.structs.replace(policy, random_same_type=True, random_seed=seed)
    assert recalled(order, drawing) == recalled(range(12), drawing)


def test_equal_memories_are_ordered_by_id_wherever_they_stand() -> None:
    """Vectors with equal components score equal to the last bit, at any row: a matrix product that
    rounds by row would let the row decide."""
    rng = np.random.default_rng(7)
    same = rng.standard_normal(DIMENSIONS).astype(np.float32)
    same /= np.linalg.norm(same)
    index = MemoryIndex(DIMENSIONS)
    for number in range(203):
        entry = memory(number, id=f"m-{number * 101 % 203:03d}", question="the same question")
        index.append(entry, same, ReviewState.APPROVED)
    found = index.retrieve(QUERY, ASKING, RetrievalPolicy(), QueryVector(values=same), explain=True)
    ids = [candidate.id for candidate in found.retrieval.channels[0].candidates]
    assert ids == sorted(ids)
    assert len(ids) == 203


def test_a_random_draw_stays_in_the_type_and_depends_on_its_seed() -> None:
    index = MemoryIndex(DIMENSIONS)
    for number in range(40):
        failure = TYPES[number % 2]
        index.append(memory(number, failure=failure), unit(0, 1, 2, 3), ReviewState.APPROVED)

    def drawn(seed: int) -> tuple[str, ...]:
        policy = RetrievalPolicy(random_same_type=True, random_seed=seed)
        recalled = index.retrieve(QUERY, ASKING, policy, VECTOR)
        assert {entry.failure for entry in recalled.entries} == {QUERY.failure}
        channel = recalled.retrieval.channels[0]
        assert [c.id for c in channel.candidates[:3]] == [entry.id for entry in recalled.entries]
        return tuple(entry.id for entry in recalled.entries)

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(10)}) > 5


def test_a_policy_with_embeddings_needs_the_query_s() -> None:
    with pytest.raises(MeritoError, match="the query has none"):
        MemoryIndex(DIMENSIONS).retrieve(QUERY, ASKING, RetrievalPolicy())


def test_vectors_of_another_encoder_are_refused() -> None:
    index = MemoryIndex(DIMENSIONS)
    with pytest.raises(MeritoError, match="384 dimensions met an index of 8"):
        index.append(memory(), np.zeros(384), ReviewState.APPROVED)
    assert len(index) == 0
    index.append(memory(), unit(0, 1, 2, 3), ReviewState.APPROVED)
    with pytest.raises(MeritoError, match="in the index already"):
        index.append(memory(), unit(0, 1, 2, 3), ReviewState.APPROVED)
    broken = QueryVector(values=np.full(DIMENSIONS, np.nan, dtype=np.float32))
    with pytest.raises(MeritoError, match="no number"):
        index.retrieve(QUERY, ASKING, RetrievalPolicy(), broken)


def test_an_empty_memory_answers_with_nothing() -> None:
    recalled = MemoryIndex(DIMENSIONS).retrieve(QUERY, ASKING, RetrievalPolicy(), VECTOR)
    assert recalled.entries == ()
    assert [(c.legal, c.pool, c.taken) for c in recalled.retrieval.channels] == [(0, 0, 0)] * 2
