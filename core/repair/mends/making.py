"""The mends of one failed query."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from core.database.rows import Execution, Outcome
from core.database.schema import Schema
from core.repair.hints.values import Lookup
from core.repair.mends.columns import mend_names
from core.repair.mends.joins import without_joins
from core.repair.mends.values import mend_values
from core.sql import normalised, parsed, written


class Mend(msgspec.Struct, frozen=True):
    """A failed query as rules rewrite it."""

    sql: str
    why: str
    """What was changed, in one sentence."""


async def mends_of(sql: str, execution: Execution, schema: Schema, look_up: Lookup) -> tuple[Mend, ...]:
    """The failed query with wrong names and values put right; then, where it now runs, without joins
    that it may not need. None of them is the query itself.

    Only the SQL, what the database said (`execution`), the schema and what `look_up` finds stored
    are read. Raises MeritoError only where `look_up` does.
    """
    tree = parsed(sql)
    if tree is None:
        return ()
    found: dict[str, Mend] = {}
    told: list[str] = []
    # A tree of an unusual form may be more than the rules expect; then there is nothing to mend.
    with suppress(AttributeError, KeyError, ValueError, IndexError, AssertionError, StopIteration):
        told = mend_names(tree, schema)
        told += await mend_values(tree, schema, look_up)
        if told:
            _keep(found, written(tree), "; ".join(dict.fromkeys(told)))
        if told or execution.outcome is Outcome.OK:
            for reduced, why in without_joins(tree, schema):
                _keep(found, written(reduced), "; ".join(dict.fromkeys([*told, why])))
    found.pop(normalised(sql), None)
    return tuple(found.values())


def _keep(found: dict[str, Mend], sql: str, why: str) -> None:
    found.setdefault(normalised(sql), Mend(sql, f"{why}."))
