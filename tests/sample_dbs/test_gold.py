"""Every gold query is sound, and the check that says so finds what is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sample_dbs.build import problems, source_questions
from sample_dbs.verify import faults, mirrored

SOUND = "SELECT name FROM city ORDER BY people DESC LIMIT 1"
UNSOUND = [
    ("SELECT nme FROM city", "does not run"),
    ("SELECT name FROM city WHERE people > 900", "finds no rows"),
    ("SELECT COUNT(*) FROM city WHERE people > 900", "nothing but NULL and 0"),
    ("SELECT MAX(people) FROM city WHERE people > 900", "nothing but NULL and 0"),
    ("SELECT DISTINCT country FROM city", "uses DISTINCT"),
    ("SELECT name FROM city LIMIT 2", "order in which rows are stored"),
    ("SELECT name FROM city ORDER BY country LIMIT 1", "order in which rows are stored"),
    ("SELECT country, name FROM city GROUP BY country", "order in which rows are stored"),
    ("SELECT name FROM city ORDER BY country", "ties in its ORDER BY"),
    ("SELECT name FROM city WHERE people < 50 ORDER BY people LIMIT 1", "ties in its ORDER BY"),
    ("SELECT people / 3.0 FROM city WHERE name = 'Porto'", "more than 4 decimals"),
]


@pytest.fixture
def cities() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE city (name TEXT, country TEXT, people INTEGER)")
        rows = [("Porto", "PT", 230), ("Braga", "PT", 193), ("Vigo", "ES", 292)]
        rows += [("Lugo", "ES", 40), ("Tui", "ES", 40)]
        connection.executemany("INSERT INTO city VALUES (?, ?, ?)", rows)
        yield connection


def found_in(connection: sqlite3.Connection, query: str, *, may_be_empty: bool = False) -> list[str]:
    with closing(mirrored(connection)) as mirror:
        return list(faults(connection, mirror, query, may_be_empty=may_be_empty))


def test_every_gold_query_of_a_database_is_sound(root: Path, name: str) -> None:
    database = root / "database" / name / f"{name}.sqlite"
    assert list(problems(database, source_questions(root, name))) == []


def test_a_sound_query_has_no_fault(cities: sqlite3.Connection) -> None:
    assert found_in(cities, SOUND) == []


@pytest.mark.parametrize(("query", "fault"), UNSOUND)
def test_a_fault_is_found(cities: sqlite3.Connection, query: str, fault: str) -> None:
    assert any(fault in found for found in found_in(cities, query))


def test_a_tie_between_rows_that_look_alike_is_none(cities: sqlite3.Connection) -> None:
    assert found_in(cities, "SELECT country FROM city ORDER BY country") == []


def test_a_query_may_be_meant_to_find_nothing(cities: sqlite3.Connection) -> None:
    empty, full = "SELECT name FROM city WHERE people > 900", "SELECT name FROM city"
    assert found_in(cities, empty, may_be_empty=True) == []
    assert found_in(cities, full, may_be_empty=True) == ["was to find no rows, and finds some"]
