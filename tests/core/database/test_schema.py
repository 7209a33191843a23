"""Schemas: read from files, read from Spider's tables.json, and asked about joins."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.database.schema import ForeignKey, Schema, read_schema
from core.errors import MeritoError

Build = Callable[[str], Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes a database from a script."""

    def make(script: str) -> Path:
        path = tmp_path / "made.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.executescript(f"BEGIN; {script} COMMIT;")
        return path

    return make


@pytest.fixture
def odd(build: Build) -> Schema:
    """Names that need care: spaces, quotes, reserved words, other scripts."""
    return read_schema(
        build(
            """
            CREATE TABLE "Order" ("select" INTEGER PRIMARY KEY, "has space" TEXT NOT NULL,
                'quote"d' REAL);
            CREATE TABLE [straße und Größe] (`a``b` TEXT, "日本" BLOB, "x.y" NUMERIC,
                FOREIGN KEY ("日本") REFERENCES "Order");
            CREATE VIEW "a view" AS SELECT "has space" FROM "Order";
            """
        )
    )


def test_a_shop_is_read_as_declared(shop: Path) -> None:
    schema = read_schema(shop)
    assert schema.database == "shop"
    assert [table.name for table in schema.tables] == ["customers", "orders", "totals"]
    orders = schema.table("ORDERS")
    assert orders is not None
    assert [(column.name, column.type) for column in orders.columns] == [
        ("id", "INTEGER"),
        ("customer", "INTEGER"),
        ("amount", "REAL"),
        ("note", "TEXT"),
    ]
    assert orders.primary_key == ("id",)
    assert orders.foreign_keys == (
        ForeignKey(table="orders", columns=("customer",), to_table="customers", to_columns=("id",)),
    )
    view = schema.table("totals")
    assert view is not None
    assert view.is_view
    assert [column.name for column in view.columns] == ["customer", "total"]


def test_statements_are_sqlites_own(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        held = [
            row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE name = 'orders'")
        ]
    assert held[0] in read_schema(shop).sql
    assert read_schema(shop).sql.count(";") == 3


def test_odd_names_survive(odd: Schema) -> None:
    assert [table.name for table in odd.tables] == ["Order", "straße und Größe", "a view"]
    order = odd.table("oRDER")
    assert order is not None
    assert [column.name for column in order.columns] == ["select", "has space", 'quote"d']
    assert [column.not_null for column in order.columns] == [False, True, False]
    street = odd.table("Straße Und Größe")
    assert street is not None
    assert [column.name for column in street.columns] == ["a`b", "日本", "x.y"]
    assert street.foreign_keys[0].to_columns == ("select",), "the primary key, where none is named"
    assert street.foreign_keys[0].condition == '"straße und Größe"."日本" = "Order"."select"'


def test_lookups_ignore_case(odd: Schema) -> None:
    assert [table.name for table in odd.tables_with("HAS SPACE")] == ["Order", "a view"]
    assert odd.tables_with("absent") == ()
    assert odd.table("absent") is None


def test_names_are_told_apart_as_sqlite_does(build: Build) -> None:
    schema = read_schema(
        build(
            """
            CREATE TABLE "Straße" ("Ä" TEXT, "ä" INTEGER);
            CREATE TABLE "STRASSE" (id INTEGER PRIMARY KEY);
            CREATE TABLE "Öl" (preis REAL);
            CREATE TABLE "öl" (id INTEGER REFERENCES STRASSE (id));
            """
        )
    )
    assert [table.name for table in schema.tables] == ["Straße", "STRASSE", "Öl", "öl"]
    street, other = schema.table("straße"), schema.table("strasse")
    assert street is not None
    assert [(column.name, column.type) for column in street.columns] == [
        ("Ä", "TEXT"),
        ("ä", "INTEGER"),
    ]
    assert street.column("ä") is street.columns[1]
    assert other is not None
    assert other.primary_key == ("id",)
    assert schema.join_path("öl", "strasse") is not None
    assert schema.join_path("Öl", "strasse") is None


def test_limited_to_some_tables(odd: Schema) -> None:
    assert [table.name for table in odd.limited_to(["order", "unknown"]).tables] == ["Order"]
    assert odd.limited_to([]).sql == ""


def test_composite_keys(build: Build) -> None:
    schema = read_schema(
        build(
            """
            CREATE TABLE a (x, y, z, PRIMARY KEY (y, x));
            CREATE TABLE b (p, q, FOREIGN KEY (p, q) REFERENCES a (y, x), FOREIGN KEY (p) REFERENCES c);
            CREATE TABLE c (k PRIMARY KEY);
            """
        )
    )
    first, second, _ = schema.tables
    assert first.primary_key == ("y", "x")
    assert [(key.columns, key.to_table, key.to_columns) for key in second.foreign_keys] == [
        (("p", "q"), "a", ("y", "x")),
        (("p",), "c", ("k",)),
    ]


def test_join_paths(build: Build) -> None:
    schema = read_schema(
        build(
            """
            CREATE TABLE hero (id INTEGER PRIMARY KEY);
            CREATE TABLE power (id INTEGER PRIMARY KEY);
            CREATE TABLE hero_power (hero REFERENCES hero (id), power REFERENCES power (id));
            CREATE TABLE island (id);
            CREATE TABLE lost (x REFERENCES nowhere (id));
            """
        )
    )
    path = schema.join_path("Hero", "POWER")
    assert path is not None
    assert [key.condition for key in path] == [
        "hero_power.hero = hero.id",
        "hero_power.power = power.id",
    ]
    assert schema.join_path("hero", "hero") == ()
    assert schema.join_path("hero", "island") is None
    assert schema.join_path("hero", "unknown") is None
    assert schema.join_path("lost", "hero") is None


def test_a_broken_view_and_an_unknown_module_do_not_hide_the_rest(build: Build) -> None:
    path = build(
        "CREATE TABLE a (x); CREATE VIEW v AS SELECT x FROM a; CREATE VIRTUAL TABLE f USING fts5(t);"
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = 1")
        connection.execute(
            "UPDATE sqlite_master SET sql = 'CREATE VIEW v AS SELECT x FROM gone' WHERE name = 'v'"
        )
        connection.execute(
            "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE f USING absent(t)' WHERE name = 'f'"
        )
    schema = read_schema(path)
    assert [table.name for table in schema.tables][:2] == ["a", "v"]
    assert schema.tables[0].columns[0].name == "x"
    assert schema.tables[1].columns == ()


def test_shadow_tables_are_not_tables_of_the_user(build: Build) -> None:
    schema = read_schema(build("CREATE VIRTUAL TABLE paper USING fts5(title, body);"))
    assert [table.name for table in schema.tables] == ["paper"]
    assert [column.name for column in schema.tables[0].columns] == ["title", "body"]


def test_generated_columns_are_columns(build: Build) -> None:
    schema = read_schema(
        build("CREATE TABLE a (x INTEGER, y AS (x + 1), z INTEGER AS (x * 2) STORED);")
    )
    assert [column.name for column in schema.tables[0].columns] == ["x", "y", "z"]


def test_three_hundred_tables_are_read_fast(build: Build) -> None:
    path = build(
        "".join(
            f"CREATE TABLE t{n} (id INTEGER PRIMARY KEY, parent REFERENCES t{max(0, n - 1)} (id));"
            for n in range(300)
        )
    )
    started = time.perf_counter()
    schema = read_schema(path)
    assert time.perf_counter() - started < 2.0
    assert len(schema.tables) == 300
    path_through = schema.join_path("t0", "t299")
    assert path_through is not None
    assert len(path_through) == 299


def test_a_table_with_two_thousand_columns(build: Build) -> None:
    schema = read_schema(build(f"CREATE TABLE wide ({', '.join(f'c{n} TEXT' for n in range(2_000))});"))
    assert len(schema.tables[0].columns) == 2_000


def test_bad_files_are_explained(tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match="There is no database"):
        read_schema(tmp_path / "gone.sqlite")
    (tmp_path / "empty.sqlite").touch()
    with pytest.raises(MeritoError, match="is empty"):
        read_schema(tmp_path / "empty.sqlite")


# Spider's tables.json.

RECORD: dict[str, Any] = {
    "db_id": "pets",
    "table_names_original": ["Student", "Has Pet"],
    "column_names_original": [[-1, "*"], [0, "StuID"], [0, "Name"], [1, "StuID"], [1, "Order"]],
    "column_types": ["text", "number", "text", "number", "text"],
    "primary_keys": [1, [3, 4]],
    "foreign_keys": [[3, 1]],
}


def test_a_record_of_tables_json_becomes_a_schema() -> None:
    schema = Schema.from_spider_tables(RECORD)
    assert schema.database == "pets"
    assert schema.sql == (
        "CREATE TABLE Student (\n  StuID number PRIMARY KEY,\n  Name text\n);\n"
        'CREATE TABLE "Has Pet" (\n  StuID number,\n  "Order" text,\n'
        '  PRIMARY KEY (StuID, "Order"),\n  FOREIGN KEY (StuID) REFERENCES Student(StuID)\n);'
    )
    assert schema.join_path("student", "has pet") == schema.foreign_keys


def test_the_statements_made_from_a_record_are_valid_sql() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(Schema.from_spider_tables(RECORD).sql)


@pytest.mark.parametrize(
    "change",
    [
        {"column_types": []},
        {"foreign_keys": [[99, 1]]},
        {"primary_keys": ["x"]},
        {"column_names_original": None},
        {"table_names_original": ["only one"], "foreign_keys": [[3, 1]]},
    ],
)
def test_a_record_that_does_not_hold_together_is_named(change: dict[str, Any]) -> None:
    with pytest.raises(MeritoError, match="'pets'"):
        Schema.from_spider_tables(RECORD | change)


@pytest.mark.data
def test_every_schema_of_the_benchmark(data_folder: Path) -> None:
    for name in ("tables.json", "train_tables.json"):
        for record in json.loads((data_folder / "spider" / name).read_text()):
            schema = Schema.from_spider_tables(record)
            with closing(sqlite3.connect(":memory:")) as connection:
                connection.executescript(schema.sql)
