"""Conditions of joins that are beside the schema's keys, put on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.database.schema import Schema
from core.repair.hints.joins import Meanings
from core.repair.hints.naming import shown
from core.repair.mends.joining import Joining
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp


def mend_conditions(tree: exp.Query, schema: Schema) -> list[str]:
    """Where a join sets two columns equal that no keys tie, although keys lead to its table: join
    along those, over other tables where they lie between; what was changed, a sentence each."""
    meanings = Meanings(schema)
    return [text for scope in Joining.all_of(tree, schema) for text in _conditions(scope, meanings)]


def _conditions(scope: Joining, meanings: Meanings) -> Iterator[str]:
    joins = list(scope.select.args.get("joins") or ())
    names = list(scope.sources)
    if scope.opaque or len(names) != len(joins) + 1:
        return
    kept: list[exp.Join] = []
    for number, join in enumerate(joins, 1):
        before, called = names[:number], names[number]
        if _is_beside_keys(scope, join, meanings) and (steps := _steps(scope, before, called)):
            *between, last = steps
            join.set("on", last.args["on"])
            kept += between
            table = scope.sources[called]
            assert table is not None, "no source is opaque"
            yield f"{shown(table.name)} joins along its keys"
        kept.append(join)
    scope.select.set("joins", kept)


def _is_beside_keys(scope: Joining, join: exp.Join, meanings: Meanings) -> bool:
    """Whether the condition is an equality of two columns that is no step along keys."""
    from sqlglot import exp

    equal = join.args.get("on")
    if not isinstance(equal, exp.EQ):
        return False
    sides = (equal.this, equal.expression)
    if not all(isinstance(side, exp.Column) for side in sides):
        return False
    places = [(fold(table.name), fold(side.name)) for side in sides if (table := scope.owner(side))]
    if len(places) < len(sides):
        return True
    return not meanings.same(places[0], places[1]) and not _namesakes(scope, sides)


def _namesakes(scope: Joining, sides: Sequence[exp.Column]) -> bool:
    """Whether one name is joined with the same: schemas leave keys out, and then names tell. Two
    primary keys that are both called id say nothing."""
    owners = [scope.owner(side) for side in sides]
    keyed = all(
        owner and tuple(map(fold, owner.primary_key)) == (fold(side.name),)
        for owner, side in zip(owners, sides, strict=True)
    )
    return len({fold(side.name) for side in sides}) == 1 and not keyed


def _steps(scope: Joining, before: Sequence[str], called: str) -> list[exp.Join]:
    """The joins that lead from one of the earlier tables to this one; nothing where no keys do, or
    where they lead over a table that is named later."""
    table = scope.sources[called]
    nearest = scope.path_to(table, before) if table else None
    if nearest is None:
        return []
    start, path = nearest
    between = {fold(name) for key in path for name in (key.table, key.to_table)}
    later = [own for name, own in scope.sources.items() if name not in before and name != called]
    if any(own and fold(own.name) in between for own in later):
        return []
    joins, _ = scope.steps(start, path, called)
    return joins
