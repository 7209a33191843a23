"""A query taken apart into the clauses that a person would compare.

Aliases are replaced by what they stand for, and columns of a query over one table get that table's
name, so that two queries which differ in spelling alone have equal parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from sqlglot import exp

from core.sql import written

if TYPE_CHECKING:
    Node = exp.Expr

_BLANK = "…"


class Part(msgspec.Struct, frozen=True):
    """One element of a clause: a column, a predicate, an order key."""

    text: str
    node: Node

    @property
    def shell(self) -> str:
        """The text with its outermost sub-queries blanked."""
        found = subqueries(self.node)
        text = self.text
        for query in found:
            text = text.replace(written(query), _BLANK, 1)
        return text


class Source(msgspec.Struct, frozen=True):
    """One table or sub-query of FROM, with how it is joined."""

    name: str
    text: str
    join: str
    """JOIN, LEFT JOIN, CROSS JOIN, ...; empty for the first source."""
    conditions: tuple[Part, ...]
    query: exp.Query | None
    """The sub-query, where the source is one."""

    @property
    def clause(self) -> str:
        """The join as one reads it."""
        if not self.conditions:
            return self.text
        joined = " AND ".join(part.text for part in self.conditions)
        return f"{self.text} {joined}" if joined.startswith("USING") else f"{self.text} ON {joined}"


class Clauses(msgspec.Struct, frozen=True, kw_only=True):
    """One SELECT, without what is around it."""

    distinct: bool
    columns: tuple[Part, ...]
    sources: tuple[Source, ...]
    predicates: tuple[Part, ...]
    grouping: tuple[Part, ...]
    having: tuple[Part, ...]


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """What ends a query, be it one SELECT or several combined."""

    order: tuple[Part, ...]
    limit: str
    offset: str


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """A query: SELECTs combined by set operations (one SELECT has none), with its WITH and tail."""

    ctes: dict[str, exp.Query]
    queries: tuple[exp.Query, ...]
    operators: tuple[str, ...]
    """UNION, UNION ALL, INTERSECT, EXCEPT between the queries."""
    tail: Tail


def spelled_out(tree: exp.Query) -> exp.Query:
    """The query with aliases replaced and single-table columns qualified; changes `tree` itself."""
    for select in list(tree.find_all(exp.Select)):
        _replace_output_names(select)
    names = {id(select): _names(select) for select in tree.find_all(exp.Select)}
    for column in list(tree.find_all(exp.Column)):
        _qualify(column, names)
    for equality in tree.find_all(exp.EQ, exp.NEQ):
        _order_sides(equality)
    return tree


def chain(query: exp.Query) -> Chain:
    """The query's SELECTs in the order in which they are written."""
    outer = query = _unwrapped(query)
    queries: list[exp.Query] = []
    operators: list[str] = []
    while isinstance(query, exp.SetOperation):
        queries.append(_unwrapped(query.expression))
        operators.append(_operator(query))
        query = _unwrapped(query.this)
    queries.append(query)
    return Chain(
        ctes={cte.alias: cte.this for cte in outer.ctes},
        queries=tuple(reversed(queries)),
        operators=tuple(reversed(operators)),
        tail=_tail(outer),
    )


def clauses(select: exp.Select) -> Clauses:
    """The clauses of one SELECT."""
    group = select.args.get("group")
    return Clauses(
        distinct=select.args.get("distinct") is not None,
        columns=tuple(_part(column.unalias()) for column in select.expressions),
        sources=tuple(_sources(select)),
        predicates=_conjuncts(select.args.get("where")),
        grouping=tuple(_part(key) for key in (group.expressions if group else ())),
        having=_conjuncts(select.args.get("having")),
    )


def rename(select: exp.Select, old: str, new: str) -> None:
    """Call the columns of table `old` columns of `new`, in place."""
    for column in select.find_all(exp.Column):
        if column.table == old:
            column.set("table", exp.to_identifier(new))


def subqueries(node: Node) -> list[exp.Query]:
    """The outermost queries inside a node."""
    return [
        query
        for query in node.find_all(exp.Select, exp.SetOperation)
        if query is not node and _enclosing(query, node) is None
    ]


def _enclosing(query: Node, top: Node) -> Node | None:
    parent = query.parent
    while parent is not None and parent is not top:
        if isinstance(parent, exp.Select | exp.SetOperation):
            return parent
        parent = parent.parent
    return None


def _part(node: Node) -> Part:
    return Part(written(node), node)


def _conjuncts(clause: Node | None) -> tuple[Part, ...]:
    return () if clause is None else tuple(_flat(clause.this))


def _flat(condition: Node) -> Iterator[Part]:
    pending = [condition]
    while pending:
        node = pending.pop().unnest()
        if isinstance(node, exp.And):
            pending += [node.expression, node.this]
        else:
            yield _part(node)


def _sources(select: exp.Select) -> Iterator[Source]:
    first = select.args.get("from_") or select.args.get("from")
    if first is not None:
        yield _source(first.this, "", ())
    for join in select.args.get("joins") or ():
        words = [join.args.get(word) or "" for word in ("method", "side", "kind")]
        using = join.args.get("using")
        on = join.args.get("on")
        conditions = tuple(_flat(on)) if on is not None else ()
        if using:
            names = ", ".join(written(name) for name in using)
            conditions = (Part(f"USING ({names})", join),)
        kind = " ".join([*filter(None, words), "JOIN"])
        yield _source(
            join.this, "CROSS JOIN" if kind == "JOIN" and not conditions else kind, conditions
        )


def _source(node: Node, join: str, conditions: tuple[Part, ...]) -> Source:
    query = node.this if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query) else None
    return Source(node.alias_or_name, written(node), join, conditions, query)


def _tail(query: exp.Query) -> Tail:
    order, limit, offset = (query.args.get(name) for name in ("order", "limit", "offset"))
    return Tail(
        order=tuple(_part(key) for key in (order.expressions if order else ())),
        limit=written(limit.expression) if limit else "",
        offset=written(offset.expression) if offset else "",
    )


def _operator(query: exp.SetOperation) -> str:
    every = isinstance(query, exp.Union) and query.args.get("distinct") is False
    return query.key.upper() + (" ALL" if every else "")


def _unwrapped(query: Node) -> exp.Query:
    while isinstance(query, exp.Subquery) and isinstance(query.this, exp.Query):
        query = query.this
    assert isinstance(query, exp.Query)
    return query


def _tables(select: exp.Select) -> list[Node]:
    first = select.args.get("from_") or select.args.get("from")
    joined = [join.this for join in select.args.get("joins") or ()]
    return ([first.this] if first is not None else []) + joined


def _names(select: exp.Select) -> dict[str, str]:
    """What each alias stands for. A table that occurs once is called by its own name, and its alias
    is dropped; "" is the only source of a query over one table."""
    tables = _tables(select)
    counts = Counter(table.name for table in tables if isinstance(table, exp.Table))
    names: dict[str, str] = {}
    for table in tables:
        alias = name = table.alias_or_name
        if isinstance(table, exp.Table) and table.name and counts[table.name] == 1:
            name = table.name
            table.set("alias", None)
        names[alias] = name
        if len(tables) == 1 and isinstance(table, exp.Table):
            names[""] = name
    return names


def _replace_output_names(select: exp.Select) -> None:
    """In GROUP BY, HAVING and ORDER BY a column that names an output stands for its expression."""
    outputs = {
        column.alias: column.this for column in select.expressions if isinstance(column, exp.Alias)
    }
    if not outputs:
        return
    for clause in (select.args.get(name) for name in ("group", "having", "order")):
        for column in list(clause.find_all(exp.Column)) if clause is not None else ():
            if not column.table and column.name in outputs:
                column.replace(outputs[column.name].copy())


def _qualify(column: exp.Column, names: dict[int, dict[str, str]]) -> None:
    if column.this.meta.get("doubtful") or not isinstance(column.this, exp.Identifier):
        return
    select = column.parent_select
    while select is not None:
        known = names.get(id(select), {})
        if column.table in known:
            quoted = column.args["table"].args.get("quoted") if column.table else False
            column.set("table", exp.to_identifier(known[column.table], quoted=quoted or None))
            return
        if not column.table:
            return
        select = select.parent_select


def _order_sides(equality: exp.Binary) -> None:
    """`t.b = t.a` reads `t.a = t.b` where both are columns of named tables."""
    left, right = equality.this, equality.expression
    columns = isinstance(left, exp.Column) and isinstance(right, exp.Column)
    if columns and left.table and right.table and written(left) > written(right):
        equality.set("this", right)
        equality.set("expression", left)
