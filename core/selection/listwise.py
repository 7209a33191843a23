"""Listwise ranking with a sliding window (MAP-SQL, equation 3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec

from core.selection.answers import Ranked

WINDOW = 8
STRIDE = 4


class RankedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """One call: which candidates it showed, and in which order the answer puts them."""

    start: int
    """Place of the window's first candidate in the order of that moment."""
    shown: tuple[int, ...]
    ranking: tuple[int, ...]
    mended: tuple[str, ...] = ()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One presentation, ranked to its end."""

    order: tuple[int, ...]
    """As presented."""
    windows: tuple[RankedWindow, ...]
    final: tuple[int, ...]

    def renamed(self, order: Sequence[int]) -> Run:
        """The same where candidate i is called `order[i]`."""

        def named(indexes: Sequence[int]) -> tuple[int, ...]:
            return tuple(order[index] for index in indexes)

        windows = [
            msgspec.structs.replace(each, shown=named(each.shown), ranking=named(each.ranking))
            for each in self.windows
        ]
        return Run(order=named(self.order), windows=tuple(windows), final=named(self.final))


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
