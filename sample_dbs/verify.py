"""Is a gold query sound: does it run, find rows, and mean one result only?"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator

Rows = list[tuple[object, ...]]


def faults(connection: sqlite3.Connection, query: str, *, may_be_empty: bool = False) -> Iterator[str]:
    """What is wrong with a gold query, one sentence each; nothing where it is sound.

    A result is ambiguous when SQLite may return another one for the same data: rows that the
    query does not order scanned from the other end, or a tie in its ORDER BY between rows that
    differ.
    """
    try:
        found = connection.execute(query).fetchall()
    except sqlite3.Error as error:
        yield f"does not run: {error}"
        return
    if not found and not may_be_empty:
        yield "finds no rows"
    if found and may_be_empty:
        yield "was to find no rows, and finds some"
    if any(isinstance(value, float) and round(value, 4) != value for row in found for value in row):
        yield "holds a number of more than four decimals, which another way of computing would miss"
    if all(value is None for row in found for value in row) and found:
        yield "finds nothing but NULL"
    if _differs(query, found, _from_the_other_end(connection, query)):
        yield "depends on the order in which rows are scanned"
    yield from _ties(connection, query)


def is_ordered(query: str) -> bool:
    """Whether row order counts, by the rule of Spider's evaluator."""
    return "order by" in query.lower()


def _differs(query: str, one: Rows, other: Rows) -> bool:
    return one != other if is_ordered(query) else Counter(one) != Counter(other)


def _from_the_other_end(connection: sqlite3.Connection, query: str) -> Rows:
    connection.execute("PRAGMA reverse_unordered_selects = ON")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.execute("PRAGMA reverse_unordered_selects = OFF")


def _ties(connection: sqlite3.Connection, query: str) -> Iterator[str]:
    """A tie between neighbours in the outermost ORDER BY, the cut of its LIMIT included."""
    from sqlglot import exp, parse_one

    tree = parse_one(query, read="sqlite")
    order = tree.args.get("order")
    if order is None or not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return
    limit, shown = _limit(tree), len(tree.selects)
    keys = [term.this.copy() for term in order.expressions]
    widened = tree.copy().select(*[exp.alias_(key, f"key_{i}") for i, key in enumerate(keys)])
    widened.set("limit", None)
    found = connection.execute(widened.sql(dialect="sqlite")).fetchall()
    for place, (row, following) in enumerate(zip(found, found[1:], strict=False), 1):
        if limit is not None and place > limit:
            return
        if row[shown:] == following[shown:] and row[:shown] != following[:shown]:
            yield f"ties in its ORDER BY at row {place}: {row[:shown]} and {following[:shown]}"
            return


def _limit(tree: object) -> int | None:
    from sqlglot import exp

    assert isinstance(tree, exp.Select)
    limit = tree.args.get("limit")
    return int(limit.expression.name) if limit is not None else None
