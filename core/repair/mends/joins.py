"""Joins that a query may not need, left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from core.database.schema import Schema
from core.repair.hints.naming import shown
from core.repair.mends.joining import Joining, move
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp

MOST_REDUCED = 8
"""Each is a copy of the whole query, and an execution: a UNION of a hundred would take a minute."""


def without_joins(tree: exp.Query, schema: Schema) -> Iterator[tuple[exp.Query, str]]:
    """The query with one SELECT over a single table of its own, for every table that has all the
    columns used there under the same names; those that own the columns used come first. The tree
    itself stays as it is."""
    alone = (
        (number, called)
        for number, scope in enumerate(Joining.all_of(tree, schema))
        for called in _alone(scope)
    )
    for number, called in islice(alone, MOST_REDUCED):
        copy = tree.copy()
        text = _reduced(Joining.all_of(copy, schema)[number], called)
        yield copy, text


def _alone(scope: Joining) -> list[str]:
    """What the tables are called that could stand alone."""
    from sqlglot import exp

    if not scope.select.args.get("joins") or len(scope.sources) < 2 or scope.opaque:
        return []
    if len({table.name for table in scope.sources.values() if table}) < len(scope.sources):
        return []  # A table that is joined with itself is meant twice.
    used = _used(scope)
    names = {column.name for column in used}
    qualified = {(column.table, column.name) for column in used if column.table}
    if not names or len(qualified) > len({name for _, name in qualified}):
        return []
    stars = {
        fold(each.table)
        for each in scope.select.expressions
        if isinstance(each, exp.Column) and each.is_star
    }
    able = [
        called
        for called, table in scope.sources.items()
        if table and all(table.column(name) for name in names) and stars <= {called}
    ]
    owned = {fold(column.table) for column in used if column.table}
    return sorted(able, key=lambda called: owned != {called})


def _used(scope: Joining) -> list[exp.Column]:
    """Columns outside the conditions of joins."""
    from sqlglot import exp

    inside = {
        id(each) for join in scope.select.args.get("joins", ()) for each in join.find_all(exp.Column)
    }
    return [column for column in scope.columns if id(column) not in inside]


def _reduced(scope: Joining, called: str) -> str:
    table = scope.sources[called]
    assert table is not None, "only tables stand alone"
    source = scope.nodes[called].copy()
    for column in _used(scope):
        move(column, called, column.name)
    scope.select.set("joins", None)
    scope.select.from_(source, copy=False)
    return f"{shown(table.name)} alone has all columns that are used"
