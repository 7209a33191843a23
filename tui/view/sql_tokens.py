"""SQL cut into tokens, for colour and for differences.

A few lines and no grammar: whatever a model writes has tokens, also when no parser takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<string>'(?:[^']|'')*'?)"""
    r"""|(?P<quoted>"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]\n]*\]?)"""
    r"""|(?P<number>\d+(?:\.\d+)?)"""
    r"""|(?P<word>\w+)"""
    r"""|(?P<sign><=|>=|<>|!=|\|\||==|\S)""",
    re.DOTALL,
)

_KEYWORDS = """
    abs all and as asc avg between by case cast coalesce collate count cross date datetime
    desc distinct else end except exists from full glob group having ifnull iif in inner instr intersect
    is isnull join julianday left length like limit lower max min natural not notnull null nullif offset
    on or order outer over partition replace right round rows row_number select strftime substr sum then
    trim union upper using values when where with recursive"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words that are set apart on screen: SQLite's keywords of queries and its commonest functions."""

Kind = Literal["comment", "string", "quoted", "number", "word", "sign", "keyword"]


class Token(NamedTuple):
    """A token and where it stands, in characters."""

    start: int
    end: int
    text: str
    kind: Kind


def tokens(sql: str) -> Iterator[Token]:
    """The tokens of a text in order; quoted texts and comments stay whole."""
    for match in _TOKEN.finditer(sql):
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        text = match.group()
        if kind == "word" and text.casefold() in KEYWORDS:
            kind = "keyword"
        yield Token(match.start(), match.end(), text, kind)
