"""The schema as a prompt shows it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.database.descriptions import read_descriptions
from core.database.relatedness import ranked_columns, ranked_tables, words
from core.database.samples import read_samples
from core.database.schema import Column, Schema, Table, create_statement, read_schema
from core.database.schema_text import schema_text


def table(name: str, *columns: str) -> Table:
    made = Table(name=name, columns=tuple(Column(name=column, type="TEXT") for column in columns))
    return Table(name=name, columns=made.columns, sql=create_statement(made))


def large(tables: int = 300) -> Schema:
    """Many tables about nothing, and two that a question about penguins needs."""
    nothing = [table(f"filler_{n}", "id", f"value_{n}", "code") for n in range(tables - 2)]
    wanted = [table("penguin", "id", "colony_id", "weight"), table("colony", "id", "island")]
    return Schema(database="zoo", tables=(*nothing[:150], *wanted, *nothing[150:]))


def count(text: str) -> int:
    return len(text.split())


def test_by_default_the_text_is_what_sqlite_holds(shop: Path) -> None:
    schema = read_schema(shop)
    assert schema_text(schema).text == schema.sql
    assert schema_text(schema).left_out == ()


def test_comments_below_each_statement(shop: Path) -> None:
    schema = read_schema(shop)
    text = schema_text(
        schema,
        samples=read_samples(shop, schema, values=2),
        descriptions={"orders": {"amount": "what was paid\n; DROP TABLE orders"}},
        foreign_keys=True,
    ).text
    assert "-- name: for example 'Customer 0', 'Customer 1'" in text
    assert "-- amount: what was paid ; DROP TABLE orders; for example 0.0, 1.5" in text
    assert "-- joins: orders.customer = customers.id" in text
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(text)  # whatever the comments hold, it is still a schema


def test_hostile_names_and_values_stay_in_their_comment(tmp_path: Path) -> None:
    path = tmp_path / "hostile.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE t ("a\n;DROP TABLE t;--" TEXT, b BLOB)')
        connection.execute(
            "INSERT INTO t VALUES (?, x'00ff')", ("x'\n; DROP TABLE t; \x1b[2J" + "y" * 500,)
        )
    schema = read_schema(path)
    text = schema_text(schema, samples=read_samples(path, schema)).text
    comments = text[len(schema.sql) :].strip().splitlines()
    assert len(comments) == 2
    assert all(line.startswith("-- ") for line in comments)
    assert "\x1b" not in text
    assert len(text) < 400
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(text)


def test_a_budget_keeps_what_the_question_is_about() -> None:
    made = schema_text(
        large(), question="How heavy are penguins of each colony?", budget=150, count=count
    )
    assert "CREATE TABLE penguin" in made.text
    assert "CREATE TABLE colony" in made.text
    assert count(made.text) <= 150
    assert "filler_299" not in made.text
    shown = made.text.count("CREATE TABLE")
    assert len(made.left_out) == 300 - shown
    assert f"-- {300 - shown} more tables, less related to the question, are left out" in made.text


def test_kept_tables_stay_in_the_schemas_order() -> None:
    made = schema_text(large(), question="penguin colony", budget=120, count=count)
    assert made.text.index("TABLE penguin") < made.text.index("TABLE colony")


def test_a_table_too_wide_keeps_its_related_columns() -> None:
    wide = table("survey", *(f"answer_{n}" for n in range(1_000)), "species")
    made = schema_text(
        Schema(database="s", tables=(wide,)), question="Which species?", budget=200, count=count
    )
    assert "species TEXT" in made.text
    assert count(made.text) <= 200
    kept = made.text.count(" TEXT")
    assert 10 < kept < 200
    assert len(made.left_out) == 1_001 - kept
    assert "survey.answer_999" in made.left_out
    assert f"-- {1_001 - kept} more columns of survey are left out" in made.text


@pytest.mark.parametrize("budget", [0, 1, 50])
def test_nothing_fits_and_that_is_said(budget: int) -> None:
    made = schema_text(large(5), question="penguin", budget=budget, count=count)
    assert "CREATE TABLE filler_0" not in made.text
    assert "left out" in made.text
    assert made.left_out


def test_enough_budget_leaves_nothing_out() -> None:
    schema = large(20)
    assert schema_text(schema, budget=count(schema.sql), count=count).text == schema.sql


# What a question is about.


@pytest.mark.parametrize("text", ["petTypes", "pet_type", "PET TYPES", "Pet-Type", "pet types?"])
def test_words_of_names_and_questions_meet(text: str) -> None:
    assert words(text) == {"pet", "type"}


def test_words_of_other_scripts() -> None:
    assert words("größe") & words("GRÖßE")
    assert words("город") == {"город"}


def test_a_part_of_a_word_counts_half_and_neighbours_are_lifted() -> None:
    schema = Schema(database="x", tables=(table("other", "a"), table("superhero", "name")))
    assert ranked_tables(schema, "How many heroes are there?")[0].name == "superhero"


def test_no_question_keeps_the_order() -> None:
    schema = large(10)
    assert ranked_tables(schema, "") == schema.tables
    assert ranked_columns(schema.tables[0], "") == schema.tables[0].columns


# BIRD's descriptions.


def test_descriptions_in_either_encoding(tmp_path: Path) -> None:
    folder = tmp_path / "database_description"
    folder.mkdir()
    head = "original_column_name,column_name,column_description,data_format,value_description\n"
    (folder / "Café.csv").write_bytes(
        (head + 'ID ,,the café\'s id,integer,\nfull_name,full name,,text,"two\nlines"\n').encode(
            "utf-8-sig"
        )
    )
    (folder / "price.csv").write_bytes((head + "eur,price in €,,real,“in” €\n").encode("cp1252"))
    (folder / "raw.csv").write_bytes(head.encode() + b"x,\x81\x8d,,,\n,,no name,,\nshort\n")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "notes.txt").write_text("not a table")
    assert read_descriptions(tmp_path / "x.sqlite") == {
        "café": {"id": "the café's id", "full_name": "two lines"},
        "price": {"eur": "price in €; “in” €"},
        "raw": {"x": "\x81\x8d", "short": ""},
        "empty": {},
    }


def test_no_folder_of_descriptions(tmp_path: Path) -> None:
    assert read_descriptions(tmp_path / "x.sqlite") == {}


@pytest.mark.data
def test_the_benchmarks_own_descriptions(data_folder: Path) -> None:
    path = data_folder / "bird" / "dev_databases" / "superhero" / "superhero.sqlite"
    described = read_descriptions(path)
    schema = read_schema(path)
    assert set(described) == {table.name.casefold() for table in schema.tables}
    assert described["superhero"]["eye_colour_id"].startswith("the id of the superhero's eye")
    text = schema_text(schema, descriptions=described, samples=read_samples(path, schema)).text
    assert "-- superhero_name: the name of the superhero; for example '3-D Man'" in text


# Sample values.


def test_samples_are_different_and_not_null(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE T (A, b)")
        connection.executemany(
            "INSERT INTO T VALUES (?, ?)", [(None, "x"), (1, "x"), (1, ""), (2, "y"), (3, "z")]
        )
        connection.execute("CREATE TABLE empty (c)")
    samples = read_samples(path, read_schema(path), values=2)
    assert samples == {"t": {"a": (1, 2), "b": ("x", "y")}, "empty": {}}
