"""Names that need back-quotes get them by rule, wherever they stand bare."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.database.rows import Outcome
from core.database.sandbox import Sandbox
from core.database.schema import Schema
from core.repair.bare_names import bare_names, with_quotes
from core.repair.hints import lookup_in
from core.repair.mends import mends_of
from core.sql import normalised

TABLES = """
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, "list price" REAL, "from" TEXT);
CREATE TABLE "order" (number INTEGER PRIMARY KEY, status TEXT);
CREATE TABLE delivery (order_number INTEGER REFERENCES "order"(number), day TEXT);
INSERT INTO "order" VALUES (1, 'open'), (2, 'open');
INSERT INTO delivery VALUES (1, '2020-01-01');
"""

QUOTED = [
    ("SELECT COUNT(*) FROM order", "SELECT COUNT(*) FROM `order`"),
    (
        "SELECT status, COUNT(*) FROM order GROUP BY status ORDER BY status",
        "SELECT status, COUNT(*) FROM `order` GROUP BY status ORDER BY status",
    ),
    (
        "SELECT order.number FROM order ORDER BY order.number",
        "SELECT `order`.number FROM `order` ORDER BY `order`.number",
    ),
    (
        "SELECT o.status FROM order AS o JOIN delivery AS d ON d.order_number = o.number",
        "SELECT o.status FROM `order` AS o JOIN delivery AS d ON d.order_number = o.number",
    ),
    ("SELECT name, list price FROM product", "SELECT name, `list price` FROM product"),
    (
        "SELECT product.list price FROM product WHERE list price > 10",
        "SELECT product.`list price` FROM product WHERE `list price` > 10",
    ),
    ("SELECT from FROM product", "SELECT `from` FROM product"),
    # And what else is wrong is mended with it, here along a key.
    (
        "SELECT COUNT(*) FROM order WHERE order_number NOT IN (SELECT order_number FROM delivery)",
        "SELECT COUNT(*) FROM `order` WHERE `order`.number NOT IN (SELECT order_number FROM delivery)",
    ),
    (
        "SELECT day FROM delivery WHERE delivery.number = 1",
        "SELECT day FROM delivery WHERE delivery.order_number = 1",
    ),
]


@pytest.mark.parametrize(("sql", "expected"), QUOTED)
async def test_the_first_mend_has_the_quotes(
    sql: str, expected: str, database: Path, schema: Schema, sandbox: Sandbox
) -> None:
    failed = await sandbox.execute(database, sql)
    assert failed.outcome is Outcome.ERROR
    first, *_ = await mends_of(sql, failed, schema, lookup_in(sandbox, database))
    assert normalised(first.sql) == normalised(expected)
    assert (await sandbox.execute(database, first.sql)).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT status FROM `order` ORDER BY status", "no such column: x"),
        ("SELECT 'list price' FROM product", 'near "x": syntax error'),
        ("SELECT name FROM product ORDER BY name LIMIT", "incomplete input"),
        ("SELECT COUNT(*) FROM order", "another message"),
    ],
)
def test_nothing_is_quoted_that_is_no_bare_name(sql: str, message: str, schema: Schema) -> None:
    assert bare_names(sql, message, schema) == []


@given(st.text(alphabet="selctfromdwhby order list price`'\"(),.*=\n", max_size=60))
def test_quotes_add_nothing_but_quotes(sql: str) -> None:
    schema = Schema.from_spider_tables(
        {
            "db_id": "d",
            "table_names_original": ["order"],
            "table_names": ["order"],
            "column_names_original": [[-1, "*"], [0, "list price"]],
            "column_names": [[-1, "*"], [0, "list price"]],
            "column_types": ["text", "text"],
            "primary_keys": [],
            "foreign_keys": [],
        }
    )
    quoted = with_quotes(sql, bare_names(sql, 'near "order": syntax error', schema))
    assert quoted.replace("`", "").split() == sql.replace("`", "").split()
