"""Two SQL texts side by side, clause by clause, for the eye."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from tui.view.sql_tokens import tokens

_JOINS = frozenset({"join", "left", "right", "full", "cross", "natural", "inner"})
_OPENS = _JOINS | frozenset(
    ("select", "from", "where", "group", "having", "order", "limit", "union", "intersect", "except")
)
_SIDES = (_JOINS | {"outer"}) - {"join"}
_LONGEST = 20_000
_MOST = 400
"""Lines a side that are matched; more are shown as they come."""


class Pair(NamedTuple):
    """A line of the old text and the one beside it; '' where there is none."""

    old: str
    new: str
    same: bool


def aligned(old: str, new: str) -> list[Pair]:
    """The clauses of both texts, those that are alike beside each other. Never raises."""
    before, after = list(clauses(old)), list(clauses(new))
    if max(len(before), len(after)) > _MOST:
        return _beside(before, after)
    matcher = SequenceMatcher(None, _folded(before), _folded(after), autojunk=False)
    pairs: list[Pair] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs += [Pair(a, b, True) for a, b in zip(before[i1:i2], after[j1:j2], strict=True)]
        else:
            pairs += _beside(before[i1:i2], after[j1:j2])
    return pairs


def clauses(sql: str) -> Iterator[str]:
    """A text in lines, one a clause; its own line breaks stay."""
    if len(sql) > _LONGEST:
        yield sql
        return
    start, last = 0, ""
    for token in tokens(sql):
        word = token.text.casefold()
        opens = token.kind == "keyword" and word in _OPENS
        if (opens and not (word == "join" and last in _SIDES)) or "\n" in sql[start : token.start]:
            if piece := sql[start : token.start].strip():
                yield piece
            start = token.start
        last = word
    if piece := sql[start:].strip():
        yield piece


def _beside(before: list[str], after: list[str]) -> list[Pair]:
    count = max(len(before), len(after))
    before, after = before + [""] * (count - len(before)), after + [""] * (count - len(after))
    return [Pair(a, b, False) for a, b in zip(before, after, strict=True)]


def _folded(lines: list[str]) -> list[str]:
    return [" ".join(line.casefold().split()).rstrip("; ") for line in lines]
