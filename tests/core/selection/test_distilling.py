"""What of the repair memory teaches the selector."""

from __future__ import annotations

import msgspec
import pytest

from core.memory.entry import MemoryEntry, Polarity, ReviewState
from core.selection.anatomy import Anatomy
from core.selection.distilling import reason_against, repairs
from tests.streams import memory_entry, question

APPROVED, PENDING, REJECTED = ReviewState.APPROVED, ReviewState.PENDING, ReviewState.REJECTED


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({}, APPROVED, ""),
        ({}, PENDING, "pending"),
        ({}, REJECTED, "rejected"),
        ({"confirmed": False}, APPROVED, "not confirmed"),
        ({"polarity": Polarity.NEGATIVE}, APPROVED, "no repair"),
    ],
)
def test_only_a_confirmed_and_approved_repair_teaches(
    changes: dict[str, object], state: ReviewState, reason: str
) -> None:
    entry = msgspec.structs.replace(memory_entry(1), **changes)
    assert reason_against(entry, state) == reason
    found = repairs([entry], {entry.id: state})
    assert len(found.training.pairs) == (not reason)
    assert found.left_out == ({reason: 1} if reason else {})


def approved(*entries: MemoryEntry) -> dict[str, ReviewState]:
    return {entry.id: APPROVED for entry in entries}


def test_a_pair_is_the_question_with_what_was_confirmed_and_knows_where_it_comes_from() -> None:
    entry = memory_entry(1)
    (pair,) = repairs([entry], approved(entry)).training.pairs
    assert (pair.question, pair.gold) == (entry.context.question, entry.revised_sql)
    assert pair.repair is not None
    assert (pair.repair.memory, pair.repair.provenance) == (entry.id, entry.provenance)
    (table,) = pair.schema.tables
    assert [column.name for column in table.columns] == ["id", "name", "full weight"]
    assert Anatomy(pair.gold, pair.question, pair.schema).keys


def test_two_repairs_that_led_to_one_query_are_one_pair() -> None:
    first, again = memory_entry(1), memory_entry(9, run="run-2", asked=question(1))
    other = memory_entry(2)
    found = repairs([first, again, other], approved(first, again, other))
    assert sorted(pair.repair.memory for pair in found.training.pairs if pair.repair) == sorted(
        [first.id, other.id]
    )


def test_a_remembered_schema_that_makes_no_sense_is_no_trouble() -> None:
    entry = memory_entry(1)
    context = msgspec.structs.replace(entry.context, schema_text="CREATE TABLE (; DROP TABLE x")
    entry = msgspec.structs.replace(entry, context=context)
    (pair,) = repairs([entry], approved(entry)).training.pairs
    assert pair.schema.tables == ()
