"""Which of a database's names fit where somebody is typing SQL. Plain Python, no grammar: half-typed
SQL has tokens, also where no parser takes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.database.schema import Schema, Table, quoted
from tui.view.sql_tokens import KEYWORDS, Token, tokens

_BEGUN = re.compile(r"""(?:"(?:[^"]|"")*|`[^`]*|\[[^\]]*|[^\W\d]\w*|\w*)\Z""")
_NAMES_TABLES = frozenset({"from", "join"})
_ENDS_TABLES = frozenset(
    {"where", "group", "order", "limit", "having", "union", "intersect", "except", "select", "on"}
)
_MOST = 40
_KEYWORD = "SQL"


class Candidate(NamedTuple):
    """A name that could stand at the cursor."""

    text: str
    """As SQL writes it, in quotes where it needs them."""
    about: str
    """Where it belongs, in a word or two."""


class Completing(NamedTuple):
    """What could replace the text from `start` to the cursor."""

    start: int
    candidates: tuple[Candidate, ...] = ()


def completions(schema: Schema, sql: str, cursor: int) -> Completing:
    """The names that fit at character `cursor`: after `alias.` the columns of what it stands for,
    after FROM and JOIN the tables, elsewhere columns (those of the query's tables first), tables and
    keywords that begin as the text before the cursor does."""
    before = sql[:cursor]
    if _inside_text(before):
        return Completing(cursor)
    match = _BEGUN.search(before)
    assert match is not None, "the pattern matches nothing at the end, too"
    start, begun = match.start(), match.group()
    known = list(tokens(before[:start]))
    used = _tables_used(schema, sql)
    if known and known[-1].text == "." and known[-1].end == start:
        owner = known[-2].text if len(known) > 1 else ""
        found = _columns_of(schema, used, owner)
    elif _wants_table(known):
        found = _tables(schema)
    elif not begun:
        return Completing(cursor)
    else:
        found = _anything(schema, used)
    return Completing(start, _fitting(found, begun))


def _fitting(found: Iterator[Candidate], begun: str) -> tuple[Candidate, ...]:
    """Those that begin as typed, then those that hold it; a name that is complete offers nothing."""
    wanted = bare(begun).casefold()
    first: dict[Candidate, None] = {}
    later: dict[Candidate, None] = {}
    in_quotes = begun[:1] in ('"', "`", "[")
    for each in found:
        if in_quotes and each.about == _KEYWORD:
            continue
        name = bare(each.text).casefold()
        if name.startswith(wanted):
            first.setdefault(each)
        elif len(wanted) > 1 and wanted in name:
            later.setdefault(each)
    chosen = [*first, *later][:_MOST]
    return () if [each.text for each in chosen] == [begun] else tuple(chosen)


def bare(name: str) -> str:
    """A name without its quotes; also one whose closing quote is still to come."""
    if name[:1] == '"':
        return name[1:].removesuffix('"').replace('""', '"')
    if name[:1] in ("`", "["):
        return name[1:].rstrip("`]")
    return name


def _inside_text(before: str) -> bool:
    """Whether the cursor stands in a literal or a comment."""
    last = None
    for last in tokens(before):  # noqa: B007 - only the last one counts
        pass
    if last is None or last.end < len(before):
        return False
    if last.kind == "string":
        return len(last.text) == 1 or not last.text.endswith("'") or last.text.count("'") % 2 == 1
    closed = last.text.startswith("/*") and last.text.endswith("*/") and len(last.text) > 3
    return last.kind == "comment" and not closed


def _wants_table(known: Sequence[Token]) -> bool:
    """Whether a table's name comes next: after FROM and JOIN, and after a comma behind them."""
    if not known:
        return False
    last = known[-1].text.casefold()
    if last in _NAMES_TABLES:
        return True
    if last != ",":
        return False
    depth = 0
    for token in reversed(known[:-1]):
        depth += (token.text == ")") - (token.text == "(")
        if depth < 0:
            return False
        word = token.text.casefold()
        if depth == 0 and word in _NAMES_TABLES:
            return True
        if depth == 0 and word in _ENDS_TABLES:
            return False
    return False


def _tables_used(schema: Schema, sql: str) -> dict[str, Table]:
    """Alias or name -> table, for everything that the text reads."""
    used: dict[str, Table] = {}
    words = [token for token in tokens(sql) if token.kind != "comment"]
    for index, token in enumerate(words):
        table = schema.table(bare(token.text)) if _may_be_name(token) else None
        before = words[index - 1].text.casefold() if index else ""
        if table is None or before not in (*_NAMES_TABLES, ","):
            continue
        used.setdefault(table.name.casefold(), table)
        rest = words[index + 1 : index + 3]
        if rest and rest[0].text.casefold() == "as":
            rest = rest[1:]
        if rest and _may_be_name(rest[0]):
            used.setdefault(bare(rest[0].text).casefold(), table)
    return used


def _may_be_name(token: Token) -> bool:
    return token.kind in ("word", "quoted")


def _columns_of(schema: Schema, used: dict[str, Table], owner: str) -> Iterator[Candidate]:
    name = bare(owner)
    table = used.get(name.casefold()) or schema.table(name)
    if table is not None:
        yield from _columns(table)


def _columns(table: Table) -> Iterator[Candidate]:
    for column in table.columns:
        kind = f" {column.type.lower()}" if column.type else ""
        yield Candidate(quoted(column.name), f"{table.name}{kind}")


def _tables(schema: Schema) -> Iterator[Candidate]:
    for table in schema.tables:
        yield Candidate(quoted(table.name), "view" if table.is_view else "table")


def _anything(schema: Schema, used: dict[str, Table]) -> Iterator[Candidate]:
    mine = list({table.name: table for table in used.values()}.values())
    for table in mine:
        yield from _columns(table)
    for alias, table in used.items():
        if alias != table.name.casefold():
            yield Candidate(quoted(alias), f"stands for {table.name}")
    yield from _tables(schema)
    for table in schema.tables:
        if table not in mine:
            yield from _columns(table)
    for word in sorted(KEYWORDS):
        yield Candidate(word.upper(), _KEYWORD)
