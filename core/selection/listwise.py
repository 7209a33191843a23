"""Listwise ranking with a sliding window (MAP-SQL, equation 3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

from core.selection.answers import Ranked
from core.selection.selection import RankedWindow, Run

WINDOW = 8
STRIDE = 4


Rank = Callable[[Sequence[int]], Awaitable[Ranked]]
"""Ranks the candidates of one window; places count within it."""


def window_starts(count: int, window: int = WINDOW, stride: int = STRIDE) -> Iterator[int]:
    """Where the windows over `count` candidates begin, from the back to the front."""
    start = max(0, count - window)
    yield start
    while start > 0:
        start = max(0, start - stride)
        yield start


def window_count(count: int, window: int = WINDOW, stride: int = STRIDE) -> int:
    """Calls of one run: 1 + ceil(max(0, n - w) / s)."""
    return 1 + -(-max(0, count - window) // stride)


async def slide(order: Sequence[int], rank: Rank, window: int = WINDOW, stride: int = STRIDE) -> Run:
    """Rank window after window, each updating the order in place before the next one is cut."""
    current = list(order)
    windows = []
    for start in window_starts(len(current), window, stride):
        shown = tuple(current[start : start + window])
        ranked = await rank(shown)
        ranking = tuple(shown[place] for place in ranked.places)
        current[start : start + window] = ranking
        windows.append(RankedWindow(start=start, shown=shown, ranking=ranking, mended=ranked.mended))
    return Run(order=tuple(order), windows=tuple(windows), final=tuple(current))
