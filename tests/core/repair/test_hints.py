"""Hints are plain facts about a failed query, taken from schema, message and database alone."""

from __future__ import annotations

import inspect
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.database.rows import Execution, Outcome
from core.database.sandbox import Sandbox
from core.database.schema import Schema, read_schema
from core.repair.hints import Lookup, hints_for, lookup_in
from core.repair.hints.making import MOST_HINTS
from core.run.events import Hint

TABLES = """
CREATE TABLE stadium (stadium_id INTEGER PRIMARY KEY, Name TEXT, capacity INTEGER);
CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, Name TEXT, Country TEXT, "Song Name" TEXT,
                     age INTEGER, earnings TEXT);
CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, day TEXT, "order" INTEGER,
                      place INTEGER REFERENCES stadium(stadium_id));
CREATE TABLE singer_in_concert (concert_id INTEGER REFERENCES concert(concert_id),
                                singer INTEGER REFERENCES singer(singer_id));
CREATE TABLE unrelated (thing TEXT);
INSERT INTO stadium VALUES (1, 'Arena', 900), (2, 'Hall', 400);
INSERT INTO singer VALUES (1, 'Ana', 'France', 'Été', 52, '900'),
                          (2, 'Bo', 'United States', 'Sol', 32, '85'),
                          (3, 'O''Hara', 'France', NULL, 27, '1100');
INSERT INTO concert VALUES (1, 'Opening', '2014-07-01', 1, 1), (2, 'Super  Night', '2015-01-20', 2, 2);
INSERT INTO singer_in_concert VALUES (1, 1), (2, 2);
INSERT INTO unrelated VALUES ('Ana');
"""


CASES: dict[str, tuple[str, str, str]] = {
    # what went wrong: (the query, the kind of a hint, its text)
    "another table's column": (
        "SELECT country FROM stadium",
        "unknown-column",
        "There is no column stadium.Country; Country is in: singer.",
    ),
    "an alias is told as its table": (
        "SELECT T1.country FROM stadium AS T1",
        "unknown-column",
        "There is no column stadium.Country; Country is in: singer.",
    ),
    "how to reach the owner": (
        "SELECT title FROM stadium",
        "join-path",
        "stadium and concert join by concert.place = stadium.stadium_id.",
    ),
    "a path over a table between": (
        "SELECT title FROM singer",
        "join-path",
        "singer and concert join by singer_in_concert.singer = singer.singer_id"
        " and singer_in_concert.concert_id = concert.concert_id.",
    ),
    "a misspelt column": (
        "SELECT capcity FROM stadium",
        "unknown-column",
        "There is no column stadium.capcity; the nearest are: stadium.capacity.",
    ),
    "a column with its table's name in it": (
        "SELECT stadium_name FROM stadium",
        "unknown-column",
        "There is no column stadium.stadium_name; the nearest are: stadium.Name.",
    ),
    "a column like no other": (
        "SELECT zzz FROM unrelated",
        "unknown-column",
        "No table has a column zzz; there are: unrelated.thing.",
    ),
    "a table that FROM does not name": (
        "SELECT concert.title FROM stadium",
        "not-joined",
        "To use a column of concert, FROM or JOIN must name concert.",
    ),
    "a table called by its name beside its alias": (
        "SELECT singer.name FROM singer AS s",
        "alias",
        "A table with an alias goes by the alias alone: after singer AS s, write s.Name.",
    ),
    "a sub-query that does not give the column": (
        "SELECT s.foo FROM (SELECT name, age FROM singer) AS s",
        "unknown-column",
        "The sub-query s gives only: name, age.",
    ),
    "a key under another name": (
        "SELECT singer_in_concert.singer_id FROM singer_in_concert",
        "other-name",
        "singer_in_concert.singer refers to singer.singer_id.",
    ),
    "USING a column that one side has": (
        "SELECT * FROM stadium JOIN concert USING (place)",
        "unknown-column",
        "There is no column stadium.place; place is in: concert.",
    ),
    "a misspelt table": (
        "SELECT * FROM singers",
        "unknown-table",
        "There is no table singers; the nearest are: singer.",
    ),
    "a column taken for a table": (
        "SELECT * FROM earnings",
        "unknown-table",
        "earnings is a column of: singer.",
    ),
    "an ambiguous column": (
        "SELECT concert_id FROM concert JOIN singer_in_concert ON 1",
        "ambiguous-column",
        "concert_id is in more than one table; write which:"
        " concert.concert_id, singer_in_concert.concert_id.",
    ),
    "an ambiguous column on both sides": (
        "SELECT name FROM singer, stadium",
        "ambiguous-column",
        "name is in more than one table; write which: singer.Name, stadium.Name.",
    ),
    "a quoted name that is no column": (
        'SELECT "Nme" FROM singer',
        "quoted-name",
        '"Nme" is no column here, so SQLite reads it as a mere text;'
        " columns like it: singer.Name, stadium.Name.",
    ),
    "a quoted name of another table": (
        "SELECT name FROM singer ORDER BY \"capacity\"",
        "quoted-name",
        '"capacity" is no column here, so SQLite reads it as a mere text;'
        " columns like it: stadium.capacity.",
    ),
    "a text without quotes": (
        "SELECT name FROM singer WHERE country = France",
        "text",
        "A text stands in single quotes, France means a column: 'France'.",
    ),
    "an odd name without quotes": (
        "SELECT Song Name FROM singer",
        "odd-name",
        "The name `Song Name` must stand in back-quotes.",
    ),
    "a reserved word as a name": (
        "SELECT order FROM concert",
        "odd-name",
        "The name `order` must stand in back-quotes.",
    ),
    "a join beside the keys": (
        "SELECT name FROM singer JOIN singer_in_concert ON singer_id = concert_id",
        "join-path",
        "singer and singer_in_concert join by singer_in_concert.singer = singer.singer_id.",
    ),
    "a sub-query beside the keys": (
        "SELECT name FROM singer WHERE singer_id IN (SELECT concert_id FROM singer_in_concert)",
        "join-path",
        "singer and singer_in_concert join by singer_in_concert.singer = singer.singer_id.",
    ),
    "a join that may not be needed": (
        "SELECT T2.name FROM singer AS T1 JOIN singer_in_concert AS T2"
        " ON T1.singer_id = T2.singer WHERE T1.age > 30",
        "one-table",
        "Every column used so far is in singer alone: Name, age. A join may not be needed.",
    ),
    "a join for a name that the other table has, too": (
        "SELECT T1.concert_id FROM concert AS T1 JOIN singer_in_concert AS T2"
        " ON T1.concert_id = T2.concert_id WHERE T2.singer = 1",
        "one-table",
        "singer_in_concert itself has concert_id, singer. A join may not be needed.",
    ),
    "a resembling column of the asked table": (
        "SELECT singer_id FROM singer_in_concert",
        "unknown-column",
        "There is no column singer_in_concert.singer_id; singer_id is in: singer."
        " Like it are: singer_in_concert.singer.",
    ),
    "a part of a name": (
        "SELECT song FROM singer",
        "unknown-column",
        "There is no column singer.song; the nearest are: singer.`Song Name`.",
    ),
    "what a compared key stands for": (
        "SELECT title FROM concert WHERE place = 'Arena'",
        "reference",
        "concert.place refers to stadium.stadium_id.",
    ),
    "a value in another case": (
        "SELECT name FROM singer WHERE country = 'FRANCE'",
        "value",
        "singer.Country has no 'FRANCE'; nearest in it: 'France'.",
    ),
    "a misspelt value": (
        "SELECT count(*) FROM singer WHERE country = 'Frnace'",
        "value",
        "singer.Country has no 'Frnace'; nearest in it: 'France'.",
    ),
    "a value in double quotes": (
        'SELECT name FROM singer WHERE country = "Frence"',
        "value",
        "singer.Country has no 'Frence'; nearest in it: 'France'.",
    ),
    "spaces in a value": (
        "SELECT day FROM concert WHERE title = 'SuperNight'",
        "value",
        "concert.title has no 'SuperNight'; nearest in it: 'Super  Night'.",
    ),
    "a quote in a value": (
        "SELECT age FROM singer WHERE name IN ('Ana', 'OHara')",
        "value",
        "singer.Name has no 'OHara'; nearest in it: 'O''Hara'.",
    ),
    "a pattern that fits nothing": (
        "SELECT name FROM singer WHERE country LIKE '%Unitd State%'",
        "value",
        "singer.Country has no 'Unitd State'; nearest in it: 'United States'.",
    ),
    "an unlike value": (
        "SELECT name FROM stadium WHERE name = 'Qqq'",
        "value",
        "stadium.Name has no 'Qqq'; it holds 'Arena', 'Hall'.",
    ),
    "a value of another column": (
        "SELECT age FROM singer WHERE name = 'france'",
        "value-elsewhere",
        "'france' is not in singer.Name but in singer.Country as 'France'.",
    ),
    "values that do not meet": (
        "SELECT 1 FROM singer WHERE country = 'France' AND name = 'Bo'",
        "empty-result",
        "A query tried before found no rows, although singer.Country does hold 'France'"
        " and singer.Name does hold 'Bo'.",
    ),
    "no rows without a value": (
        "SELECT name FROM singer WHERE age > 90",
        "empty-result",
        "A query tried before found no rows.",
    ),
    "a word for a number": (
        "SELECT name FROM singer WHERE age = 'old'",
        "type",
        "singer.age holds numbers such as 52, 32, 27, not 'old'.",
    ),
    "a number for words": (
        "SELECT name FROM singer WHERE country = 3",
        "type",
        "singer.Country holds texts such as 'France', 'United States', not numbers.",
    ),
    "numbers kept as texts": (
        "SELECT name FROM singer WHERE earnings > 100",
        "type",
        "singer.earnings holds texts such as '900', '85', which compare letter by letter;"
        " CAST(singer.earnings AS REAL) compares numbers.",
    ),
    "a date in another form": (
        "SELECT title FROM concert WHERE day = '07/01/2014'",
        "date",
        "concert.day is written like '2014-07-01', '2015-01-20', not like '07/01/2014'.",
    ),
    "an order of dates in another form": (
        "SELECT title FROM concert WHERE day > 'July 1, 2014'",
        "date",
        "concert.day is written like '2014-07-01', '2015-01-20', not like 'July 1, 2014'.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_the_fact_is_told(case: str, database: Path, schema: Schema, sandbox: Sandbox) -> None:
    sql, kind, text = CASES[case]
    execution = await sandbox.execute(database, sql)
    hints = await hints_for(sql, execution, schema, lookup_in(sandbox, database), attempt=2)
    assert Hint(kind=kind, text=text, attempt=2) in hints


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM singer WHERE country = 'France'",
        'SELECT name FROM singer WHERE country = "France"',
        "SELECT T1.name, T2.concert_id FROM singer AS T1"
        " JOIN singer_in_concert AS T2 ON T1.singer_id = T2.singer",
        "SELECT name FROM stadium WHERE stadium_id IN (SELECT place FROM concert)",
        "SELECT title FROM concert WHERE day > '2014-01-01'",
        'SELECT "name" FROM singer',
        "SELECT name AS n FROM singer ORDER BY n",
        "WITH old AS (SELECT name FROM singer WHERE age > 30) SELECT name FROM old",
    ],
)
async def test_where_nothing_stands_out_nothing_is_told(
    sql: str, database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    execution = await sandbox.execute(database, sql)
    assert execution.rows
    assert await hints_for(sql, execution, schema, lookup_in(sandbox, database)) == ()


class TestLookUps:
    sql = "SELECT name FROM singer WHERE country = 'FRANCE'"

    async def test_without_a_look_up_there_are_none_about_values(self, schema: Schema) -> None:
        assert await hints_for(self.sql, Execution(outcome=Outcome.OK), schema) == ()

    async def test_their_time_is_bounded_together(
        self, database: Path, schema: Schema, sandbox: Sandbox
    ) -> None:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        look_up = lookup_in(sandbox, database, seconds=0.3)
        assert (await look_up(endless)).outcome is Outcome.TIMEOUT
        assert (await look_up("SELECT 1")).outcome is Outcome.TIMEOUT
        hints = await hints_for(self.sql, Execution(outcome=Outcome.OK), schema, look_up)
        assert {hint.kind for hint in hints} <= {"empty-result"}

    async def test_they_only_read(self, database: Path, schema: Schema, sandbox: Sandbox) -> None:
        before = contents(database.parent)
        sql = "SELECT name FROM singer WHERE country = 'x''; DROP TABLE singer; --'"
        await hints_for(sql, Execution(outcome=Outcome.OK), schema, lookup_in(sandbox, database))
        assert contents(database.parent) == before

    async def test_odd_bytes_in_the_database_are_made_printable(
        self, tmp_path: Path, sandbox: Sandbox
    ) -> None:
        path = tmp_path / "odd.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute('CREATE TABLE t ("a b" TEXT)')
            connection.execute("INSERT INTO t VALUES (CAST(x'41ff0a1b5b33316d' AS TEXT))")
        connection.close()
        sql = "SELECT 1 FROM t WHERE `a b` = 'B'"
        execution = await sandbox.execute(path, sql)
        (hint,) = await hints_for(sql, execution, read_schema(path), lookup_in(sandbox, path))
        assert hint.text.startswith("t.`a b` has no 'B'; it holds 'A")
        assert hint.text.encode()
        assert "\n" not in hint.text
        assert "\x1b" not in hint.text


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_nothing_takes_the_gold() -> None:
    assert list(inspect.signature(hints_for).parameters) == [
        "sql",
        "execution",
        "schema",
        "look_up",
        "question",
        "attempt",
    ]
    assert list(inspect.signature(lookup_in).parameters) == ["sandbox", "database", "seconds"]
    assert Lookup


queries = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "SELECT",
                "name",
                '"x"',
                "FROM",
                "singer",
                "WHERE",
                "=",
                "'FRANCE'",
                "IN",
                "(",
                ")",
                "T1",
                ".",
                ",",
                "*",
                "AND",
                "LIKE",
                "-",
                "5",
                "JOIN",
                "ON",
                "`Song Name`",
                "WITH a AS (",
                "NOT",
            ]
        ),
        max_size=14,
    ).map(" ".join),
)
messages = st.one_of(
    st.just(""),
    st.text(max_size=30),
    st.builds(
        "{}{}".format,
        st.sampled_from(
            [
                "no such column: ",
                "no such table: ",
                "ambiguous column name: ",
                "cannot join using column ",
            ]
        ),
        st.text(max_size=20),
    ),
)


@given(queries, messages)
async def test_no_query_and_no_message_breaks_it(schema: Schema, sql: str, message: str) -> None:
    async def look_up(_: str) -> Execution:
        return Execution(outcome=Outcome.OK, rows=((0,), ("France",), (b"\x00",), (2.5,)))

    outcome = Outcome.ERROR if message else Outcome.OK
    hints = await hints_for(sql, Execution(outcome=outcome, error=message), schema, look_up)
    assert len(hints) <= MOST_HINTS
    assert len({hint.text for hint in hints}) == len(hints)
    assert all(hint.text and "\n" not in hint.text for hint in hints)


async def test_a_name_that_is_taken_from_both_tables_is_meant_twice(
    schema: Schema, sandbox: Sandbox, database: Path
) -> None:
    sql = (
        "SELECT T1.Name, T2.Name, T2.age FROM stadium AS T1"
        " JOIN concert AS T3 ON T3.place = T1.stadium_id"
        " JOIN singer_in_concert AS T4 ON T4.concert_id = T3.concert_id"
        " JOIN singer AS T2 ON T2.singer_id = T4.singer"
    )
    told = await hints_for(sql, await sandbox.execute(database, sql), schema)
    assert "one-table" not in [hint.kind for hint in told]
