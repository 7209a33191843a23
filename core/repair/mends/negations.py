"""'Not' over a join to many rows, made a 'not among': a student who does not own a cat is none whose
pets hold something else beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.database.schema import ForeignKey, Schema, Table
from core.repair.hints.naming import shown
from core.repair.mends.joining import Joining, column_of, identifier
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp


def mend_negations(tree: exp.Query, schema: Schema) -> list[str]:
    """Where a SELECT asks that a column of many joined rows differ from a constant, ask that none of
    them equal it; what was changed, a sentence each."""
    return [text for scope in Joining.all_of(tree, schema) for text in _negations(scope)]


def _negations(scope: Joining) -> Iterator[str]:
    from sqlglot import exp

    called, table = next(iter(scope.sources.items()), ("", None))
    if table is None:
        return
    where = scope.select.args.get("where")
    for node in list(where.find_all(exp.NEQ)) if where else ():
        column, constant = node.this, node.expression
        inside = node.find_ancestor(exp.Select) is scope.select and not node.find_ancestor(exp.Or)
        if not inside or not isinstance(column, exp.Column) or not isinstance(constant, exp.Literal):
            continue
        owner = scope.owner(column)
        path = scope.schema.join_path(table.name, owner.name) if owner else None
        # Only rows that refer to the table are many: what it refers to itself is one.
        refers = path and fold(path[0].to_table) == fold(table.name)
        key = _key_used(scope, table, path[0].table) if path and refers else None
        if owner and key:
            node.replace(_not_among(scope, called, key, owner, node))
            yield f"no {shown(owner.name, column.name)} may be {constant.sql()}"


def _key_used(scope: Joining, table: Table, many: str) -> ForeignKey | None:
    """The key of one column by which rows of `many` refer to the table; of several the one that the
    query joins by."""
    keys = [
        key
        for key in scope.schema.foreign_keys
        if (fold(key.table), fold(key.to_table)) == (fold(many), fold(table.name))
    ]
    if len(keys) > 1:
        mentioned = {column.name for column in scope.columns}
        keys = [key for key in keys if mentioned >= {fold(name) for name in key.columns}]
    return keys[0] if len(keys) == 1 and len(keys[0].columns) == 1 else None


def _not_among(
    scope: Joining, called: str, key: ForeignKey, owner: Table, node: exp.NEQ
) -> exp.Expression:
    """NOT key IN (the keys of those rows that equal the constant)."""
    from sqlglot import exp

    many = scope.schema.table(key.table)
    assert many is not None, "keys join tables of the schema"
    rows = exp.Select().from_(exp.Table(this=identifier(many.name)), copy=False)
    inner = Joining(rows, scope.schema)
    place = inner.reach(owner)
    assert place is not None, "the path goes on from there"
    rows.select(column_of(many.name, key.columns[0]), copy=False)
    rows.where(
        exp.EQ(this=column_of(place, node.this.name), expression=node.expression.copy()), copy=False
    )
    referring = many.column(key.columns[0])
    if referring and not referring.not_null:
        # Nothing is 'not among' rows of which one is NULL.
        known = exp.Not(this=exp.Is(this=column_of(many.name, key.columns[0]), expression=exp.null()))
        rows.where(known, copy=False)
    there = column_of(called, key.to_columns[0])
    return exp.Not(this=exp.In(this=there, query=exp.Subquery(this=rows)))
