"""What changed between two SQL texts, token by token, for the eye.

The stored delta of a memory is made on the syntax tree; this one needs no parser, so that any
text a model writes can be compared while the screen waits for nothing.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from tui.view.sql_tokens import Token, tokens

_MOST_TOKENS = 600
_MOST_CHARACTERS = 20_000

Kind = Literal["same", "added", "removed", "replaced"]


class Change(NamedTuple):
    """One step from the old text to the new: what it was, and what it became."""

    kind: Kind
    old: str
    new: str
    start: int
    """Where `new` stands in the new text, in characters."""
    end: int


@lru_cache(maxsize=256)
def changes(old: str, new: str) -> tuple[Change, ...]:
    """Every change from `old` to `new` in order, unchanged stretches left out. Keywords and names
    compare without case, as SQL does; very long texts count as replaced whole."""
    if max(len(old), len(new)) > _MOST_CHARACTERS:
        return () if old == new else (Change("replaced", old, new, 0, len(new)),)
    before, after = list(tokens(old)), list(tokens(new))
    if not before:
        return ()
    if max(len(before), len(after)) > _MOST_TOKENS:
        return () if old == new else (Change("replaced", old, new, 0, len(new)),)
    matcher = SequenceMatcher(None, _folded(before), _folded(after), autojunk=False)
    found: list[Change] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        start = after[j1].start if j1 < len(after) else len(new)
        end = after[j2 - 1].end if j2 > j1 else start
        gone = old[before[i1].start : before[i2 - 1].end] if i2 > i1 else ""
        found.append(Change(_KINDS[tag], gone, new[start:end], start, end))
    return tuple(found)


def change_words(change: Change) -> str:
    """A change as a reader says it: `- old`, `+ new`, or `old -> new`."""
    if change.kind == "added":
        return f"+ {change.new}"
    if change.kind == "removed":
        return f"- {change.old}"
    return f"{change.old} -> {change.new}"


def _folded(found: list[Token]) -> list[str]:
    return [
        token.text.casefold() if token.kind in ("word", "keyword") else token.text for token in found
    ]


_KINDS: dict[str, Kind] = {"insert": "added", "delete": "removed", "replace": "replaced"}
