"""What the selector's answers say, read tolerantly: whatever comes, a decision or None."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from core.selection.prompts import letter

_BRACKETS = r"\[[ \t]*[A-Za-z]{1,2}[ \t]*\]"
_BARE = r"(?<![A-Za-z0-9_.])[A-Z]{1,2}(?!['.]?[A-Za-z0-9_])"
_GREATER = r"[\s*`]*>[\s*`]*"
_CHAINS = tuple(
    re.compile(rf"(?:{name})(?:{_GREATER}(?:{name}))+") for name in (_BRACKETS, rf"{_BRACKETS}|{_BARE}")
)
"""Rankings as they are asked for, and those whose letters stand bare: the last of the first kind that
is there is the answer, whatever was weighed before it."""
_BRACKETED = re.compile(_BRACKETS)
_ALONE = re.compile(rf"^[\s*`]*(?:{_BRACKETS}|{_BARE})[\s*`.]*$", re.MULTILINE)
_LETTERS = re.compile(_BARE)
_SENTENCE = re.compile(r"[a-z]{2,} +[a-z]{2,}")
"""Two words of small letters after one another: an "A" among them may be an article."""
_NAMED = re.compile(
    r"(?i:\b(?:candidates?|quer(?:y|ies)|options?|answers?|choices?|letters?)[\s*`(\"':]+)\Z"
)
_WORD_FOLLOWS = re.compile(r"[ \t]+[a-z]")
_IN_SENTENCES = frozenset(letter(place) for place in range(32))
"""What can be a letter among words: in capitals "OR" and "IN" are SQL."""
_WORDS = frozenset("AI")
"""Letters that are words, too."""

_NO_SCORE = re.compile(
    r"(?i)\bcandidates?\s*\[?\d+\]?|(?:/|\b(?:out\s+)?of)\s*100\b|\b0\s*(?:to|-)\s*100\b"
)
_AFTER_SCORE = re.compile(r"(?i)\bscored?\b[^\d\n]{0,40}?(-?\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")

_LEAST = 1e-9
"""No word is less probable."""

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
    return _ranked(_chain(answer) or _letters(answer), count)


def read_letter(answer: str, count: int) -> int | None:
    """The place that an answer picks; None where it names none. A ranking picks its first; a letter
    on a line of its own is the answer, whatever was weighed before it."""
    alone = _ALONE.findall(answer)
    ranked = _ranked(_chain(answer) or map(_name, alone[-1:]), count)
    if NO_LETTERS in ranked.mended:
        ranked = _ranked(_letters(answer), count)
    return None if NO_LETTERS in ranked.mended else ranked.places[0]


def read_score(answer: str) -> float | None:
    """A score between 0 and 100; None where the answer holds no number in that range. It is what
    follows the word, or what the answer begins with, or else the last number."""
    text = _NO_SCORE.sub(" ", answer)
    numbers = _NUMBER.findall(text)
    first = _NUMBER.match(text.lstrip(" \n\t*`"))
    preferred = [*_AFTER_SCORE.findall(text)[-1:], *([first[0]] if first else ()), *reversed(numbers)]
    return next((score for score in map(float, preferred) if 0 <= score <= 100), None)


def read_verdict(first: Mapping[str, float]) -> float | None:
    """The probability of yes among yes and no, from the natural logarithms of the probabilities of
    tokens that might have begun the answer; None where neither is among them. One that is missing has
    at most what the others leave, and no more than the least of them."""
    told = {token: math.exp(min(each, 0.0)) for token, each in first.items()}
    yes, no = (_probability_of(word, told) for word in ("yes", "no"))
    if not yes + no:
        return None
    missing = max(_LEAST, min(*told.values(), 1.0 - sum(told.values())))
    return (yes or missing) / ((yes or missing) + (no or missing))


def _probability_of(word: str, told: Mapping[str, float]) -> float:
    """Of a word, however it is written: "yes", " Yes", "**yes"."""
    return sum(each for token, each in told.items() if token.strip(" *`\"'").casefold() == word)


def _ranked(letters: Iterable[str], count: int) -> Ranked:
    known = {letter(place): place for place in range(count)}
    named: dict[int, None] = {}
    repeated, unknown = [], []
    for name in letters:
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


def _chain(answer: str) -> list[str]:
    """The letters of the last ranking; none where there is no ranking."""
    for chain in _CHAINS:
        found = chain.findall(answer)
        if found:
            return [_name(piece) for piece in found[-1].split(">")]
    return []


def _letters(answer: str) -> Iterator[str]:
    """Letters in an answer that ranks nothing, in their order: those in brackets, or else bare ones,
    of which some among words are words themselves."""
    bracketed = _BRACKETED.findall(answer)
    if bracketed:
        yield from map(_name, bracketed)
        return
    among_words = bool(_SENTENCE.search(answer))
    for found in _LETTERS.finditer(answer):
        if not among_words or _stands_for_a_candidate(answer, found):
            yield found[0]


def _stands_for_a_candidate(answer: str, found: re.Match[str]) -> bool:
    if found[0] not in _IN_SENTENCES:
        return False
    is_word = found[0] in _WORDS and _WORD_FOLLOWS.match(answer, found.end())
    return not is_word or bool(_NAMED.search(answer, max(0, found.start() - 40), found.start()))


def _name(said: str) -> str:
    return said.strip("[] \t\n\r*`.").upper()
