"""The events of a stored run by their place, a bounded number of them in memory at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Protocol

from core.run.events import AnyEvent

PAGE = 256
"""Events that are read at a time."""
_PAGES = 8
"""Pages that stay in memory: some 2,000 events, whatever the length of the run."""


class Reel(Protocol):
    """Where the events lie: a store, a file, a list."""

    def __len__(self) -> int:
        """Events there are."""
        ...

    def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
        """The events from place `start` (0 is the first) up to, not including, `stop`. Raises
        MeritoError where they cannot be read."""
        ...


class Listed:
    """Events that are in memory anyway."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self._events = events

    def __len__(self) -> int:
        return len(self._events)

    def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
        """A part of the list."""
        return self._events[start:stop]


class Pages:
    """A reel read page by page; the pages that were used last are kept."""

    def __init__(self, reel: Reel) -> None:
        self._reel = reel
        self._kept: OrderedDict[int, Sequence[AnyEvent]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._reel)

    def __getitem__(self, place: int) -> AnyEvent:
        page, offset = divmod(place, PAGE)
        return self._page(page)[offset]

    def between(self, start: int, stop: int) -> Iterator[AnyEvent]:
        """The events from `start` up to, not including, `stop`."""
        while start < stop:
            page, offset = divmod(start, PAGE)
            found = self._page(page)[offset : offset + stop - start]
            if not found:
                return
            yield from found
            start += len(found)

    def _page(self, number: int) -> Sequence[AnyEvent]:
        page = self._kept.get(number)
        if page is None:
            page = self._reel.read(number * PAGE, min(len(self), (number + 1) * PAGE))
            self._kept[number] = page
            if len(self._kept) > _PAGES:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(number)
        return page
