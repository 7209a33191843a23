"""What the selector's answers say, read tolerantly: whatever comes, a decision or None."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from core.selection.prompts import letter

_BRACKETED = re.compile(r"\[\s*([A-Za-z]{1,2})\s*\]")
_BARE = re.compile(r"(?<![A-Za-z])([A-Z]{1,2})(?![A-Za-z'])")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_SENTENCE = re.compile(r"[a-z]{2,} +[a-z]{2,}")
"""Two words of small letters after one another: an "A" among them may be an article."""

NO_LETTERS, REPEATED, UNKNOWN, MISSING = "no letters", "repeated", "unknown", "missing"


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """A window's ranking: a permutation of its places, whatever the answer said."""

    places: tuple[int, ...]
    mended: tuple[str, ...] = ()
    """What had to be mended, each as "kind: letters"."""


def read_ranking(answer: str, count: int) -> Ranked:
    """The order that an answer like `[A] > [B]` gives to `count` places.

    Missing letters keep their order behind the named ones; repeated and unknown ones are dropped.
    """
    known = {letter(place): place for place in range(count)}
    named: dict[int, None] = {}
    repeated, unknown = [], []
    for name in _letters(answer):
        if name not in known:
            unknown.append(name)
        elif known[name] in named:
            repeated.append(name)
        else:
            named[known[name]] = None
    missing = [place for place in range(count) if place not in named]
    mended = {
        REPEATED: repeated,
        UNKNOWN: unknown,
        MISSING: [letter(place) for place in missing] if named else [],
    }
    said = [f"{kind}: {', '.join(letters[:8])}" for kind, letters in mended.items() if letters]
    return Ranked(places=(*named, *missing), mended=tuple(said if named else [NO_LETTERS, *said]))


def read_letter(answer: str, count: int) -> int | None:
    """The first place that an answer names; None where it names none."""
    ranked = read_ranking(answer, count)
    return None if NO_LETTERS in ranked.mended else ranked.places[0]


def read_score(answer: str) -> float | None:
    """A score between 0 and 100; None where the answer holds no number in that range."""
    for found in _NUMBER.finditer(answer):
        score = float(found[0])
        if 0 <= score <= 100:
            return score
    return None


def _letters(answer: str) -> Iterator[str]:
    bracketed = _BRACKETED.findall(answer)
    if bracketed:
        yield from (name.upper() for name in bracketed)
    elif not _SENTENCE.search(answer):
        yield from _BARE.findall(answer)
