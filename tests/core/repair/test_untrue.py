"""What hints must not say, and mends must not do: near misses of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.database.sandbox import Sandbox
from core.database.schema import Schema
from core.repair.hints import hints_for, lookup_in
from core.repair.mends import mends_of

TABLES = """
CREATE TABLE dept (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE emp (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, mix, grade TEXT,
                  dept_id INTEGER REFERENCES dept(id), boss_id INTEGER REFERENCES emp(id));
CREATE TABLE task (emp_id INTEGER REFERENCES emp(id), kind TEXT, version TEXT, bond TEXT);
INSERT INTO dept VALUES (1, 'X'), (2, 'Y');
INSERT INTO emp VALUES (1, 'Ana', 0, 1, 'A', 1, NULL), (2, 'Bo', 5, 'N/A', 'B', 2, 1),
                       (3, 'Cy', 7, 2, 'B', 2, 1);
INSERT INTO task VALUES (1, 'mow', '15', '-'), (NULL, 'mow', '16', '='), (2, 'dig', '17', '-'),
                        (2, 'mow', '18', '-');
"""


async def hints(sql: str, database: Path, schema: Schema, sandbox: Sandbox) -> list[str]:
    execution = await sandbox.execute(database, sql)
    found = await hints_for(sql, execution, schema, lookup_in(sandbox, database))
    return [hint.text for hint in found]


async def mends(sql: str, database: Path, schema: Schema, sandbox: Sandbox) -> list[str]:
    execution = await sandbox.execute(database, sql)
    return [mend.sql for mend in await mends_of(sql, execution, schema, lookup_in(sandbox, database))]


@pytest.mark.parametrize(
    ("sql", "true", "untrue"),
    [
        (
            "SELECT name FROM dept WHERE id IN (SELECT dept_id FROM emp) ORDER BY score",
            "There is no column dept.score; score is in: emp.",
            "emp.score;",
        ),
        (
            "SELECT t1.name FROM emp AS t1 JOIN emp AS t2 ON t1.boss_id = t2.id WHERE score = 5",
            "score is in emp more than once; write which: t1.score, t2.score.",
            "more than one table",
        ),
        ("SELECT score FROM emp WHERE id = 1", "", "found no rows"),
        ("SELECT name FROM emp WHERE mix > 1", "", "not numbers"),
        (
            "SELECT name FROM dept WHERE name = 'ana'",
            "'ana' is not in dept.name but in emp.name as 'Ana'.",
            "in emp.name.",
        ),
    ],
)
async def test_a_hint_is_true(
    sql: str, true: str, untrue: str, database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    told = await hints(sql, database, schema, sandbox)
    assert not true or true in told
    assert not any(untrue in each for each in told)


async def test_a_count_of_nothing_found_no_rows(
    database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    told = await hints("SELECT COUNT(*), MAX(score) FROM emp WHERE id = 9", database, schema, sandbox)
    assert any("found no rows" in each for each in told)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT emp.name FROM emp JOIN dept ON emp.dept_id = dept.id WHERE dept.name <> 'X'",
        "SELECT emp_id FROM task WHERE bond = '#'",
        "SELECT emp_id FROM task WHERE bond LIKE '+%'",
        "SELECT emp_id FROM task WHERE version = '1.5'",
    ],
)
async def test_this_is_left_as_it_is(
    sql: str, database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    assert await mends(sql, database, schema, sandbox) == []


async def test_a_not_among_rows_with_a_null_finds_what_is_not_among_them(
    database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    sql = "SELECT emp.name FROM emp JOIN task ON task.emp_id = emp.id WHERE task.kind <> 'mow'"
    rows = [
        (await sandbox.execute(database, each)).rows
        for each in await mends(sql, database, schema, sandbox)
    ]
    assert (("Cy",),) in rows


async def test_the_mentions_of_a_long_question_fit_a_statement(
    database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    words = " ".join(f"word{number}longenough" for number in range(400))
    sql = "SELECT nothing FROM emp"
    execution = await sandbox.execute(database, sql)
    found = await hints_for(
        sql, execution, schema, lookup_in(sandbox, database), question=f"{words} Ana"
    )
    assert any("Ana" in hint.text and hint.kind == "mention" for hint in found)
