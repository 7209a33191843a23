"""Whatever the candidates are, prompts fit the context that is there, by the tokenizer's word."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from core.database.files import DatabaseFolder
from core.database.rows import Outcome, ResultTable
from core.database.schema import Column, Schema, Table
from core.models.call import refuse_too_long
from core.models.chat import Message, ModelTrouble, Sampling
from core.question import Question
from core.selection.calls import Caller
from core.selection.candidates import key_of
from core.selection.fitting import fitting_schema
from core.selection.grouped import Candidates, Executed
from core.selection.method import METHODS, Terms
from core.selection.preparing import MEMORY_SHARE, SCHEMA_SHARE, Preparer
from core.selection.prompts import BOUNDS, letter, shown_candidate, shown_result
from core.selection.retrieval import MemoryBank
from core.selection.selecting import Prepared, select
from core.selection.selection import Selection
from core.selection.specification import Specification, SpecificationMemory
from tests.core.selection.pools import is_list, is_score, is_verdict, verdict
from tests.encoders import HashingEncoder
from tests.scripted import Reply, ScriptedModel

QUESTION = Question(id="q", database="shop", text="Which items are red?")
ASKING = [name for name, method in METHODS.items() if method.compares not in ("nothing", "groups")]


class Engine(ScriptedModel):
    """An engine of which each token has so many characters, and that refuses what does not fit."""

    def __init__(self, context_tokens: int, characters: int = 3) -> None:
        super().__init__(self._reply, name=str(context_tokens), context_tokens=context_tokens)
        self._context, self._characters = context_tokens, characters

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        return self._count(messages)

    def _count(self, messages: Sequence[Message]) -> int:
        return -(-sum(len(message.content) for message in messages) // self._characters)

    def _reply(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        try:
            refuse_too_long(self._count(messages), sampling.max_tokens, self._context)
        except ModelTrouble as trouble:
            return trouble
        if is_score(messages):
            return "50"
        if is_verdict(messages):
            return verdict(50)
        # At odds with itself, so that there are ties.
        count = messages[0].content.count("Result: ")
        places = range(count) if len(self.calls) % 2 else reversed(range(count))
        return " > ".join(f"[{letter(place)}]" for place in places)


def wide(count: int, columns: int = 150) -> Candidates:
    """Candidates of two groups, each with so many columns in its text and in its result."""
    names = tuple(f"a_rather_long_name_{number}" for number in range(columns))
    executed = tuple(
        Executed(
            sql=f"SELECT {', '.join(names)} FROM item WHERE number > {number}",
            source="",
            key=key_of(f"SELECT {number}"),
            table=ResultTable(
                outcome=Outcome.OK,
                columns=names,
                rows=(tuple("x" * 60 for _ in names),) * 5,
                row_count=5_000,
            ),
        )
        for number in range(count)
    )
    half = count // 2
    return Candidates(executed=executed, groups=(tuple(range(half)), tuple(range(half, count))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DatabaseFolder:
    path = tmp_path_factory.mktemp("databases")
    columns = ", ".join(f"column_{place} TEXT" for place in range(12))
    with closing(sqlite3.connect(path / "shop.sqlite")) as connection:
        connection.executescript(
            "BEGIN;"
            + "".join(f"CREATE TABLE item_{number} ({columns});" for number in range(60))
            + "COMMIT"
        )
    return DatabaseFolder(path)


def bank(count: int = 200) -> MemoryBank:
    memories = [
        SpecificationMemory(
            id=f"m{number}",
            database="other",
            question=f"Which items of number {number} are red?",
            specification=Specification(),
        )
        for number in range(count)
    ]
    return MemoryBank(memories, HashingEncoder())


async def chosen(
    folder: DatabaseFolder,
    candidates: Candidates,
    engine: Engine,
    method: str,
    judge: Engine | None = None,
) -> tuple[Selection, list[Prepared]]:
    caller = Caller(engine, await engine.describe())
    other = Caller(judge, await judge.describe()) if judge else None
    preparer = Preparer(folder, caller, bank(), judge=other)
    prepared: list[Prepared] = []

    async def prepare(memory: bool, shown: int) -> Prepared:
        prepared.append(await preparer.prepare(QUESTION, candidates, memory, shown))
        return prepared[-1]

    found = await select(
        METHODS[method],
        candidates,
        question="q",
        prepare=prepare,
        caller=caller,
        judge=other,
        terms=Terms(),
    )
    return found, prepared


@pytest.mark.parametrize("context", [4_096, 8_192, 16_384])
@pytest.mark.parametrize("method", ASKING)
async def test_no_method_loses_a_question_of_150_columns(
    folder: DatabaseFolder, method: str, context: int
) -> None:
    found, _ = await chosen(folder, wide(8), Engine(context), method)
    assert found.remark == ""
    assert found.choice is not None
    assert found.spent.calls > 0
    assert all(each.score == 50 for each in found.scores)
    assert all(each.winner is not None for each in found.duels)


async def test_one_choice_among_32_wide_candidates_fits(folder: DatabaseFolder) -> None:
    found, _ = await chosen(folder, wide(32), Engine(16_384), "mcs")
    assert (found.remark, found.choice is None) == ("", False)


async def test_memories_keep_a_share_beside_wide_candidates(folder: DatabaseFolder) -> None:
    engine = Engine(16_384)
    found, (prepared,) = await chosen(folder, wide(8), engine, "map-sql")
    assert len(prepared.front.memories) > MEMORY_SHARE * 16_384
    assert found.memories == prepared.memories
    _, (without,) = await chosen(folder, wide(8), Engine(16_384), "map-sql-no-memory")
    assert without.front.bounds == prepared.front.bounds, "both see the same candidates"


async def test_where_there_is_room_nothing_is_left_out(folder: DatabaseFolder) -> None:
    _, (prepared,) = await chosen(folder, wide(8, columns=3), Engine(16_384), "listwise")
    assert prepared.front.bounds == BOUNDS[0]


async def test_a_judge_with_a_smaller_context_is_asked_what_it_has_room_for(
    folder: DatabaseFolder,
) -> None:
    engine, judge = Engine(16_384), Engine(2_048)
    found, _ = await chosen(folder, wide(8), engine, "map-sql", judge)
    assert found.choice is not None
    assert found.tied
    assert len(judge.calls) == len(found.scores) == len(found.tied)
    assert all(each.score == 50 for each in found.scores)
    assert all(is_list(messages) for messages, _ in engine.calls)
    for messages, sampling in judge.calls:
        assert await judge.count_tokens(messages) + sampling.max_tokens <= 2_048


SCHEMA = Schema(
    database="shop",
    tables=tuple(
        Table(name=f"item_{n}", columns=tuple(Column(name=f"c{p}", type="TEXT") for p in range(9)))
        for n in range(80)
    ),
)


@pytest.mark.parametrize("characters", [1, 2, 3, 6])
async def test_the_tokenizer_decides_how_much_of_a_schema_is_shown(characters: int) -> None:
    engine, budget = Engine(8_192, characters), int(8_192 * SCHEMA_SHARE)
    text = await fitting_schema(SCHEMA, "Which item_7?", budget, engine.count_tokens)
    tokens = await engine.count_tokens((Message("user", text),))
    assert budget / 3 < tokens <= budget
    whole = await fitting_schema(SCHEMA, "", 1_000_000, engine.count_tokens)
    assert (text == whole) == (len(whole) / characters <= budget)
    assert "item_7" in text


async def test_a_schema_that_no_budget_has_room_for_ends_the_search() -> None:
    text = await fitting_schema(SCHEMA, "", 3, Engine(8_192).count_tokens)
    assert len(text) < 1_000


def test_what_is_left_out_of_a_result_is_counted() -> None:
    table = wide(2).executed[0].table
    loosest = shown_result(table, BOUNDS[0]).split("\n")
    assert loosest[0] == "5000 rows"
    assert loosest[1].endswith("a_rather_long_name_23 | … 126 more columns")
    assert loosest[-1] == "…"
    assert all(len(shown_result(table, each)) < each.result + 200 for each in BOUNDS)


def test_a_narrow_result_is_shown_whole() -> None:
    table = ResultTable(
        outcome=Outcome.OK, columns=("name", "price"), rows=(("a", None), ("b\nc", 2)), row_count=2
    )
    assert shown_result(table) == "2 rows\nname | price\na | NULL\nb c | 2"


def test_long_sql_keeps_its_beginning_and_its_end() -> None:
    each = wide(2).executed[1]
    shown = shown_candidate("A", each, BOUNDS[-1])
    assert "SELECT a_rather_long_name_0" in shown
    assert "number > 1" in shown
    assert len(shown) < 600


def test_bounds_go_from_the_loosest_to_the_tightest() -> None:
    lengths = [len(shown_candidate("A", wide(2).executed[0], each)) for each in BOUNDS]
    assert lengths == sorted(set(lengths), reverse=True)
