"""What a delta says. The table is the specification: before, after, and the lines."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from core.memory.delta import LONGEST, WIDEST, delta
from core.sql import normalised
from tests.core.test_sql import hostile_texts, queries

DELTAS: list[tuple[str, str, list[str]]] = [
    # columns
    (
        "SELECT nme FROM singer",
        "SELECT name FROM singer",
        ["replaced column singer.nme -> singer.name"],
    ),
    (
        "SELECT COUNT(*) FROM singer",
        "SELECT COUNT(*), name FROM singer",
        ["inserted column singer.name"],
    ),
    ("SELECT name, age FROM singer", "SELECT name FROM singer", ["removed column singer.age"]),
    (
        "SELECT name, age, country FROM singer",
        "SELECT country, name, age FROM singer",
        ["moved column singer.country from place 3 to 1"],
    ),
    ("SELECT name FROM singer", "SELECT DISTINCT name FROM singer", ["inserted distinct"]),
    ("SELECT DISTINCT name FROM singer", "SELECT name FROM singer", ["removed distinct"]),
    # functions
    (
        "SELECT age FROM singer",
        "SELECT MAX(age) FROM singer",
        ["inserted function MAX around column singer.age"],
    ),
    (
        "SELECT LOWER(name) FROM singer",
        "SELECT name FROM singer",
        ["removed function LOWER around column singer.name"],
    ),
    (
        "SELECT MIN(age) FROM singer",
        "SELECT MAX(age) FROM singer",
        ["replaced function MIN(singer.age) -> MAX(singer.age)"],
    ),
    (
        "SELECT COUNT(id) FROM singer",
        "SELECT COUNT(DISTINCT id) FROM singer",
        ["replaced column COUNT(singer.id) -> COUNT(DISTINCT singer.id)"],
    ),
    # predicates
    (
        "SELECT name FROM singer WHERE age > 20",
        "SELECT name FROM singer",
        ["removed predicate singer.age > 20"],
    ),
    (
        "SELECT name FROM singer",
        "SELECT name FROM singer WHERE age > 20",
        ["inserted predicate singer.age > 20"],
    ),
    (
        "SELECT name FROM singer WHERE age > 20",
        "SELECT name FROM singer WHERE age >= 20",
        ["replaced predicate singer.age > 20 -> singer.age >= 20"],
    ),
    (
        "SELECT x FROM a WHERE c = 'france'",
        "SELECT x FROM a WHERE c = 'France'",
        ["replaced predicate a.c = 'france' -> a.c = 'France'"],
    ),
    (
        'SELECT x FROM a WHERE c = "france"',
        'SELECT x FROM a WHERE c = "France"',
        ['replaced predicate a.c = "france" -> a.c = "France"'],
    ),
    (
        "SELECT x FROM a WHERE p = 1 OR q = 2",
        "SELECT x FROM a WHERE p = 1 AND q = 2",
        ["replaced predicate a.p = 1 OR a.q = 2 -> a.p = 1", "inserted predicate a.q = 2"],
    ),
    (
        "SELECT x FROM a WHERE `Song Name` LIKE '%x%'",
        "SELECT x FROM a WHERE song_name LIKE '%x%'",
        ["replaced predicate a.`song name` LIKE '%x%' -> a.song_name LIKE '%x%'"],
    ),
    (
        "SELECT x FROM a WHERE p = 1 AND q = 2",
        "SELECT x FROM a WHERE q = 2 AND p = 1 AND r = 3",
        ["inserted predicate a.r = 3"],
    ),
    # tables and joins
    ("SELECT x FROM singers", "SELECT x FROM singer", ["replaced table singers -> singer"]),
    (
        "SELECT name FROM singer",
        "SELECT singer.name FROM singer JOIN concert ON concert.singer_id = singer.id",
        ["inserted join concert ON concert.singer_id = singer.id"],
    ),
    (
        "SELECT T1.name FROM singer T1 JOIN concert T2 ON T1.id = T2.singer_id",
        "SELECT name FROM singer",
        ["removed join concert ON concert.singer_id = singer.id"],
    ),
    (
        "SELECT b.x FROM b WHERE b.y = 1",
        "SELECT b.x FROM a JOIN b ON a.id = b.id WHERE b.y = 1",
        ["inserted join a ON a.id = b.id"],
    ),
    (
        "SELECT a.x FROM a JOIN b ON a.id = b.id JOIN c ON b.id = c.id",
        "SELECT a.x FROM a JOIN c ON a.id = c.id",
        ["removed join b ON a.id = b.id", "replaced join condition b.id = c.id -> a.id = c.id"],
    ),
    (
        "SELECT x FROM a JOIN b ON a.id = b.id",
        "SELECT x FROM a JOIN b ON a.id = b.aid",
        ["replaced join condition a.id = b.id -> a.id = b.aid"],
    ),
    (
        "SELECT * FROM a JOIN b ON a.id = b.id",
        "SELECT * FROM a LEFT JOIN b ON a.id = b.id",
        ["replaced JOIN -> LEFT JOIN of b"],
    ),
    (
        "SELECT a.x FROM a, b WHERE a.id = b.id AND a.y = 1",
        "SELECT a.x FROM a JOIN b ON a.id = b.id WHERE a.y = 1",
        ["moved a.id = b.id from WHERE to ON"],
    ),
    (
        "SELECT x FROM a JOIN b ON a.id = b.id",
        "SELECT x FROM b JOIN a ON a.id = b.id",
        ["moved table b from place 2 to 1"],
    ),
    (
        "SELECT x FROM a t1 JOIN a t2 ON t1.id = t2.pid",
        "SELECT x FROM a t1 JOIN a t2 ON t1.id = t2.parent",
        ["replaced join condition t1.id = t2.pid -> t1.id = t2.parent"],
    ),
    (
        "SELECT name FROM a JOIN b USING (x)",
        "SELECT name FROM a JOIN b USING (id)",
        ["replaced join condition USING (x) -> USING (id)"],
    ),
    # grouping, having, order, limit
    (
        "SELECT country, COUNT(*) FROM singer",
        "SELECT country, COUNT(*) FROM singer GROUP BY country",
        ["inserted grouping by singer.country"],
    ),
    (
        "SELECT COUNT(*) FROM singer GROUP BY name",
        "SELECT COUNT(*) FROM singer GROUP BY id",
        ["replaced grouping by singer.name -> singer.id"],
    ),
    (
        "SELECT country FROM singer WHERE COUNT(*) > 1 GROUP BY country",
        "SELECT country FROM singer GROUP BY country HAVING COUNT(*) > 1",
        ["moved COUNT(*) > 1 from WHERE to HAVING"],
    ),
    (
        "SELECT AVG(age) AS mean FROM a GROUP BY c HAVING mean > 3",
        "SELECT AVG(age) FROM a GROUP BY c HAVING AVG(age) > 4",
        ["replaced having AVG(a.age) > 3 -> AVG(a.age) > 4"],
    ),
    (
        "SELECT name FROM singer ORDER BY age",
        "SELECT name FROM singer ORDER BY age DESC LIMIT 1",
        ["replaced order by singer.age -> singer.age DESC", "inserted limit 1"],
    ),
    (
        "SELECT name FROM singer ORDER BY a, b",
        "SELECT name FROM singer ORDER BY b, a",
        ["moved order by singer.b from place 2 to 1"],
    ),
    ("SELECT x FROM a LIMIT 1", "SELECT x FROM a LIMIT 3", ["replaced limit 1 -> 3"]),
    ("SELECT x FROM a LIMIT 3", "SELECT x FROM a LIMIT 3 OFFSET 2", ["inserted offset 2"]),
    ("SELECT x FROM a LIMIT 3", "SELECT x FROM a", ["removed limit 3"]),
    # set operations
    (
        "SELECT name FROM a",
        "SELECT name FROM a UNION SELECT name FROM b",
        ["inserted UNION with SELECT b.name FROM b"],
    ),
    (
        "SELECT name FROM b",
        "SELECT name FROM a EXCEPT SELECT name FROM b",
        ["inserted SELECT a.name FROM a EXCEPT in front"],
    ),
    (
        "SELECT name FROM a UNION SELECT name FROM b",
        "SELECT name FROM a INTERSECT SELECT name FROM b",
        ["replaced UNION -> INTERSECT"],
    ),
    (
        "SELECT a FROM x UNION SELECT a FROM y",
        "SELECT a FROM x UNION ALL SELECT b FROM y",
        ["in query 2: replaced column y.a -> y.b", "replaced UNION -> UNION ALL"],
    ),
    # sub-queries and WITH
    (
        "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert)",
        "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert WHERE year = 2014)",
        ["in the sub-query of singer.id IN (…): inserted predicate concert.year = 2014"],
    ),
    (
        "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert)",
        "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert)",
        [
            "replaced predicate singer.id IN (SELECT concert.singer_id FROM concert)"
            " -> NOT singer.id IN (SELECT concert.singer_id FROM concert)"
        ],
    ),
    (
        "SELECT name FROM a WHERE x = (SELECT MAX(x) FROM a)",
        "SELECT name FROM a ORDER BY x DESC LIMIT 1",
        [
            "removed predicate a.x = (SELECT MAX(a.x) FROM a)",
            "inserted order by a.x DESC",
            "inserted limit 1",
        ],
    ),
    (
        "SELECT x FROM (SELECT y AS x FROM b) s",
        "SELECT x FROM (SELECT z AS x FROM b) s",
        ["in the sub-query s: replaced column b.y -> b.z"],
    ),
    (
        "WITH t AS (SELECT a FROM x) SELECT * FROM t",
        "WITH t AS (SELECT a FROM x WHERE b = 1) SELECT * FROM t",
        ["in WITH t: inserted predicate x.b = 1"],
    ),
    (
        "SELECT * FROM t",
        "WITH t AS (SELECT a FROM x) SELECT * FROM t",
        ["inserted WITH t AS (SELECT x.a FROM x)"],
    ),
    # the same query in other words
    (
        "SELECT T1.name FROM singer AS T1 JOIN concert AS T2 ON T1.id = T2.singer_id",
        "SELECT s.name FROM singer s JOIN concert c ON c.singer_id = s.id",
        ["replaced aliases or qualifiers, and nothing else"],
    ),
    (
        "SELECT x AS n FROM a ORDER BY n",
        "SELECT x FROM a ORDER BY x",
        ["replaced aliases or qualifiers, and nothing else"],
    ),
    ("select  NAME from Singer ;", "SELECT name FROM singer -- same", []),
    # what does not parse is compared by tokens
    ("selct x from a", "select x from a", ["replaced text selct -> select"]),
    ("SELECT x FROM a WHERE", "SELECT x FROM a", ["removed text where"]),
    ("SELECT a FROM t; DROP TABLE t", "SELECT a FROM t", ["removed text ; drop table t"]),
    ("", "SELECT x FROM a", ["inserted the query select x from a"]),
    ("SELECT x FROM a", "", ["removed the query select x from a"]),
]


@pytest.mark.parametrize(("before", "after", "lines"), DELTAS)
def test_a_delta_reads(before: str, after: str, lines: list[str]) -> None:
    assert list(delta(before, after)) == lines


@settings(max_examples=100, deadline=None)
@given(before=queries, after=queries)
def test_empty_only_for_the_same_query(before: str, after: str) -> None:
    same = normalised(before) == normalised(after)
    assert (delta(before, after) == ()) is same


@settings(max_examples=100, deadline=None)
@given(before=hostile_texts | queries, after=hostile_texts)
def test_any_two_texts_have_a_bounded_delta(before: str, after: str) -> None:
    lines = delta(before, after)
    assert len(lines) <= LONGEST
    assert all(len(line) <= WIDEST and line for line in lines)


def wide(name: str) -> str:
    return "SELECT 1 FROM t WHERE " + " AND ".join(f"{name}{n} = 1" for n in range(1500))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (wide("a"), wide("b")),
        ("SELECT '" + "x" * 100_000, "SELECT " + "y," * 50_000),
        ("SELECT " + "x " * 50_000, "SELECT " + "x " * 49_999 + "z"),
        ("SELECT a" + " IS a" * 900, "SELECT a" + " IS b" * 900),
        ("SELECT 1" + " UNION SELECT 1" * 900, "SELECT 1" + " UNION SELECT 2" * 900),
        ("SELECT " + "(" * 5_000, "SELECT " + ")" * 5_000),
        ("SELECT * FROM " + "(SELECT * FROM " * 18 + "t" + ")" * 18, "SELECT 1"),
    ],
    ids=["wide", "one string", "many words", "a long chain", "many queries", "only brackets", "deep"],
)
def test_large_texts_end_soon(before: str, after: str) -> None:
    delta.cache_clear()
    begun = time.process_time()
    assert 0 < len(delta(before, after)) <= LONGEST
    assert time.process_time() - begun < 5
