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
from core.repair.mends.joins import MOST_REDUCED
from core.sql import normalised

TABLES = """
CREATE TABLE student (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, city TEXT);
CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, weight REAL, vaccinated TEXT);
CREATE TABLE has_pet (student INTEGER REFERENCES student(id), pet INTEGER REFERENCES pet(id));
CREATE TABLE region (id INTEGER PRIMARY KEY, region TEXT);
CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT, population INTEGER,
                      region INTEGER REFERENCES region(id));
CREATE TABLE town (name TEXT, population INTEGER, country INTEGER REFERENCES country(id),
                   code INTEGER PRIMARY KEY);
CREATE TABLE alone (thing TEXT);
CREATE TABLE route (start INTEGER REFERENCES town(code), goal INTEGER REFERENCES town(code),
                    km INTEGER);
CREATE TABLE block (row INTEGER, col INTEGER, colour TEXT, PRIMARY KEY (row, col));
CREATE TABLE seat (row INTEGER, col INTEGER, note TEXT,
                   FOREIGN KEY (row, col) REFERENCES block(row, col));
CREATE TABLE "Ärzte" ("Größe" INTEGER);
CREATE TABLE clerk (number INTEGER PRIMARY KEY, called TEXT, boss INTEGER REFERENCES clerk(number));
CREATE VIEW elder AS SELECT id, name, age AS years FROM student WHERE age > 21;
INSERT INTO student VALUES (1, 'Ana', 20, 'Paris'), (2, 'Bo', 22, 'Rome');
INSERT INTO pet VALUES (1, 'cat', 3.5, 'T'), (2, 'dog', 9.0, 'F');
INSERT INTO has_pet VALUES (1, 1), (2, 2);
INSERT INTO region VALUES (1, 'Europe'), (2, 'Asia');
INSERT INTO country VALUES (1, 'France', 68, 1), (2, 'Japan', 125, 2);
INSERT INTO town VALUES ('Paris', 2, 1, 1), ('Lyon', 1, 1, 2), ('Kyoto', 1, 2, 3);
INSERT INTO route VALUES (1, 2, 400), (2, 3, 9600);
INSERT INTO block VALUES (1, 1, 'red'), (1, 2, 'blue');
INSERT INTO seat VALUES (1, 1, 'broken'), (1, 2, 'fine');
INSERT INTO "Ärzte" VALUES (180);
INSERT INTO clerk VALUES (1, 'Zoe', NULL), (2, 'Yul', 1);
INSERT INTO alone VALUES ('2010-01-01');
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
    "the name of another thing than the one selected already": (
        "SELECT T1.name, T2.name FROM route AS T1 JOIN town AS T2 ON T1.start = T2.code"
        " ORDER BY T1.name",
        "SELECT country.name, T2.name FROM route AS T1 JOIN town AS T2 ON T1.start = T2.code"
        " JOIN country ON T2.country = country.id ORDER BY country.name",
    ),
    "the name selected already, where there is no other": (
        "SELECT T1.name, T2.name FROM has_pet AS T1 JOIN student AS T2 ON T1.student = T2.id"
        " ORDER BY T1.name",
        "SELECT T2.name, T2.name FROM has_pet AS T1 JOIN student AS T2 ON T1.student = T2.id"
        " ORDER BY T2.name",
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
        " JOIN pet ON has_pet.pet = pet.id WHERE pet.kind = 'cat' AND NOT has_pet.student IS NULL)",
    ),
    "not over rows that FROM does not name": (
        "SELECT name FROM student WHERE age > 20 AND kind != 'Cat'",
        "SELECT student.name FROM student WHERE student.age > 20 AND NOT student.id IN (SELECT"
        " has_pet.student FROM has_pet JOIN pet ON has_pet.pet = pet.id WHERE pet.kind = 'cat'"
        " AND NOT has_pet.student IS NULL)",
    ),
    "values that two keys to one table stand for": (
        "SELECT km FROM route WHERE goal = 'lyon' AND start = 'paris'",
        "SELECT route.km FROM route JOIN town ON route.goal = town.code"
        " JOIN town AS town_2 ON route.start = town_2.code"
        " WHERE town.name = 'Lyon' AND town_2.name = 'Paris'",
    ),
    "a value that a key to the same table stands for": (
        "SELECT called FROM clerk WHERE boss = 'zoe'",
        "SELECT clerk.called FROM clerk JOIN clerk AS clerk_2 ON clerk.boss = clerk_2.number"
        " WHERE clerk_2.called = 'Zoe'",
    ),
    "not over the second of two keys": (
        "SELECT T1.name FROM town AS T1 JOIN route AS T2 ON T1.code = T2.goal WHERE T2.km <> 400",
        "SELECT T1.name FROM town AS T1 WHERE NOT T1.code IN"
        " (SELECT route.goal FROM route WHERE route.km = 400 AND NOT route.goal IS NULL)",
    ),
    "the beginning of a text with a slip": (
        "SELECT id FROM student WHERE city LIKE 'Parris%'",
        "SELECT id FROM student WHERE city LIKE 'Paris%'",
    ),
    "a name beyond ASCII": (
        "SELECT Ärzte.Größen FROM `Ärzte`",
        "SELECT `Ärzte`.`größe` FROM `Ärzte`",
    ),
    "a name in joins between brackets": (
        "SELECT s.nam FROM (student AS s JOIN has_pet AS h ON s.id = h.student)",
        "SELECT s.name FROM (student AS s JOIN has_pet AS h ON s.id = h.student)",
    ),
    "a name in a query inside FROM": (
        "SELECT n FROM (SELECT nam AS n FROM student)",
        "SELECT n FROM (SELECT student.name AS n FROM student)",
    ),
    "a key with the wrong alias": (
        "SELECT T1.age, T3.kind FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student"
        " JOIN pet AS T3 ON T3.id = T2.id",
        "SELECT T1.age, T3.kind FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student"
        " JOIN pet AS T3 ON T2.pet = T3.id",
    ),
    "a key with a slip": (
        "SELECT T1.note, T2.colour FROM seat AS T1 JOIN block AS T2 ON T1.rows = T2.row",
        "SELECT T1.note, T2.colour FROM seat AS T1 JOIN block AS T2 ON T1.row = T2.row"
        " AND T1.col = T2.col",
    ),
    "a key with a slip on the other side": (
        "SELECT T1.note, T2.colour FROM seat AS T1 JOIN block AS T2 ON T1.row = T2.rows",
        "SELECT T1.note, T2.colour FROM seat AS T1 JOIN block AS T2 ON T1.row = T2.row"
        " AND T1.col = T2.col",
    ),
    "a key with an alias that has none": (
        "SELECT T1.note, T2.colour FROM seat AS T1 JOIN block AS T2 ON T1.row = T3.row",
        "SELECT T1.note, T2.colour FROM seat AS T1 JOIN block AS T2 ON T1.row = T2.row"
        " AND T1.col = T2.col",
    ),
    "a key with a slip, where all columns are asked for": (
        "SELECT * FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.studnt WHERE T1.age > 20",
        "SELECT * FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student WHERE T1.age > 20",
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
        "SELECT id FROM student WHERE city LIKE '%Pari%'",
        "SELECT id FROM student WHERE city LIKE 'P_ris'",
        "SELECT id FROM student WHERE city IN ('Paris', 'Ana')",
        "SELECT thing FROM alone WHERE thing = '2010-01-02'",
        "SELECT _rowid_ FROM student ORDER BY oid",
        "SELECT id, city, years FROM student JOIN elder USING (id)",
        "SELECT student.id, elder.id FROM student JOIN elder ON student.id = elder.id",
        "SELECT T1.* FROM elder AS T1 JOIN student AS T2 ON T1.id = T2.id WHERE T2.city = 'Rome'",
        "SELECT id, city, years FROM student NATURAL JOIN elder",
        "SELECT name FROM student WHERE name IN"
        " (SELECT kind AS nam FROM pet UNION SELECT name FROM elder ORDER BY nam LIMIT 1)",
        "SELECT name FROM student WHERE EXISTS"
        " (SELECT 1 FROM (SELECT pet FROM has_pet WHERE student = student.id))",
        "SELECT T1.colour FROM block AS T1 JOIN seat AS T2 ON T1.row = T2.row AND T1.col = T2.col"
        " WHERE T2.note <> 'fine'",
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


async def test_a_query_of_many_parts_has_few_mends(
    database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    part = "SELECT T1.age FROM student AS T1 JOIN has_pet AS T2 ON T1.id = T2.student"
    sql = " UNION ".join(f"{part} WHERE T1.age > {number}" for number in range(20))
    assert 0 < len(await mends(sql, database, schema, sandbox)) <= MOST_REDUCED


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
