"""What a revision changed, said in short lines (merit.md, "Memory entry": the delta)."""

from __future__ import annotations

from functools import lru_cache

from core.memory.token_delta import token_delta
from core.sql import normalised, parsed

WIDEST = 400
"""Characters of a line: deep nesting repeats where it is."""

LONGEST = 40
"""Lines; a revision that changes more is another query, and the rest is counted."""


@lru_cache(maxsize=1024)
def delta(before: str, after: str) -> tuple[str, ...]:
    """What `after` inserted, removed, moved or replaced, one readable change a line.

    Empty where both are the same query. Deterministic, in time that grows with the lengths of the
    texts; never raises. Where a text does not parse, the lines tell which tokens changed.
    """
    if normalised(before) == normalised(after):
        return ()
    lines = _by_clauses(before, after) or token_delta(before, after)
    lines = tuple(line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines)
    if len(lines) > LONGEST:
        return (*lines[: LONGEST - 1], f"and {len(lines) - LONGEST + 1} more changes")
    return lines


def _by_clauses(before: str, after: str) -> tuple[str, ...]:
    """The lines from both trees; none where there is no pair of trees or they cannot be compared."""
    old, new = parsed(before), parsed(after)
    if old is None or new is None:
        return ()
    from core.memory.clause_delta import compared

    try:
        return compared(old, new)
    except Exception:
        # Hostile SQL reaches corners of the library that no test foresees; a token delta always works.
        return ()
