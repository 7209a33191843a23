"""Memories come by similarity, as many as fit, and never a question's own."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.question import Question
from core.selection.retrieval import MemoryBank, longest_fitting
from core.selection.specification import Specification, SpecificationMemory
from stores.specs import Specs
from tests.encoders import HashingEncoder
from tui.kept_vectors import KeptVectors


def memory(name: str, question: str, database: str = "shop") -> SpecificationMemory:
    return SpecificationMemory(
        id=name, database=database, question=question, specification=Specification()
    )


def asked(text: str, database: str = "shop") -> Question:
    return Question(id="q", database=database, text=text)


BANK = [
    memory("a", "how many red apples are there"),
    memory("b", "how many red pears are there"),
    memory("c", "list the cities"),
]


async def test_the_nearest_is_first() -> None:
    found = await MemoryBank(BANK, HashingEncoder()).nearest(asked("how many red pears are there now"))
    assert [each.id for each in found] == ["b", "a", "c"]


async def test_a_question_never_gets_its_own_memory() -> None:
    bank = MemoryBank(BANK, HashingEncoder())
    found = await bank.nearest(asked("How many  red pears are there"))
    assert "b" not in {each.id for each in found}
    elsewhere = await bank.nearest(asked("How many red pears are there", database="other"))
    assert "b" in {each.id for each in elsewhere}


async def test_an_empty_bank_has_nothing() -> None:
    assert await MemoryBank([], HashingEncoder()).nearest(asked("x")) == []


async def test_vectors_are_kept_beside_the_bank(tmp_path: Path) -> None:
    shelf = KeptVectors(tmp_path / "vectors.npz")
    first = await MemoryBank(BANK, HashingEncoder(), shelf).nearest(asked("red"))
    again = await MemoryBank([*BANK, memory("d", "blue")], HashingEncoder(), shelf).nearest(
        asked("red")
    )
    assert [each.id for each in again if each.id != "d"] == [each.id for each in first]


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), max_size=40), st.integers(0, 500))
async def test_as_many_as_fit(sizes: list[int], room: int) -> None:
    async def tokens(first: int) -> int:
        return sum(sizes[:first])

    fits = await longest_fitting(len(sizes), tokens, room)
    assert sum(sizes[:fits]) <= room
    assert fits == len(sizes) or sum(sizes[: fits + 1]) > room


def test_memories_are_kept_once_and_come_back(tmp_path: Path) -> None:
    with Specs(tmp_path / "m.specs") as specs:
        assert specs.keep(BANK) == 3
        assert specs.keep([*BANK, memory("d", "new")]) == 1
    with Specs(tmp_path / "m.specs", create=False) as specs:
        assert specs.memories()[:3] == BANK
        assert specs.ids() == {"a", "b", "c", "d"}
