"""Memories whose database is no longer what it was when they were learned.

An entry carries the CREATE statements of the tables that its transformation touches. Where the
database has lost one of these tables or columns, declares a column otherwise, or has columns beside
those that were shown whole, the lesson may no longer hold, and a person is asked again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from core.database.schema import Schema, Table
from core.memory.making import created
from core.sql import tokens

_CONSTRAINTS = frozenset({"primary", "foreign", "unique", "check", "constraint"})
_AFTER_TYPE = _CONSTRAINTS | {"not", "null", "default", "references", "collate", "generated", "as"}
_SEEN = re.compile(r"\[schema ([0-9a-f]{8}) seen\]$")


def differences(schema_text: str, schema: Schema) -> tuple[str, ...]:
    """What of the stored statements the database no longer is, one line each; empty where all holds.

    Never raises: a text that declares nothing differs in nothing.
    """
    return tuple(line for name, text in created(schema_text) for line in _of_table(name, text, schema))


def fingerprint(differing: tuple[str, ...]) -> str:
    """Eight hexadecimal digits for what a reviewer was told: other differences are another question."""
    return hashlib.sha256("\n".join(differing).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def with_seen(remark: str, mark: str) -> str:
    """A decision's remark with a note of the differences that the reviewer had seen."""
    return f"{remark} [schema {mark} seen]".strip()


def seen(remark: str) -> str:
    """The note in a remark, or ''."""
    found = _SEEN.search(remark)
    return found[1] if found else ""


def declared(statement: str) -> dict[str, str]:
    """The columns of a CREATE TABLE statement with their declared types, folded."""
    return dict(_columns(list(tokens(statement))))


def _of_table(name: str, text: str, schema: Schema) -> Iterator[str]:
    table = schema.table(name)
    if table is None:
        yield f"table {name} is gone"
        return
    if table.is_view:
        if list(tokens(text.rstrip("; \n"))) != list(tokens(table.sql)):
            yield f"view {name} is another"
        return
    then, now = declared(text), _as_declared(table)
    yield from (f"column {name}.{column} is gone" for column in then if column not in now)
    yield from (
        f"column {name}.{column} is {now[column] or 'untyped'}, it was {kind or 'untyped'}"
        for column, kind in then.items()
        if column in now and now[column] != kind
    )
    if "are left out" not in text:
        yield from (f"column {name}.{column} is new" for column in now if column not in then)


def _as_declared(table: Table) -> dict[str, str]:
    return {
        " ".join(column.name.casefold().split()): " ".join(tokens(column.type))
        for column in table.columns
    }


def _columns(found: list[str]) -> Iterator[tuple[str, str]]:
    """Name and type of each item at the top level of the statement's parentheses."""
    if "(" not in found:
        return
    depth, item = 0, list[str]()
    for token in found[found.index("(") :]:
        depth += (token == "(") - (token == ")")
        if depth == 0 or (depth == 1 and token == ","):
            if item and item[0] not in _CONSTRAINTS:
                yield _name(item[0]), _type(item[1:])
            item = []
            if depth == 0:
                return
        elif not (depth == 1 and token == "("):
            item.append(token)


def _name(token: str) -> str:
    return " ".join(token.strip("\"`'").casefold().split())


def _type(rest: list[str]) -> str:
    end = next((place for place, token in enumerate(rest) if token in _AFTER_TYPE), len(rest))
    return " ".join(rest[:end])
