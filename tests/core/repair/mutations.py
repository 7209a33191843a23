"""Wrong names made from gold queries, each with the column or table that was meant.

The gold serves to make failures and to check the hints. The hints are never shown it.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sqlglot import exp

from core.database.rows import Execution, Outcome
from core.database.schema import Schema, Table
from core.sql import parsed


class Mutant(NamedTuple):
    """A query that fails by a name, and the database's own message."""

    kind: str
    sql: str
    execution: Execution
    schema: Schema
    owner: str
    """The table that has what was meant, or the table that was meant."""
    name: str
    """The column that was meant, or nothing."""


def schemas(spider: Path) -> dict[str, Schema]:
    """Every schema of the copies, dev and train."""
    records = [
        record
        for file in ("tables.json", "train_tables.json")
        for record in json.loads((spider / file).read_text("utf-8"))
    ]
    every = [Schema.from_spider_tables(record) for record in records]
    return {
        schema.database: schema.limited_to(
            table.name for table in schema.tables if not table.name.startswith("sqlite_")
        )
        for schema in every
    }


def gold_queries(spider: Path) -> dict[str, list[str]]:
    """Gold SQL by database, dev and train."""
    found: dict[str, list[str]] = {}
    for file in ("dev.json", "train_spider.json"):
        for record in json.loads((spider / file).read_text("utf-8")):
            found.setdefault(record["db_id"], []).append(record["query"])
    return found


def mutants(schema: Schema, golds: list[str], *, queries: int, seed: int = 0) -> Iterator[Mutant]:
    """Failures of each kind from some of the gold queries, those that SQLite does refuse."""
    draw = random.Random(f"{schema.database}-{seed}")
    connection = sqlite3.connect(":memory:")
    for table in schema.tables:
        connection.execute(table.sql)
    for gold in draw.sample(golds, min(queries, len(golds))):
        for kind, sql, owner, name in _changed(schema, gold, draw):
            message = _message(connection, sql)
            if message.startswith(_REFUSALS[kind]):
                execution = Execution(outcome=Outcome.ERROR, error=message)
                yield Mutant(kind, sql, execution, schema, owner, name)
    connection.close()


_REFUSALS = {
    "another table's column": "no such column",
    "misspelt column": "no such column",
    "wrong alias": "no such column",
    "no alias": "ambiguous column name",
    "misspelt table": "no such table",
}


def _message(connection: sqlite3.Connection, sql: str) -> str:
    try:
        connection.execute(sql)
    except sqlite3.Error as error:
        return str(error)
    return ""


def _changed(schema: Schema, gold: str, draw: random.Random) -> Iterator[tuple[str, str, str, str]]:
    tree = parsed(gold)
    if tree is None:
        return
    for column in list(tree.find_all(exp.Column)):
        if column.this.meta.get("doubtful") and not schema.tables_with(column.name):
            column.replace(exp.Literal.string(column.name))
    places = {
        table.alias or table.name: own
        for table in tree.find_all(exp.Table)
        if (own := schema.table(table.name))
    }
    mentions = [column for column in tree.find_all(exp.Column) if _owner(places, column)]
    if mentions:
        column = draw.choice(mentions)
        owner = _owner(places, column)
        assert owner is not None
        yield from _column_changes(schema, tree, column, owner, places, draw)
    table = draw.choice(list(tree.find_all(exp.Table)))
    real = table.name
    wrong = misspelt(real, draw)
    if schema.table(wrong) is None and schema.table(real):
        table.this.set("this", wrong)
        yield "misspelt table", _text(tree), real, ""
        table.this.set("this", real)


def _column_changes(
    schema: Schema,
    tree: exp.Query,
    column: exp.Column,
    owner: Table,
    places: dict[str, Table],
    draw: random.Random,
) -> Iterator[tuple[str, str, str, str]]:
    right = owner.column(column.name)
    assert right is not None

    def with_column(name: str, qualifier: str = column.table) -> str:
        kept_name, kept_table = column.this.copy(), column.args.get("table")
        column.set("this", exp.to_identifier(name))
        column.set("table", exp.to_identifier(qualifier) if qualifier else None)
        text = _text(tree)
        column.set("this", kept_name)
        column.set("table", kept_table)
        return text

    others = [
        (table, each.name)
        for table in schema.tables
        if table.name not in {place.name for place in places.values()}
        for each in table.columns
    ]
    if others:
        table, name = draw.choice(others)
        yield "another table's column", with_column(name), table.name, name
    wrong = misspelt(right.name, draw)
    if not schema.tables_with(wrong):
        yield "misspelt column", with_column(wrong), owner.name, right.name
    if column.table:
        yield "no alias", with_column(right.name, ""), owner.name, right.name
        for alias, table in places.items():
            if table.column(right.name) is None:
                yield "wrong alias", with_column(right.name, alias), owner.name, right.name
                break


def _owner(places: dict[str, Table], column: exp.Column) -> Table | None:
    if column.table:
        place = places.get(column.table)
        return place if place and place.column(column.name) else None
    owners = [place for place in places.values() if place.column(column.name)]
    return owners[0] if len({owner.name for owner in owners}) == 1 else None


def misspelt(name: str, draw: random.Random) -> str:
    """The name with one slip of the hand: a letter doubled, dropped, changed, or two exchanged."""
    place = draw.randrange(len(name) - 1) if len(name) > 1 else 0
    slips = [
        name[:place] + name[place] + name[place:],
        name[:place] + draw.choice("qxz") + name[place + 1 :],
    ]
    if len(name) > 3:
        slips.append(name[:place] + name[place + 1 :])
        slips.append(name[:place] + name[place + 1] + name[place] + name[place + 2 :])
    return draw.choice(slips)


def _text(tree: exp.Query) -> str:
    return tree.sql(dialect="sqlite", identify=True).replace('"', "`")
