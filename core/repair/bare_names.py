"""Names that need back-quotes and stand in a failed query without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.database.schema import Schema, quoted
from core.sql import fold, spans, tokens

_STUMBLED = re.compile(
    r"near \"(?P<word>.*)\": syntax error|unrecognized token|incomplete input|no such column: ", re.S
)
_BEFORE = """
    select distinct from join update into by on and or not where having when then else as set , . (
    = <> < > <= >= + - * / ||
"""
_BEFORE_NAMES = frozenset(_BEFORE.split())
"""What stands before a name and never before the keyword that is spelt like it."""


class BareName(NamedTuple):
    """A name of the schema and where the query has it without quotes."""

    name: str
    start: int
    end: int


def bare_names(sql: str, message: str, schema: Schema) -> list[BareName]:
    """The places of names that SQL reads as something else where they have no quotes, in the order of
    the text. `message` is what the database said: a reserved word is mostly used as what it is, and
    only where the parser stumbled over it is it a name."""
    stumbled = _STUMBLED.search(message)
    if stumbled is None:
        return []
    words = list(spans(sql))
    found: list[BareName] = []
    for name in _odd_names(schema, fold(stumbled["word"] or "")):
        own = [token.strip("`") for token in tokens(name)]
        after = -1
        for at in range(len(words) - len(own) + 1):
            here = words[at : at + len(own)]
            # Of SELECT from FROM the first is the name; nothing ends with two.
            if [word for word, _, _ in here] == own and at != after and _is_name(words, at, len(own)):
                found.append(BareName(name, here[0][1], here[-1][2]))
                after = at + len(own)
    return list(_apart(found))


def with_quotes(sql: str, bare: list[BareName]) -> str:
    """The query with back-quotes around the names."""
    for name, start, end in reversed(bare):
        ticked = "`" + name.replace("`", "``") + "`"
        sql = f"{sql[:start]}{ticked}{sql[end:]}"
    return sql


def _odd_names(schema: Schema, stumbled: str) -> list[str]:
    """Those that are no plain word, and the one that the parser stumbled over; long ones first."""
    names = {
        name: None
        for table in schema.tables
        for name in (table.name, *(column.name for column in table.columns))
        if (not name.isidentifier() or fold(name) == stumbled) and quoted(name) != name
    }
    return sorted(names, key=lambda name: -len(list(tokens(name))))


def _is_name(words: list[tuple[str, int, int]], at: int, count: int) -> bool:
    if count > 1:
        return True
    before = words[at - 1][0] if at else ""
    after = words[at + 1][0] if at + 1 < len(words) else ""
    return before in _BEFORE_NAMES and after != "by"


def _apart(found: list[BareName]) -> Iterator[BareName]:
    """Without those inside an earlier found, longer one; in the order of the text."""
    taken: list[BareName] = []
    for each in found:
        if all(each.end <= other.start or other.end <= each.start for other in taken):
            taken.append(each)
    return iter(sorted(taken, key=lambda each: each.start))
