"""The mend that is tried next in an episode."""

from __future__ import annotations

from core.database.rows import Outcome, clipped, execution_of
from core.database.sandbox import COMPLETE, DISPLAY
from core.repair.equipment import Equipment
from core.repair.hints import lookup_in
from core.repair.history import History
from core.repair.mends import Mend, mends_of

PATIENCE = 5.0
"""Seconds that a mend may take to show its rows: there may be several, and one of them runs twice."""


async def mend_for_attempt(equipment: Equipment, history: History) -> Mend | None:
    """The first mend of the last attempt that has not been tried, runs, and returns other rows than
    what was called wrong before: whatever else it is, it is no wasted step. None where there is
    none.

    It comes from the SQL, the DBMS's message, the schema and look-ups: nothing here knows gold.
    """
    last = history.last
    result = history.results.get(last.attempt)
    if result is None:
        return None
    database = history.question.database
    path = equipment.folder.path(database)
    look_up = lookup_in(equipment.sandbox, path)
    caps = COMPLETE if equipment.regime.full_rows else DISPLAY
    for mend in await mends_of(last.sql, execution_of(result), equipment.schema(database), look_up):
        if history.repeat_of(mend.sql):
            continue
        tried = await equipment.sandbox.execute(
            path, mend.sql, deadline=min(equipment.settings.deadline, PATIENCE), caps=caps
        )
        known = history.same_rows_as(clipped(tried).digest, before=last.attempt + 1)
        if tried.outcome is Outcome.OK and known is None:
            return mend
    return None
