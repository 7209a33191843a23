"""Mends rewrite a failed query by rule, from schema, message and database alone."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.database.rows import Execution, Outcome
from core.database.sandbox import Sandbox
from core.database.schema import Schema
from core.repair.hints import lookup_in
from core.repair.mends import Mend, mends_of
from core.sql import normalised

TABLES = """
CREATE TABLE student (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, city TEXT);
CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, weight REAL, vaccinated TEXT);
CREATE TABLE has_pet (student INTEGER REFERENCES student(id), pet INTEGER REFERENCES pet(id));
CREATE TABLE region (id INTEGER PRIMARY KEY, region TEXT);
CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT, population INTEGER,
                      region INTEGER REFERENCES region(id));
CREATE TABLE town (name TEXT, population INTEGER, country INTEGER REFERENCES country(id));
CREATE TABLE alone (thing TEXT);
INSERT INTO student VALUES (1, 'Ana', 20, 'Paris'), (2, 'Bo', 22, 'Rome');
INSERT INTO pet VALUES (1, 'cat', 3.5, 'T'), (2, 'dog', 9.0, 'F');
INSERT INTO has_pet VALUES (1, 1), (2, 2);
INSERT INTO region VALUES (1, 'Europe'), (2, 'Asia');
INSERT INTO country VALUES (1, 'France', 68, 1), (2, 'Japan', 125, 2);
INSERT INTO town VALUES ('Paris', 2, 1), ('Lyon', 1, 1), ('Kyoto', 1, 2);
"""
WORDS = """SELECT FROM WHERE JOIN ON AND IN ( ) , = . * GROUP BY name student pet T1 AS 'x' "y" 3 UNION
    EXCEPT NOT EXISTS WITH CASE WHEN THEN END kind LIKE NULL"""
PETS = "student JOIN has_pet ON student.id = has_pet.student JOIN pet ON has_pet.pet = pet.id"


CASES: dict[str, tuple[str, str]] = {
    # what went wrong: (the query, its first mend)
    "another table's column": (
        "SELECT name FROM student WHERE kind = 'cat'",
        f"SELECT student.name FROM {PETS} WHERE pet.kind = 'cat'",
    ),
    "another table's column in a sub-query, and a value in another case": (
        "SELECT name FROM student WHERE id NOT IN (SELECT student FROM has_pet WHERE kind = 'Cat')",
        "SELECT name FROM student WHERE NOT id IN (SELECT has_pet.student FROM has_pet"
        " JOIN pet ON has_pet.pet = pet.id WHERE pet.kind = 'cat')",
    ),
    "a qualifier that FROM does not name": (
        "SELECT name FROM student WHERE pet.kind = 'cat'",
        f"SELECT student.name FROM {PETS} WHERE pet.kind = 'cat'",
    ),
    "the other alias": (
        "SELECT T2.age FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student",
        "SELECT T1.age FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student",
    ),
    "a name in several tables": (
        "SELECT name FROM country JOIN town ON country.id = town.country",
        "SELECT country.name FROM country JOIN town ON country.id = town.country",
    ),
    "a table's name with a slip": (
        "SELECT students.name FROM students",
        "SELECT students.name FROM student AS students",
    ),
    "a column's name with a slip": (
        "SELECT student_name FROM student",
        "SELECT student.name FROM student",
    ),
    "a value that the compared key stands for": (
        "SELECT name FROM country WHERE region = 'europe'",
        "SELECT country.name FROM country JOIN region ON country.region = region.id"
        " WHERE region.region = 'Europe'",
    ),
    "a value of another column": (
        "SELECT id FROM student WHERE name = 'Rome'",
        "SELECT id FROM student WHERE student.city = 'Rome'",
    ),
    "a misspelt value": (
        "SELECT id FROM student WHERE city = 'Parris'",
        "SELECT id FROM student WHERE city = 'Paris'",
    ),
    "a value in double quotes": (
        'SELECT id FROM student WHERE city = "paris"',
        "SELECT id FROM student WHERE city = 'Paris'",
    ),
    "yes where T is stored": (
        "SELECT id FROM pet WHERE vaccinated = 'Yes'",
        "SELECT id FROM pet WHERE vaccinated = 'T'",
    ),
    "a join beside the keys": (
        "SELECT T2.kind FROM student AS T1 JOIN pet AS T2 ON T1.id = T2.owner WHERE T1.name = 'Ana'",
        "SELECT T2.kind FROM student AS T1 JOIN has_pet ON T1.id = has_pet.student"
        " JOIN pet AS T2 ON has_pet.pet = T2.id WHERE T1.name = 'Ana'",
    ),
    "a join of two columns that mean different things": (
        "SELECT T1.name FROM country AS T1 JOIN region AS T2 ON T1.id = T2.id WHERE T2.region = 'Asia'",
        "SELECT T1.name FROM country AS T1 JOIN region AS T2 ON T1.region = T2.id"
        " WHERE T2.region = 'Asia'",
    ),
    "not over a join to many": (
        "SELECT T1.name FROM student AS T1 LEFT JOIN has_pet AS T2 ON T1.id = T2.student"
        " JOIN pet AS T3 ON T2.pet = T3.id WHERE T3.kind <> 'cat'",
        "SELECT T1.name FROM student AS T1 WHERE NOT T1.id IN (SELECT has_pet.student FROM has_pet"
        " JOIN pet ON has_pet.pet = pet.id WHERE pet.kind = 'cat')",
    ),
    "not over rows that FROM does not name": (
        "SELECT name FROM student WHERE age > 20 AND kind != 'Cat'",
        "SELECT student.name FROM student WHERE student.age > 20 AND NOT student.id IN (SELECT"
        " has_pet.student FROM has_pet JOIN pet ON has_pet.pet = pet.id WHERE pet.kind = 'cat')",
    ),
    "a join that gives nothing": (
        "SELECT T1.age FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student",
        "SELECT T1.age FROM student AS T1",
    ),
    "a join for what the other table has, too": (
        "SELECT T1.name FROM country AS T1 JOIN town AS T2 ON T1.id = T2.country"
        " ORDER BY T2.population DESC",
        "SELECT T1.name FROM country AS T1 ORDER BY T1.population DESC",
    ),
}


async def mends(sql: str, database: Path, schema: Schema, sandbox: Sandbox) -> tuple[Mend, ...]:
    execution = await sandbox.execute(database, sql)
    return await mends_of(sql, execution, schema, lookup_in(sandbox, database))


@pytest.mark.parametrize("case", CASES)
async def test_the_first_mend_is(case: str, database: Path, schema: Schema, sandbox: Sandbox) -> None:
    sql, expected = CASES[case]
    first, *_ = await mends(sql, database, schema, sandbox)
    assert normalised(first.sql) == normalised(expected)
    assert (await sandbox.execute(database, first.sql)).outcome is Outcome.OK
    assert first.why.endswith(".")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM student WHERE city = 'Paris'",
        "SELECT name FROM student WHERE city <> 'Paris'",
        "SELECT T1.thing FROM alone AS T1 WHERE T1.thing <> 'x'",
        "SELECT thing FROM alone",
        "SELECT kind FROM alone",
        "SELECT n FROM (SELECT name AS n FROM student) AS sub",
        "WITH young AS (SELECT name FROM student) SELECT name FROM young",
        "SELECT name AS n FROM student ORDER BY n",
        "SELECT name FROM student WHERE EXISTS (SELECT 1 FROM has_pet WHERE student = student.id)",
        "SELECT T1.name FROM student AS T1 JOIN alone AS T2 ON T1.name = T2.thing"
        " WHERE T2.thing = T1.city",
        "SELECT T1.name FROM student AS T1 JOIN student AS T2 ON T1.age = T2.age WHERE T2.name = 'Bo'",
        "no query at all",
    ],
)
async def test_nothing_is_mended_where_nothing_is_wrong_or_nothing_is_known(
    sql: str, database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    assert await mends(sql, database, schema, sandbox) == ()


async def test_a_value_that_resembles_nothing_is_left_alone(
    database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    assert await mends("SELECT id FROM student WHERE city = 'Oslo'", database, schema, sandbox) == ()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    words=st.lists(
        st.sampled_from(WORDS.split()),
        max_size=24,
    )
)
async def test_no_text_breaks_the_rules(words: list[str], schema: Schema) -> None:
    sql = "SELECT " + " ".join(words)

    async def nothing(_sql: str) -> Execution:
        return Execution(outcome=Outcome.OK)

    for mend in await mends_of(sql, Execution(outcome=Outcome.ERROR), schema, nothing):
        assert normalised(mend.sql) != normalised(sql)


def test_mends_are_told_nothing_of_the_gold() -> None:
    assert list(inspect.signature(mends_of).parameters) == ["sql", "execution", "schema", "look_up"]
