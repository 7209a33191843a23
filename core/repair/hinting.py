"""Schema hints for the newest failure of an episode."""

from __future__ import annotations

from core.database.rows import Execution
from core.repair.equipment import Equipment
from core.repair.hints import hints_for, lookup_in
from core.repair.history import History
from core.run.events import Hint


async def hints_for_attempt(equipment: Equipment, history: History) -> list[Hint]:
    """Facts that the last attempt's failure asks for and that are not known yet.

    They come from its SQL, the DBMS's message, the schema and look-ups in the database: nothing
    here knows gold. An attempt that was not run (a repeat) has nothing new to tell.
    """
    last = history.last
    result = history.results.get(last.attempt)
    if result is None:
        return []
    database = history.question.database
    found = await hints_for(
        last.sql,
        Execution(outcome=result.outcome, columns=result.columns, rows=result.rows, error=result.error),
        equipment.schema(database),
        lookup_in(equipment.sandbox, equipment.folder.path(database)),
        question=history.question.text if last.attempt == 0 else "",
        attempt=last.attempt,
    )
    known = {hint.text for hint in history.hints}
    return [hint for hint in found if hint.text not in known]
