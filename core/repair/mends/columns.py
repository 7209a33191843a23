"""Names that a query's tables do not have, moved to where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.database.schema import Schema, Table
from core.repair.hints.naming import nearest, nearest_columns, nearest_first, shown
from core.repair.mends.joining import Joining, identifier, move
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp

_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
"""Columns that SQLite's tables have without declaring them."""


def mend_names(tree: exp.Query, schema: Schema) -> list[str]:
    """Change unknown tables, and columns that no source has or several have; what was changed, a
    sentence each."""
    told = [text for scope in Joining.all_of(tree, schema) for text in _tables(scope)]
    return told + [text for scope in Joining.all_of(tree, schema) for text in _columns(scope)]


def _tables(scope: Joining) -> Iterator[str]:
    """An unknown table becomes the one whose name is most like it."""
    from sqlglot import exp

    names = [table.name for table in scope.schema.tables]
    for called, node in scope.nodes.items():
        if scope.sources[called] is not None or not isinstance(node, exp.Table):
            continue
        near = list(nearest(node.name, names)) if not scope.is_made(node.name) else []
        if near:
            table = names[near[0]]
            yield f"{shown(node.name)} is no table: {shown(table)} is"
            if not node.alias:
                node.set("alias", exp.TableAlias(this=identifier(node.name)))
            node.set("this", identifier(table))


def _columns(scope: Joining) -> Iterator[str]:
    aliases = {fold(each.alias) for each in scope.select.expressions if each.alias}
    places: dict[tuple[str, str], tuple[str, str]] = {}
    """Where the mentions of one name went: the same one means the same."""
    for column in scope.columns:
        if column.this.meta.get("doubtful") or (not column.table and fold(column.name) in aliases):
            continue
        holders = scope.holders(column.name)
        if not holders and column.name in _ROW_NUMBERS:
            continue
        if not column.table and len(holders) > 1:
            if column.name in scope.merged:
                continue
            column.set("table", identifier(holders[0]))
            yield f"{shown(column.name)} is in several tables: that of {holders[0]} is taken"
        elif not _is_known(scope, column):
            meant = fold(column.table), fold(column.name)
            if meant in places:
                move(column, *places[meant])
            else:
                yield from _moved(scope, column)
                places[meant] = column.table, column.name


def _is_known(scope: Joining | None, column: exp.Column) -> bool:
    """Whether some source has the column, or may have it."""
    called = fold(column.table)
    while scope is not None:
        if called in scope.sources:
            table = scope.sources[called]
            return table is None or table.column(column.name) is not None
        if not called and (scope.opaque or scope.holders(column.name)):
            return True
        scope = scope.outer
    return False


def _moved(scope: Joining, column: exp.Column) -> Iterator[str]:
    """To a source that has it, else to the nearest table that has it, else to the name most like it
    among the sources' own, those of its qualifier first; never to what it is set equal to, and to
    what is selected already only where there is nothing else."""
    was = ".".join(filter(None, (column.table, column.name)))
    equal, selected = _set_equal(column), _selected_beside(scope, column)
    holders = [each for each in scope.holders(column.name) if (each, fold(column.name)) != equal]
    fresh = [each for each in holders if (each, fold(column.name)) not in selected]
    tied = next((each for each in _tied(scope, column) if each != equal), None) if not fresh else None
    if tied is not None:
        table = scope.sources[tied[0]]
        assert table is not None, "only tables hold columns"
        move(column, *tied)
        yield f"{was} is {shown(table.name, tied[1])}"
        return
    owners = _owners(scope, column) if not fresh else []
    reached = (called for owner in owners if (called := scope.reach(owner)) and called not in holders)
    place = next((each for each in (*fresh, next(reached, ""), *holders) if each), None)
    if place is not None:
        table = scope.sources[place]
        assert table is not None, "only tables hold columns"
        move(column, place, column.name)
        yield f"{was} is {shown(table.name, column.name)}"
        return
    own = {table.name: called for called, table in scope.sources.items() if table}
    named = scope.sources.get(fold(column.table))
    if named:
        own[named.name] = fold(column.table)
    first = [named.name] if named else list(own)
    for table, name in nearest_columns(column.name, scope.schema.limited_to(own), first):
        if (own[table.name], fold(name)) != equal:
            move(column, own[table.name], name)
            yield f"{was} is {shown(table.name, name)}"
            return


def _tied(scope: Joining, column: exp.Column) -> Iterator[tuple[str, str]]:
    """What a key ties to the name that was asked for: delivery.order_number refers to order.number, so
    a row of order has its order_number there."""
    asked = fold(column.table)
    for called, table in scope.sources.items():
        if table is None or (asked in scope.sources and asked != called):
            continue
        own = fold(table.name)
        for key in scope.schema.foreign_keys:
            for here, there in zip(map(fold, key.columns), map(fold, key.to_columns), strict=False):
                if (fold(key.to_table), here) == (own, fold(column.name)):
                    yield called, there
                elif (fold(key.table), there) == (own, fold(column.name)):
                    yield called, here


def _selected_beside(scope: Joining, column: exp.Column) -> set[tuple[str, str]]:
    """The other columns of a list of selected ones, where this is one of them."""
    chosen = [each for each in scope.select.expressions if isinstance(each, type(column))]
    if not any(each is column for each in chosen):
        return set()
    return {(fold(each.table), fold(each.name)) for each in chosen if each is not column}


def _set_equal(column: exp.Column) -> tuple[str, str] | None:
    """The column on the other side of an equation, as table and name."""
    from sqlglot import exp

    sides = column.parent.args.values() if isinstance(column.parent, exp.EQ) else ()
    other = next((each for each in sides if each is not column), None)
    return (fold(other.table), fold(other.name)) if isinstance(other, exp.Column) else None


def _owners(scope: Joining, column: exp.Column) -> list[Table]:
    """Tables that have the column, by how many joins lead there; one that the query named as its
    qualifier before all."""
    starts = [table for table in scope.sources.values() if table]
    near = nearest_first(scope.schema, scope.schema.tables_with(column.name), starts)
    return sorted(near, key=lambda owner: fold(owner.name) != fold(column.table))
