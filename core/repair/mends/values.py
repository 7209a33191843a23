"""Texts that a compared column does not hold, replaced by what it holds or moved to where they are."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from core.database.schema import Schema, Table
from core.repair.hints.naming import shown
from core.repair.hints.values import (
    MOST_COMPARISONS,
    Lookup,
    distinct_values,
    holds_value,
    like_stored,
    places_of_value,
    written,
)
from core.repair.mends.joining import Joining, move
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp

SURE = 85.0
"""Similarity in percent from which a stored text is taken for the one that was meant."""
_YES = ("t", "true", "yes", "y", "1")
_NO = ("f", "false", "no", "n", "0")


async def mend_values(tree: exp.Query, schema: Schema, look_up: Lookup) -> list[str]:
    """Change compared texts, or the columns that they are compared with; what was changed, a sentence
    each."""
    told: list[str] = []
    for scope in Joining.all_of(tree, schema):
        for column, text in list(_comparisons(scope))[:MOST_COMPARISONS]:
            told += [each async for each in _mended(scope, column, text, look_up)]
    return told


def _comparisons(scope: Joining) -> Iterator[tuple[exp.Column, exp.Expression]]:
    """Columns and the text that each is set equal to, or unequal."""
    from sqlglot import exp

    for column in scope.columns:
        node = column.parent
        if isinstance(node, exp.In) and node.this is column:
            yield from ((column, each) for each in node.expressions if _text(each) is not None)
        elif isinstance(node, exp.EQ | exp.NEQ | exp.Like):
            other = node.expression if node.this is column else node.this
            if _text(other) is not None and _text(column) is None:
                yield column, other


def _text(node: exp.Expression) -> str | None:
    """A text constant, or a name in double quotes that SQLite may read as one."""
    from sqlglot import exp

    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.name)
    if isinstance(node, exp.Column) and node.this.meta.get("doubtful"):
        return str(node.name)
    return None


async def _mended(
    scope: Joining, column: exp.Column, node: exp.Expression, look_up: Lookup
) -> AsyncIterator[str]:
    from sqlglot import exp

    table = scope.owner(column)
    own = table.column(column.name) if table else None
    text, like = _text(node) or "", isinstance(node.parent, exp.Like)
    value = text.strip("%") if like else text
    if table is None or own is None or not value or (like and re.search("[%_]", value)):
        return
    if await holds_value(table, own, text, look_up, operator="LIKE" if like else "="):
        return
    place = shown(table.name, own.name)
    held = [each for each in await distinct_values(table, own, look_up) if isinstance(each, str)]
    stored = _same_word(value, held) or next(iter(like_stored(value, held, 100.0)), None)
    if stored is None:
        async for told in _moved(scope, column, node, value, look_up):
            yield told
            return
        near = like_stored(value, held, SURE)
        stored = next((each for each in near if _digits(each) == _digits(value)), None)
    if stored is not None:
        yield f"{place} has {written(stored)}, not {written(value)}"
        node.replace(exp.Literal.string(text.replace(value, stored) if like else stored))


def _digits(text: str) -> list[str]:
    """Another number or date is another thing, however like it is."""
    return re.findall(r"\d", text)


def _same_word(value: str, held: list[str]) -> str | None:
    """The stored yes or no that the value means, in a column of such words alone."""
    if not held or not {each.casefold() for each in held} <= {*_YES, *_NO}:
        return None
    words = next((group for group in (_YES, _NO) if value.casefold() in group), ())
    return next((each for each in held if each.casefold() in words), None)


async def _moved(
    scope: Joining, column: exp.Column, node: exp.Expression, value: str, look_up: Lookup
) -> AsyncIterator[str]:
    """The comparison with the column that holds the value, its table joined where it was not."""
    from sqlglot import exp

    table = scope.owner(column)
    assert table is not None, "a compared column has its table"
    if await _holds_others(table, column, node, look_up):
        return
    was = shown(table.name, column.name)
    for holder, name, stored in await _holders(scope, table, column.name, value, look_up):
        called = _reached(scope, table, column, holder)
        if called:
            move(column, called, name)
            node.replace(exp.Literal.string(stored))
            yield f"{written(stored)} is in {shown(holder.name, name)}, not in {was}"
            return


async def _holds_others(
    table: Table, column: exp.Column, node: exp.Expression, look_up: Lookup
) -> bool:
    """Whether the column holds another text of the list that the comparison is part of."""
    from sqlglot import exp

    own = table.column(column.name)
    if own is None or not isinstance(node.parent, exp.In):
        return False
    others = [text for each in node.parent.expressions if each is not node and (text := _text(each))]
    for text in others[:MOST_COMPARISONS]:
        if await holds_value(table, own, text, look_up):
            return True
    return False


def _reached(scope: Joining, table: Table, column: exp.Column, holder: Table) -> str | None:
    """What the holder is called, joined by the compared key where it is one of several that refer to
    it, or refers to the table of its own."""
    keys = [key for key in table.foreign_keys if fold(key.to_table) == fold(holder.name)]
    compared = [key for key in keys if [fold(name) for name in key.columns] == [column.name]]
    if not compared or (len(keys) < 2 and holder.name != table.name):
        return scope.reach(holder)
    called = column.table or scope.holders(column.name)[0]
    return scope.refer(called, compared[0]) if called in scope.sources else None


async def _holders(
    scope: Joining, table: Table, column: str, value: str, look_up: Lookup
) -> list[tuple[Table, str, str]]:
    """Columns that hold the value in any case: of the table that the compared key refers to, then of
    the query's tables, then of others."""
    referred = {
        fold(key.to_table)
        for key in table.foreign_keys
        if fold(column) in (fold(own) for own in key.columns)
    }
    named = {fold(own.name) for own in scope.sources.values() if own}

    def rank(found: tuple[Table, str, str]) -> int:
        name = fold(found[0].name)
        return 0 if name in referred else 1 if name in named else 2

    return sorted(await places_of_value(scope.schema.tables, value, look_up), key=rank)
