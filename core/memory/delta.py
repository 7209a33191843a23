"""What a revision changed, said in short lines (merit.md, "Memory entry": the delta)."""

from __future__ import annotations

from functools import lru_cache

from core.memory.token_delta import token_delta
from core.sql import normalised


@lru_cache(maxsize=1024)
def delta(before: str, after: str) -> tuple[str, ...]:
    """What `after` inserted, removed, moved or replaced, one readable change a line.

    Empty where both are the same query. Deterministic; never raises.
    """
    if normalised(before) == normalised(after):
        return ()
    return token_delta(before, after)
