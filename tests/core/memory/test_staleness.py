"""A memory is stale where its database is no longer what its statements say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.database.schema import Schema, read_schema
from core.memory.staleness import declared, differences, fingerprint, seen, with_seen

VISIT = 'CREATE TABLE visit (id INTEGER PRIMARY KEY, "full weight" REAL, at VARCHAR(10) NOT NULL)'


def schema(path: Path, *statements: str) -> Schema:
    with closing(sqlite3.connect(path)) as conn:
        for statement in statements:
            conn.execute(statement)
        conn.commit()
    return read_schema(path)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ((VISIT,), ()),
        ((VISIT.lower().replace("(", "(\n "), "CREATE TABLE other (x)"), ()),
        (("CREATE TABLE other (x)",), ("table visit is gone",)),
        ((VISIT.replace('"full weight" REAL,', ""),), ("column visit.full weight is gone",)),
        ((VISIT.replace("REAL", "TEXT"),), ("column visit.full weight is text, it was real",)),
        ((VISIT.replace("id I", "kind TEXT, id I"),), ("column visit.kind is new",)),
    ],
)
def test_each_difference_is_told(tmp_path: Path, now: tuple[str, ...], told: tuple[str, ...]) -> None:
    text = f"{VISIT};\n-- id: the visit's number\n-- joins: visit.id = stay.visit"
    assert differences(text, schema(tmp_path / "a.sqlite", *now)) == told


def test_what_a_narrowed_statement_left_out_is_not_new(tmp_path: Path) -> None:
    text = "CREATE TABLE visit (\n  id INTEGER\n);\n-- 2 more columns of visit are left out"
    assert differences(text, schema(tmp_path / "a.sqlite", VISIT)) == ()


@pytest.mark.parametrize("text", ["", "CREATE TABLE", "CREATE TABLE visit", "[/x] \x00", "SELECT 1"])
def test_a_text_that_declares_nothing_is_no_trouble(tmp_path: Path, text: str) -> None:
    found = differences(text, schema(tmp_path / "a.sqlite", VISIT))
    assert all("is new" in line for line in found)


def test_columns_are_told_from_constraints() -> None:
    sql = "CREATE TABLE t (a INT DEFAULT (1, 2), [b c] NUMERIC(4, 2) CHECK (a > 2), d, UNIQUE (a, d))"
    assert declared(sql) == {"a": "int", "b c": "numeric ( 4 , 2 )", "d": ""}


def test_a_remark_says_what_was_seen() -> None:
    mark = fingerprint(("table visit is gone",))
    assert seen(with_seen("still right", mark)) == seen(with_seen("", mark)) == mark
    assert seen("still right [schema x seen]") == ""
    assert mark != fingerprint(("table stay is gone",))
