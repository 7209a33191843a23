"""Names of the schema while SQL is being typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.database.schema import Schema, read_schema
from tests.core.run.stage import harbour
from tests.streams import HOSTILE
from tui.view.completion import completions


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    folder: Path = harbour(tmp_path_factory.mktemp("harbour"))
    return read_schema(folder / "harbour" / "harbour.sqlite")


def offered(schema: Schema, typed: str, rest: str = "") -> list[str]:
    """What is offered where the cursor stands behind `typed`."""
    return [each.text for each in completions(schema, typed + rest, len(typed)).candidates]


@pytest.mark.parametrize(
    "typed", ["SELECT * FROM ", "SELECT * FROM boat JOIN ", "SELECT * FROM boat, "]
)
def test_tables_follow_from_join_and_the_comma_behind_them(schema: Schema, typed: str) -> None:
    assert offered(schema, typed) == ["boat", "trip"]


def test_after_an_alias_and_a_dot_come_the_columns_of_what_it_stands_for(schema: Schema) -> None:
    rest = " FROM boat AS b JOIN trip t ON b.id = t.boat_id"
    assert offered(schema, "SELECT b.", rest) == ["id", "name", "crew"]
    assert offered(schema, "SELECT t.", rest) == ["id", "boat_id", "fish"]
    assert offered(schema, "SELECT t.bo", rest) == ["boat_id"]
    assert offered(schema, "SELECT trip.", rest) == ["id", "boat_id", "fish"]
    assert offered(schema, "SELECT nobody.", rest) == []


def test_the_columns_of_the_querys_own_tables_come_first(schema: Schema) -> None:
    found = offered(schema, "SELECT i", " FROM trip")
    assert found[0] == "id"
    where = completions(schema, "SELECT i FROM trip", 8).candidates
    assert [each.about for each in where if each.text == "id"] == ["trip integer", "boat integer"]


def test_part_of_a_name_is_enough_and_a_whole_one_offers_nothing(schema: Schema) -> None:
    assert offered(schema, "SELECT * FROM boat WHERE re")[0] == "recursive".upper()
    assert "crew" in offered(schema, "SELECT * FROM boat WHERE re")
    assert offered(schema, "SELECT crew", " FROM boat") == []


def test_nothing_is_offered_in_literals_comments_and_where_nothing_is_typed(schema: Schema) -> None:
    for typed in ("SELECT 'bo", "SELECT 'it''s bo", "SELECT 1 -- bo", "SELECT /* bo", "SELECT ", ""):
        assert offered(schema, typed) == [], typed
    assert offered(schema, "SELECT 'bo' FROM ") == ["boat", "trip"]


def test_names_that_need_quotes_get_them_and_a_typed_quote_is_no_hindrance(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "odd.sqlite"
    with sqlite3.connect(path) as conn:
        conn.execute('CREATE TABLE "order" ("full weight" REAL, [a.b] TEXT)')
    conn.close()
    odd = read_schema(path)
    assert offered(odd, "SELECT * FROM ") == ['"order"']
    assert offered(odd, 'SELECT "fu', ' FROM "order"') == ['"full weight"']
    assert offered(odd, "SELECT [fu", ' FROM "order"') == ['"full weight"']


def test_any_text_at_any_cursor_is_taken(schema: Schema) -> None:
    text = f"SELECT b. FROM boat b, {HOSTILE} WHERE 'x"
    for cursor in range(len(text) + 1):
        completions(schema, text, cursor)
