"""The difference between two texts token by token: the last resort where SQL does not parse."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import takewhile

from core.sql import tokens

LONGEST_MATCHED = 400
"""Tokens a side that are matched one by one; matching is quadratic, so more is one replacement."""

LONGEST_PIECE = 160
"""Characters of SQL shown in one line of a delta."""


def token_delta(before: str, after: str) -> tuple[str, ...]:
    """One line for each run of tokens that was inserted, removed or replaced. Never raises."""
    old, new = list(tokens(before)), list(tokens(after))
    if not old or not new:
        return _whole(old, new)
    head = _shared(old, new)
    old, new = old[head:], new[head:]
    tail = _shared(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    if max(len(old), len(new)) > LONGEST_MATCHED:
        return (_change(old, new),)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return tuple(
        _change(old[a:b], new[c:d]) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"
    )


def clipped(sql: str) -> str:
    """A piece of SQL cut to what fits a line, with the cut shown."""
    return sql if len(sql) <= LONGEST_PIECE else sql[: LONGEST_PIECE - 1].rstrip() + "…"


def _whole(old: list[str], new: list[str]) -> tuple[str, ...]:
    if not old and not new:
        return ()
    text = clipped(" ".join(new or old))
    return (f"inserted the query {text}" if new else f"removed the query {text}",)


def _shared(old: list[str], new: list[str]) -> int:
    """How many tokens both lists have in common from their start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _change(old: list[str], new: list[str]) -> str:
    was, became = clipped(" ".join(old)), clipped(" ".join(new))
    if not old:
        return f"inserted text {became}"
    if not new:
        return f"removed text {was}"
    return f"replaced text {was} -> {became}"
