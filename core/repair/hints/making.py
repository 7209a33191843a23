"""All hints of one failed query."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from core.database.rows import Execution, printable
from core.database.schema import Schema
from core.repair.hints.failed import Fact, Failed
from core.repair.hints.joins import JOIN_MAKERS
from core.repair.hints.mentions import mentioned_values
from core.repair.hints.names import NAME_MAKERS
from core.repair.hints.values import Lookup, compared_values
from core.run.events import Hint

MOST_HINTS = 8
_BREAKS = re.compile(r"\s*[\n\t]\s*")


async def hints_for(
    sql: str,
    execution: Execution,
    schema: Schema,
    look_up: Lookup | None = None,
    *,
    question: str = "",
    attempt: int = 0,
) -> tuple[Hint, ...]:
    """Facts about a failed query, one sentence each, at most MOST_HINTS, each once.

    They follow from the SQL, what the database answered (`execution`: its message, its rows), the
    schema and what `look_up` finds stored; nothing here takes the gold. Without `look_up` there
    are no hints about values; with a `question`, its words that are stored values come last.
    `attempt` is the number that the hints carry. Raises MeritoError only where `look_up` does,
    because the database itself cannot be used.
    """
    found: dict[str, str] = {}
    failed = Failed(sql, execution, schema)
    async for kind, text in _facts(failed, look_up, question):
        found.setdefault(_BREAKS.sub(" ", printable(text)), kind)
        if len(found) == MOST_HINTS:
            break
    return tuple(Hint(kind=kind, text=text, attempt=attempt) for text, kind in found.items())


async def _facts(failed: Failed, look_up: Lookup | None, question: str) -> AsyncIterator[Fact]:
    for maker in (*NAME_MAKERS, *JOIN_MAKERS):
        for fact in maker(failed):
            yield fact
    if failed.ran and look_up is not None:
        async for fact in compared_values(failed, look_up):
            yield fact
    if question and look_up is not None:
        async for fact in mentioned_values(question, failed.schema, look_up):
            yield fact
