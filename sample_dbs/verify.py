"""Is a gold query sound: does it run, find rows, and mean one result only?"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from sqlglot import exp, parse_one

Rows = list[tuple[object, ...]]
DECIMALS = 4


def mirrored(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory whose rows lie the other way round, without keys or indexes.

    Whatever SQL leaves open (rows that no ORDER BY orders, a bare column beside an aggregate)
    comes out otherwise here; what a query asks for stays the same.
    """
    copy = sqlite3.connect(":memory:")
    listing = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type"
    for kind, name, sql in connection.execute(listing).fetchall():
        if kind == "view":
            copy.execute(sql)
        if kind != "table":
            continue
        fields = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        declared = ", ".join(f'"{field[1]}" {field[2]}' for field in fields)
        copy.execute(f'CREATE TABLE "{name}" ({declared})')
        rows = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid DESC').fetchall()
        copy.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(fields))})', rows)
    return copy


def faults(
    connection: sqlite3.Connection,
    mirror: sqlite3.Connection,
    query: str,
    *,
    may_be_empty: bool = False,
) -> Iterator[str]:
    """What is wrong with a gold query, one sentence each; nothing where it is sound.

    A result is ambiguous when `mirror`, from `mirrored(connection)`, gives another one, or when
    an ORDER BY has a tie between rows that differ. A gold query also has no DISTINCT, which
    Spider's published evaluator drops from both queries, so that every way to ask for
    unrepeated rows would be judged by its joins.
    """
    try:
        found = connection.execute(query).fetchall()
    except sqlite3.Error as error:
        yield f"does not run: {error}"
        return
    if re.search(r"\bdistinct\b", query, re.IGNORECASE):
        yield "uses DISTINCT, which evaluators drop"
    yield from _weak_result(found, may_be_empty)
    if _differs(query, found, mirror.execute(query).fetchall()):
        yield "depends on the order in which rows are stored"
    yield from _ties(connection, query)


def is_ordered(query: str) -> bool:
    """Whether row order counts, by the rule of Spider's evaluator."""
    return "order by" in query.lower()


def _weak_result(found: Rows, may_be_empty: bool) -> Iterator[str]:
    """Rows that a wrong query returns as easily, or that a right one misses by rounding."""
    if may_be_empty:
        if found:
            yield "was to find no rows, and finds some"
        return
    values = [value for row in found for value in row]
    if not found:
        yield "finds no rows"
    elif all(value in (None, 0) for value in values):
        yield "finds nothing but NULL and 0"
    if any(isinstance(value, float) and round(value, DECIMALS) != value for value in values):
        yield f"holds a number of more than {DECIMALS} decimals, so that rounding decides"


def _differs(query: str, one: Rows, other: Rows) -> bool:
    return one != other if is_ordered(query) else Counter(one) != Counter(other)


def _ties(connection: sqlite3.Connection, query: str) -> Iterator[str]:
    """A tie between neighbours in the outermost ORDER BY, the cut of its LIMIT included."""
    tree = parse_one(query, read="sqlite")
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select) or order is None:
        return
    limit, shown = tree.args.get("limit"), len(tree.selects)
    last = int(limit.expression.name) if limit is not None else None
    keys = [
        exp.alias_(term.this.copy(), f"key_{place}") for place, term in enumerate(order.expressions)
    ]
    widened = tree.copy().select(*keys)
    widened.set("limit", None)
    found = connection.execute(widened.sql(dialect="sqlite")).fetchall()[: last and last + 1]
    for row, following in pairwise(found):
        if row[shown:] == following[shown:] and row[:shown] != following[:shown]:
            yield f"ties in its ORDER BY: {row[:shown]} and {following[:shown]}"
            return
