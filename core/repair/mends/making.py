"""The mends of one failed query."""

from __future__ import annotations

import msgspec

from core.database.rows import Execution, Outcome
from core.database.schema import Schema
from core.errors import MeritoError
from core.repair.bare_names import bare_names, with_quotes
from core.repair.hints.naming import shown
from core.repair.hints.values import Lookup
from core.repair.mends.columns import mend_names
from core.repair.mends.conditions import mend_conditions
from core.repair.mends.joins import without_joins
from core.repair.mends.negations import mend_negations
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
    found: dict[str, Mend] = {}
    try:
        await _find(found, sql, execution, schema, look_up)
    except MeritoError:
        raise
    except Exception:
        # Models write trees of every form: at one that the rules do not expect they end, and what was
        # found before stays.
        pass
    found.pop(normalised(sql), None)
    return tuple(found.values())


async def _find(
    found: dict[str, Mend], sql: str, execution: Execution, schema: Schema, look_up: Lookup
) -> None:
    bare = bare_names(sql, execution.error, schema)
    tree = parsed(with_quotes(sql, bare))
    if tree is None:
        return
    told = [f"{shown(name)} needs its quotes" for name in dict.fromkeys(each.name for each in bare)]
    told += mend_conditions(tree, schema)
    told += mend_names(tree, schema)
    told += await mend_values(tree, schema, look_up)
    turned = tree.copy()
    negated = mend_negations(turned, schema)
    if negated:
        for reduced, why in without_joins(turned, schema):
            _keep(found, written(reduced), [*told, *negated, why])
        _keep(found, written(turned), [*told, *negated])
    if told:
        _keep(found, written(tree), told)
    if told or execution.outcome is Outcome.OK:
        for reduced, why in without_joins(tree, schema):
            _keep(found, written(reduced), [*told, why])


def _keep(found: dict[str, Mend], sql: str, told: list[str]) -> None:
    found.setdefault(normalised(sql), Mend(sql, f"{'; '.join(dict.fromkeys(told))}."))
