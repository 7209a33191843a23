"""Schema hints for the failures of an episode."""

from __future__ import annotations

from core.database.rows import execution_of
from core.repair.equipment import Equipment
from core.repair.hints import hints_for, lookup_in
from core.repair.history import History
from core.run.events import Hint


async def new_hints(equipment: Equipment, history: History) -> list[Hint]:
    """Facts that the attempts since the model was last asked call for and that are not known yet.

    They come from the SQL, the DBMS's message, the schema and look-ups in the database: nothing
    here knows gold. An attempt that was not run (a repeat) has nothing new to tell.
    """
    database, found = history.question.database, dict[str, Hint]()
    first = min(history.results, default=0)
    for attempt in history.attempts:
        result = history.results.get(attempt.attempt)
        if attempt.attempt < history.prompted or result is None:
            continue
        hints = await hints_for(
            attempt.sql,
            execution_of(result),
            equipment.schema(database),
            lookup_in(equipment.sandbox, equipment.folder.path(database)),
            question=history.question.text if attempt.attempt == first else "",
            attempt=attempt.attempt,
        )
        for hint in hints:
            found.setdefault(hint.text, hint)
    known = {hint.text for hint in history.hints}
    return [hint for text, hint in found.items() if text not in known]
