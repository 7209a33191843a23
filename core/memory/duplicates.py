"""Near-duplicates among memories, so that a person decides about them together.

Two memories are near-duplicates where they have the same polarity and failure type and

- make the same transition: failed and revised SQL are equal once literals are blanked, and case,
  comments, spacing and closing semicolons are set aside; or
- make the same change in nearly the same query: the tokens that the revision adds and takes away are
  the same, and at least `ALIKE` of the runs of three tokens that either transition has are in both
  (Jaccard similarity). Similarity alone would join a lesson with its reverse.

Question and database do not count: a lesson that ten questions taught is one lesson, and whoever
reviews it sees all ten. A group gathers around its oldest member, and every member is a
near-duplicate of that one, so that no chain of small steps joins what has little in common.

Candidates come from MinHash bands (Broder 1997), so that time grows with the number of memories and
not with its square; a band that a whole library shares is cut to the centres tried first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

ALIKE = 0.8
"""The least similarity of near-duplicates."""

_BANDS, _ROWS = 10, 5
"""A pair of similarity 0.8 shares a band with probability 1 - (1 - 0.8^5)^10 = 0.98, one of 0.4 with
0.10."""
_TRIED = 6
"""Centres of one band that a memory is compared with."""
_LONGEST = 20_000
"""Characters of a SQL text that are looked at."""

_SEEDS = np.random.default_rng(20260901).integers(1, 2**31, size=(2, _BANDS * _ROWS), dtype=np.uint64)
_MASK = (1 << 31) - 1
_PRIME = np.uint64((1 << 31) - 1)

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*(?:'|\Z)|\d[\w.]*|[\"`\[]?\w+[\"`\]]?|[^\s\w]", re.DOTALL
)

Change = tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]
"""Tokens taken away and added, each with how often."""
Band = tuple[int, int, tuple[str, Change]]
Key = tuple[str, tuple[int, ...], tuple[int, ...]]


class Transition(msgspec.Struct, frozen=True):
    """What of a memory counts."""

    id: str
    polarity: str
    failure: str
    failed_sql: str
    revised_sql: str


def groups(transitions: Iterable[Transition]) -> dict[str, str]:
    """The centre of each memory's group, itself where it stands alone; the oldest comes first."""
    grouping = Grouping()
    grouping.add(transitions)
    return grouping.centres


class Grouping:
    """Groups that grow as memories come: what has a group keeps it."""

    def __init__(self) -> None:
        self.centres: dict[str, str] = {}
        """Memory -> centre of its group."""
        self._equal: dict[Key, str] = {}
        self._bands: dict[Band, list[str]] = {}
        self._shingles: dict[str, frozenset[int]] = {}

    def add(self, transitions: Iterable[Transition]) -> None:
        """Take in further memories, oldest first. Those known already are passed over."""
        for transition in transitions:
            if transition.id not in self.centres:
                self.centres[transition.id] = self._centre(transition)

    def _centre(self, transition: Transition) -> str:
        kind = f"{transition.polarity} {transition.failure}"
        before = anonymous(transition.failed_sql)
        after = anonymous(transition.revised_sql)
        key = (kind, before, after)
        change = _change(before, after)
        known = self._equal.get(key)
        if known is not None:
            return known
        shingles = frozenset((*_shingles(1, before), *_shingles(2, after)))
        bands = [(place, band, (kind, change)) for place, band in enumerate(_banded(shingles))]
        centre = self._alike(shingles, bands)
        self._equal[key] = centre or transition.id
        if centre is not None:
            return centre
        self._shingles[transition.id] = shingles
        for band in bands:
            self._bands.setdefault(band, []).append(transition.id)
        return transition.id

    def _alike(self, shingles: frozenset[int], bands: Sequence[Band]) -> str | None:
        """The oldest centre among the most similar ones, where one is similar enough."""
        tried: dict[str, float] = {}
        for band in bands:
            for centre in self._bands.get(band, ())[:_TRIED]:
                if centre not in tried:
                    tried[centre] = similarity(shingles, self._shingles[centre])
        best = max(tried, key=tried.__getitem__, default=None)
        return best if best is not None and tried[best] >= ALIKE else None


def anonymous(sql: str) -> tuple[int, ...]:
    """A number for each token of a SQL text: literals have one and the same, names and keywords are
    told apart without case and quotes, comments and closing semicolons have none."""
    numbers = [number for token in _TOKEN.findall(sql[:_LONGEST]) if (number := _number(token))]
    while numbers and numbers[-1] == _SEMICOLON:
        numbers.pop()
    return tuple(numbers)


def _change(before: tuple[int, ...], after: tuple[int, ...]) -> Change:
    had, has = Counter(before), Counter(after)
    return frozenset((had - has).items()), frozenset((has - had).items())


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """Jaccard: the share of what either has that both have; 1 where both are empty."""
    together = len(one | other)
    return len(one & other) / together if together else 1.0


@lru_cache(maxsize=1 << 16)
def _number(token: str) -> int:
    """0 for what does not count."""
    if token.startswith(("--", "/*")):
        return 0
    literal = token[0] == "'" or token[0].isdigit()
    folded = "?" if literal else token.strip('"`[]').lower() or token
    return crc32(folded.encode("utf-8", "surrogatepass")) or 1


_SEMICOLON = _number(";")


def _shingles(sign: int, tokens: tuple[int, ...]) -> Iterator[int]:
    """Numbers for the runs of three tokens; a shorter text is one run."""
    if len(tokens) < 3:
        yield (sum(tokens) * 31 + sign) & _MASK
    for one, two, three in zip(tokens, tokens[1:], tokens[2:], strict=False):
        yield (((one * 8191 + two) * 8191 + three) * 31 + sign) & _MASK


def _banded(shingles: frozenset[int]) -> list[int]:
    """A number for each band; equal sets have equal numbers, similar ones many."""
    values: NDArray[np.uint64] = np.fromiter(shingles, dtype=np.uint64, count=len(shingles))
    hashed = (values[:, None] * _SEEDS[0] + _SEEDS[1]) % _PRIME
    least = hashed.min(axis=0).reshape(_BANDS, _ROWS)
    return [hash(tuple(row)) for row in least.tolist()]
