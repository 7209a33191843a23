"""Pools are read record by record, executed once a text, and grouped by the data set's own rule."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.database.files import DatabaseFolder
from core.database.sandbox import Sandbox
from core.errors import MeritoError
from core.question import Question
from core.selection.candidates import Executor
from core.selection.grouped import Candidates
from core.selection.pool import Candidate, PooledQuestion, read_pool


def record(*sqls: str, **fields: Any) -> dict[str, Any]:
    candidates = [{"source": f"s{i}", "sql": sql, "temperature": 0.8} for i, sql in enumerate(sqls)]
    return {"question_id": 1, "db_id": "shop", "question": "Q?", "candidates": candidates, **fields}


def written(folder: Path, *records: object) -> Path:
    path = folder / "pool.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), "utf-8")
    return path


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    pool = read_pool(written(tmp_path, record("SELECT 1", mood="good", evidence="none")))
    assert pool.questions[0].candidates == (Candidate(sql="SELECT 1", source="s0"),)
    assert pool.questions[0].id == 1
    assert not pool.problems


BROKEN = [
    ("{", "broken JSON"),
    ("[1]", "an object with fields was expected"),
    (record(candidates=None), "'candidates' is missing"),
    (record(candidates="SELECT 1"), "'candidates' is not a list"),
    (record(candidates=[{"source": "x"}]), "candidate 1: the field 'sql' is missing"),
    (record(candidates=[{"sql": 3}]), "candidate 1: the field 'sql' is not text"),
    (record(candidates=[7]), "candidate 1: an object"),
    (record("SELECT 1", db_id=""), "'db_id' is empty"),
    (record("SELECT 1", question_id=0), "the id 0 is taken already"),
]


@pytest.mark.parametrize(("broken", "said"), BROKEN)
def test_a_broken_record_is_one_line_and_the_rest_is_read(
    tmp_path: Path, broken: object, said: str
) -> None:
    pool = read_pool(written(tmp_path, record("SELECT 1", question_id=0), broken, record("SELECT 2")))
    assert len(pool.questions) == 2
    assert len(pool.problems) == 1
    assert "record 2" in pool.problems[0]
    assert said in pool.problems[0]


def test_a_file_without_any_question_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match="record 1"):
        read_pool(written(tmp_path, "{"))
    with pytest.raises(MeritoError, match="empty"):
        read_pool(written(tmp_path))


@pytest.fixture
def folder(tmp_path: Path) -> DatabaseFolder:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.executescript(
            "CREATE TABLE item (name TEXT, price REAL);"
            "INSERT INTO item VALUES ('apple', 1), ('pear', 2.5), ('plum', 4)"
        )
    return DatabaseFolder(tmp_path)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        yield sandbox


class Bench:
    """Executes the candidates of one question and counts the statements."""

    def __init__(
        self, sandbox: Sandbox, folder: DatabaseFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._sandbox, self._folder = sandbox, folder
        self.statements: list[str] = []
        execute = sandbox.execute

        async def counted(database: Path, sql: str, **options: Any) -> Any:
            self.statements.append(sql)
            return await execute(database, sql, **options)

        monkeypatch.setattr(sandbox, "execute", counted)

    async def __call__(
        self,
        *sqls: str,
        gold: str = "SELECT name FROM item",
        protocol: str = "bird",
        seconds: float = 5,
    ) -> Candidates:
        pooled = PooledQuestion(
            question=Question(id="1", database="shop", text="Q?"),
            candidates=tuple(Candidate(sql=sql, source=f"s{i}") for i, sql in enumerate(sqls)),
            id=1,
            gold=gold,
        )
        golds = {"1": gold} if gold else {}
        executor = Executor(self._sandbox, self._folder, golds, protocol, seconds)
        return await executor.execute(pooled)


@pytest.fixture
def execute(sandbox: Sandbox, folder: DatabaseFolder, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(sandbox, folder, monkeypatch)


async def test_the_largest_group_is_first_and_errors_are_last(execute: Bench) -> None:
    found = await execute(
        "SELECT nom FROM item",
        "SELECT price FROM item",
        "SELECT name FROM item",
        "SELECT nom FROM items",
        "SELECT name FROM item WHERE price > 0",
        "SELECT",
    )
    assert [set(group) for group in found.groups] == [{2, 4}, {1}, {0, 3, 5}]
    assert [each.correct for each in found.executed] == [False, False, True, False, True, False]
    assert found.oracle is True


async def test_one_text_is_executed_once(execute: Bench) -> None:
    found = await execute("SELECT name FROM item", "select NAME from item ;", "SELECT name FROM item")
    assert found.groups == ((0, 1, 2),)
    candidates = [sql for sql in execute.statements if sql.casefold().startswith("select name")]
    assert len(candidates) == 2  # the other is gold's


async def test_the_order_of_groups_ignores_the_order_of_the_pool(execute: Bench) -> None:
    sqls = ["SELECT 1", "SELECT 2", "SELECT 3"]
    first, second = await execute(*sqls), await execute(*reversed(sqls))
    texts = [[found.executed[g[0]].sql for g in found.groups] for found in (first, second)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("protocol", "sqls", "groups"),
    [
        ("bird", ("SELECT name FROM item", "SELECT name FROM item ORDER BY price DESC"), 1),
        ("spider", ("SELECT name FROM item", "SELECT name FROM item ORDER BY price DESC"), 1),
        (
            "spider",
            ("SELECT name FROM item ORDER BY price", "SELECT name FROM item ORDER BY price DESC"),
            2,
        ),
        ("spider", ("SELECT name, price FROM item", "SELECT price, name FROM item"), 1),
        ("bird", ("SELECT name, price FROM item", "SELECT price, name FROM item"), 2),
    ],
)
async def test_equal_is_what_the_data_set_calls_equal(
    execute: Bench, protocol: str, sqls: tuple[str, ...], groups: int
) -> None:
    found = await execute(*sqls, protocol=protocol)
    assert len(found.groups) == groups


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000) SELECT i FROM n"


@pytest.mark.slow
async def test_what_hangs_or_floods_is_a_line_and_an_error(execute: Bench) -> None:
    found = await execute("SELECT name FROM item", ENDLESS, MANY, seconds=3)
    assert found.groups == ((0,), (1, 2))
    assert [line.partition(": ")[0] for line in found.problems] == [
        "Question 1, candidate 2 (s1)",
        "Question 1, candidate 3 (s2)",
    ]


@pytest.mark.parametrize(
    ("gold", "said"), [("SELECT nom FROM item", "gold query fails"), ("", "no gold")]
)
async def test_without_a_gold_that_works_nothing_is_judged(
    execute: Bench, gold: str, said: str
) -> None:
    found = await execute("SELECT name FROM item", gold=gold)
    assert found.oracle is None
    assert said in found.problems[0]
    assert "nom" not in found.problems[0]


async def test_no_candidates_are_a_line(execute: Bench) -> None:
    assert (await execute()).problems == ("Question 1: it has no candidates.",)


async def test_a_presentation_is_the_same_candidates_in_another_order(execute: Bench) -> None:
    found = await execute("SELECT name FROM item", "SELECT 1", "SELECT 2", "SELECT name FROM item")
    again = found.presented([2, 3, 0, 1])
    assert {found.executed[i].sql for i in found.groups[0]} == {
        again.executed[i].sql for i in again.groups[0]
    }
    assert again.groups[0] == (1, 2)
