"""Pairing the parts of two clauses: what left, what came, what took whose place, what moved."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from core.sql import tokens

ALIKE = 0.4
"""The least share of common tokens with which a removed and an inserted part are one replacement."""

MOST_PAIRED = 24
"""Parts a side that are compared with each other; more are listed as removed and inserted."""


class Text(Protocol):
    """Anything that is compared by its text."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=Text)


def without(parts: Iterable[T], others: Iterable[Text]) -> list[T]:
    """The parts that have no twin among `others`; each of these is twin to one part at most."""
    spare = Counter(part.text for part in others)
    left = []
    for part in parts:
        if spare[part.text]:
            spare[part.text] -= 1
        else:
            left.append(part)
    return left


def take_shared(removed: list[T], inserted: list[T]) -> list[T]:
    """Parts that are in both lists, taken out of both."""
    left = without(removed, inserted)
    if len(left) == len(removed):
        return []
    both = without(removed, left)
    inserted[:] = without(inserted, both)
    removed[:] = left
    return both


def pairs(removed: Sequence[T], inserted: Sequence[T], *, loose: bool) -> list[tuple[T, T]]:
    """Each removed part with the inserted one that is most like it. `loose` pairs what is left in
    order of place: another column in the same clause is a replacement even if nothing is alike."""
    if max(len(removed), len(inserted)) > MOST_PAIRED:
        return []
    bags = {id(part): Counter(tokens(part.text)) for part in (*removed, *inserted)}
    scored = sorted(
        (-_likeness(bags[id(was)], bags[id(became)]), i, j)
        for i, was in enumerate(removed)
        for j, became in enumerate(inserted)
    )
    mates: dict[int, int] = {}
    for likeness, i, j in scored:
        if -likeness >= ALIKE and i not in mates and j not in mates.values():
            mates[i] = j
    if loose:
        spare = [j for j in range(len(inserted)) if j not in mates.values()]
        mates |= dict(zip((i for i in range(len(removed)) if i not in mates), spare, strict=False))
    return [(removed[i], inserted[j]) for i, j in sorted(mates.items())]


def moves(old: Sequence[Text], new: Sequence[Text]) -> Iterator[tuple[str, int, int]]:
    """The fewest parts that must move to turn one order into the other: text, place before and
    place after, from 1. Both sequences hold the same parts."""
    places: dict[str, list[int]] = {}
    for index, part in enumerate(old):
        places.setdefault(part.text, []).append(index)
    came_from = [places[part.text].pop(0) for part in new]
    staying = _longest_rising(came_from)
    for index, origin in enumerate(came_from):
        if origin not in staying:
            yield new[index].text, origin + 1, index + 1


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    return (old & new).total() / max(1, (old | new).total())


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """The numbers of a longest rising subsequence."""
    tops: list[int] = []
    before: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(tops, number)
        before[number] = tops[at - 1] if at else None
        tops[at : at + 1] = [number]
    rising: set[int] = set()
    last = tops[-1] if tops else None
    while last is not None:
        rising.add(last)
        last = before[last]
    return rising
