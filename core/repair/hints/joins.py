"""Hints about joins: by which keys, over which tables, and whether at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from core.database.schema import Schema, Table
from core.repair.hints.failed import Fact, Failed
from core.repair.hints.naming import join_sentence, listed, shown
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp

Maker = Callable[[Failed], Iterator[Fact]]
Place = tuple[str, str]
"""A table and one of its columns, both case-folded."""


def path_fact(schema: Schema, start: Table, end: Table) -> Iterator[Fact]:
    """How two tables join along the schema's keys, where they do."""
    path = schema.join_path(start.name, end.name)
    if path:
        yield "join-path", join_sentence(path, start.name, end.name)


def wrong_join(failed: Failed) -> Iterator[Fact]:
    """Tables of a query that ran whose columns it does not set equal along the schema's keys."""
    if not failed.ran or len(failed.tables) < 2:
        return
    meaning = Meanings(failed.schema)
    linked = {fold(failed.tables[0].name)}
    pairs = [pair for pair in _equal_columns(failed) if meaning.same(*pair)]
    for _ in pairs:
        linked |= {place[0] for pair in pairs if linked & {each[0] for each in pair} for place in pair}
    for table in failed.tables[1:]:
        if fold(table.name) not in linked:
            yield from path_fact(failed.schema, failed.tables[0], table)


def one_table(failed: Failed) -> Iterator[Fact]:
    """Where one table of a join has every column that was used, the join may be what is wrong:
    small models join more than they need."""
    if len(failed.tables) < 2:
        return
    used = [
        column for column in failed.columns if not _joins(column) and not failed.is_quoted_text(column)
    ]
    if not used:
        return
    holders = [
        table for table in failed.tables if all(_may_be_of(failed, table, each) for each in used)
    ]
    if len(holders) == 1:
        table = holders[0]
        names = (own.name for column in used if (own := table.column(column.name)))
        yield (
            "one-table",
            f"Every column used so far is in {shown(table.name)} alone:"
            f" {listed(shown(name) for name in names)}. A join may not be needed.",
        )
    elif not holders:
        yield from _namesakes(failed, used)


def _namesakes(failed: Failed, used: Sequence[exp.Column]) -> Iterator[Fact]:
    """A query that takes from two tables what one of them has under the same names. A name that it
    takes from both is meant twice."""
    owners: dict[str, set[str]] = {}
    for column in used:
        owner = failed.owner(column)
        owners.setdefault(fold(column.name), set()).add(owner[0].name if owner else "")
    if len(owners) < 2 or any(len(tables) > 1 for tables in owners.values()):
        return
    for table in failed.tables:
        names = [own.name for name in owners if (own := table.column(name))]
        if len(names) == len(owners):
            several = listed(shown(name) for name in names)
            yield "one-table", f"{shown(table.name)} itself has {several}. A join may not be needed."


def _may_be_of(failed: Failed, table: Table, column: exp.Column) -> bool:
    """A column that the query finds counts for its own table, any other for all that have it."""
    owner = failed.owner(column)
    return owner[0] is table if owner else table.column(column.name) is not None


def _joins(column: exp.Column) -> bool:
    """Whether the column stands in a condition that sets two columns equal."""
    from sqlglot import exp

    parent = column.parent
    if isinstance(parent, exp.EQ):
        return isinstance(parent.this, exp.Column) and isinstance(parent.expression, exp.Column)
    return isinstance(parent, exp.Join | exp.Identifier)


def _equal_columns(failed: Failed) -> Iterator[tuple[Place, Place]]:
    """Pairs of columns that the query sets equal, or looks up in each other's sub-queries."""
    from sqlglot import exp

    for node in failed.tree.find_all(exp.EQ, exp.In) if failed.tree else ():
        right = node.args.get("query") if isinstance(node, exp.In) else node.expression
        if isinstance(right, exp.Subquery):
            right = right.this
        if isinstance(right, exp.Select):
            right = right.selects[0] if right.selects else None
        if isinstance(node.this, exp.Column) and isinstance(right, exp.Column):
            one, other = failed.owner(node.this), failed.owner(right)
            if one and other:
                yield _place(one[0].name, one[1].name), _place(other[0].name, other[1].name)


class Meanings:
    """Which columns mean the same thing: keys, what they refer to, and what refers there too."""

    def __init__(self, schema: Schema) -> None:
        self._leader: dict[Place, Place] = {}
        for key in schema.foreign_keys:
            for here, there in zip(key.columns, key.to_columns, strict=False):
                self._leader[self._find(_place(key.table, here))] = self._find(
                    _place(key.to_table, there)
                )

    def same(self, one: Place, other: Place) -> bool:
        """Whether a chain of foreign keys ties the two columns."""
        return self._find(_place(*one)) == self._find(_place(*other))

    def _find(self, place: Place) -> Place:
        while (leader := self._leader.get(place, place)) != place:
            place = leader
        return place


def _place(table: str, column: str) -> Place:
    return fold(table), fold(column)


JOIN_MAKERS: tuple[Maker, ...] = (one_table, wrong_join)
"""Makers that look at the joins alone."""
