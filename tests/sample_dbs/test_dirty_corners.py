"""The rows and names are as awkward as those of real databases."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sample_dbs.build import names

Spider = dict[str, dict[str, Any]]
RESERVED = {"ORDER", "GROUP", "VALUES"}
ISO, DOTS, SLASHES, NUMBER = r"____-__-__%", "__.__.____", "__/__/____", "2025____"


def columns(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Every (table, column) of a record of Spider's tables.json."""
    tables = record["table_names_original"]
    return [(tables[owner], column) for owner, column in record["column_names_original"][1:]]


def test_text_goes_beyond_ascii(name: str, database: sqlite3.Connection) -> None:
    assert any(ord(character) > 0x7F for line in database.iterdump() for character in line)


def test_some_values_are_null(name: str, database: sqlite3.Connection, spider_tables: Spider) -> None:
    holes = [
        (table, column)
        for table, column in columns(spider_tables[name])
        if database.execute(f'SELECT 1 FROM "{table}" WHERE "{column}" IS NULL').fetchone()
    ]
    assert len(holes) >= 4


def test_columns_of_one_name_sit_in_several_tables(name: str, spider_tables: Spider) -> None:
    times = Counter(column.casefold() for _, column in columns(spider_tables[name]))
    assert sum(count > 1 for count in times.values()) >= 2


def test_a_table_has_a_key_of_two_columns(name: str, database: sqlite3.Connection) -> None:
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    keys = [
        [row[5] for row in database.execute(f'PRAGMA table_info("{table}")')] for (table,) in tables
    ]
    assert any(max(places) >= 2 for places in keys)


def test_a_truth_value_is_written_as_a_letter(
    name: str, database: sqlite3.Connection, spider_tables: Spider
) -> None:
    def is_letter(table: str, column: str) -> bool:
        found = {row[0] for row in database.execute(f'SELECT DISTINCT "{column}" FROM "{table}"')}
        return found - {None} == {"Y", "N"}

    assert any(is_letter(*column) for column in columns(spider_tables[name]))


def test_every_database_but_the_clinic_needs_quotes_for_a_reserved_word(spider_tables: Spider) -> None:
    def has_reserved(record: dict[str, Any]) -> bool:
        used = {*record["table_names_original"], *(column for _, column in columns(record))}
        return bool(RESERVED & {word.upper() for word in used})

    assert [name for name, record in spider_tables.items() if not has_reserved(record)] == [
        "city_clinic"
    ]


def test_the_food_market_has_names_with_spaces(spider_tables: Spider) -> None:
    record = spider_tables["food_market"]
    assert {column for _, column in columns(record) if " " in column} == {
        "list price",
        "unit price",
        "discount %",
    }


@pytest.mark.parametrize(
    ("table_column", "form"),
    [
        (("library_network", "loan", "due_on"), ISO),
        (("food_market", "order", "ordered_at"), ISO),
        (("food_market", "delivery", "delivered_on"), DOTS),
        (("city_clinic", "PAT", "DOB"), SLASHES),
        (("city_clinic", "APPT", "APPT_DT"), ISO),
        (("metro_rail", "Trip", "RunDate"), NUMBER),
        (("film_festival", "tickets", "sold_on"), DOTS),
    ],
)
def test_dates_come_in_several_forms(
    open_sample: Callable[[str], sqlite3.Connection], table_column: tuple[str, str, str], form: str
) -> None:
    name, table, column = table_column
    connection = open_sample(name)
    where = f'"{column}" IS NOT NULL AND "{column}" NOT LIKE ?'
    assert connection.execute(f'SELECT COUNT(*) FROM "{table}" WHERE {where}', [form]).fetchone() == (
        0,
    )


@pytest.mark.parametrize(
    ("name", "table", "shown"),
    [
        ("library_network", "author", "name"),
        ("library_network", "patron", "name"),
        ("library_network", "work", "title"),
        ("food_market", "product", "name"),
        ("food_market", "supplier", "name"),
        ("metro_rail", "Station", "Name"),
        ("metro_rail", "Staff", "Name"),
        ("city_clinic", "MED", "MED_NM"),
        ("film_festival", "venues", "name"),
        ("film_festival", "people", "full_name"),
    ],
)
def test_different_things_share_a_name(
    open_sample: Callable[[str], sqlite3.Connection], name: str, table: str, shown: str
) -> None:
    query = f'SELECT "{shown}" FROM "{table}" GROUP BY "{shown}" HAVING COUNT(*) > 1'
    assert open_sample(name).execute(query).fetchone() is not None


@pytest.mark.parametrize(
    ("name", "table", "column"),
    [
        ("food_market", "customer", "city"),
        ("food_market", "delivery", "courier"),
        ("metro_rail", "TrainSet", "Series"),
        ("city_clinic", "MED", "FORM"),
        ("city_clinic", "APPT", "ROOM"),
    ],
)
def test_one_code_is_written_in_two_cases(
    open_sample: Callable[[str], sqlite3.Connection], name: str, table: str, column: str
) -> None:
    query = f'SELECT COUNT(DISTINCT "{column}") > COUNT(DISTINCT LOWER("{column}")) FROM "{table}"'
    assert open_sample(name).execute(query).fetchone() == (1,)


def test_four_databases_refer_to_themselves_and_two_have_views(
    open_sample: Callable[[str], sqlite3.Connection], spider_tables: Spider
) -> None:
    def refers_to_itself(record: dict[str, Any]) -> bool:
        owner = [column[0] for column in record["column_names_original"]]
        return any(owner[child] == owner[parent] for child, parent in record["foreign_keys"])

    views = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'view'"
    assert sum(refers_to_itself(record) for record in spider_tables.values()) == 4
    assert (
        sum(open_sample(name).execute(views).fetchone()[0] > 0 for name in names_of(spider_tables)) == 2
    )


def names_of(spider_tables: Spider) -> list[str]:
    """The databases that tables.json describes."""
    return sorted(spider_tables)


def test_every_database_is_described(root: Any, spider_tables: Spider) -> None:
    assert names_of(spider_tables) == names(root)
