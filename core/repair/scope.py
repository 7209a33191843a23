"""A query's SELECTs: what each one's FROM clause names, and whose column a mention is."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Self

from core.database.schema import Schema, Table
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp


class Scope:
    """One SELECT. Names are folded; `nodes` maps what a source of its FROM clause is called to its
    place in the tree, and `sources` to the table, or to None for rows that the query itself makes and
    for tables that are not there."""

    def __init__(
        self, select: exp.Select, schema: Schema, made: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        """`made`: the output columns of the query's WITH clauses; empty where they are not known."""
        self.select = select
        self.schema = schema
        self._made = made or {}
        self.nodes = self._named()
        self.sources = {called: self._table(node) for called, node in self.nodes.items()}

    @classmethod
    def all_of(cls, tree: exp.Query, schema: Schema) -> list[Self]:
        """Every SELECT of a query, the outermost first."""
        from sqlglot import exp

        made = {cte.alias: _outputs(cte.this) for cte in tree.find_all(exp.CTE)}
        return [cls(select, schema, made) for select in tree.find_all(exp.Select)]

    def _named(self) -> dict[str, exp.Expression]:
        from sqlglot import exp

        return {
            fold(node.alias_or_name): node
            for node in self.select.find_all(exp.Table, exp.Subquery)
            if _query_around(node) is self.select and _is_source(node)
        }

    def _table(self, node: exp.Expression) -> Table | None:
        return None if node.name in self._made else self.schema.table(node.name)

    def is_made(self, name: str) -> bool:
        """Whether a WITH clause makes the rows of this name."""
        return name in self._made

    def outputs(self, called: str) -> tuple[str, ...]:
        """Folded columns of a source that is a sub-query or a WITH clause; empty where they are not
        known."""
        node = self.nodes[called]
        return self._made.get(node.name, ()) or _outputs(node.this)

    @property
    def columns(self) -> list[exp.Column]:
        """The mentions of columns in this SELECT, sub-queries left out."""
        from sqlglot import exp

        return [
            column
            for column in self.select.find_all(exp.Column)
            if _query_around(column) is self.select and not isinstance(column.this, exp.Star)
        ]

    @property
    def merged(self) -> Container[str]:
        """Names of columns that a join by name makes one: they need no table."""
        joins = self.select.args.get("joins", ())
        if any(join.method == "NATURAL" for join in joins):
            return {column.name for column in self.columns}
        return {name.name for join in joins for name in join.args.get("using") or ()}

    @property
    def opaque(self) -> bool:
        """Whether some source's columns are not known."""
        return any(table is None for table in self.sources.values())

    @property
    def outer(self) -> Self | None:
        """The SELECT around this one, whose columns it may use."""
        from sqlglot import exp

        whole: exp.Expression | None = self.select
        while whole and isinstance(whole.parent, exp.SetOperation | exp.Subquery):
            whole = whole.parent
        around = self.select.find_ancestor(exp.Select)
        scope = type(self)(around, self.schema, self._made) if around else None
        # Sources of one FROM clause do not see each other.
        beside = whole and isinstance(whole.parent, exp.From | exp.Join | exp.CTE)
        return scope.outer if scope and beside else scope

    def holders(self, name: str) -> list[str]:
        """What the sources that have a column are called."""
        return [called for called, table in self.sources.items() if table and table.column(name)]

    def owner(self, column: exp.Column) -> Table | None:
        """The table whose column a mention is, where that is certain."""
        called = fold(column.table)
        holders = [each for each in self.holders(column.name) if called in ("", each)]
        table = self.sources[holders[0]] if len(holders) == 1 else None
        if table is None and not holders and self.outer:
            return self.outer.owner(column)
        return table


def _is_source(node: exp.Expression) -> bool:
    """Whether FROM or JOIN names it."""
    from sqlglot import exp

    inside = isinstance(node.parent, exp.Subquery) and isinstance(node, exp.Table)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table) and not node.alias:
        return False  # brackets around joined tables, each of them a source
    return inside or isinstance(node.parent, exp.From | exp.Join)


def _query_around(node: exp.Expression) -> exp.Query | None:
    """The SELECT, or the UNION and the like, that a part of a query belongs to."""
    from sqlglot import exp

    return node.find_ancestor(exp.Select, exp.SetOperation)


def _outputs(query: exp.Expression) -> tuple[str, ...]:
    names = tuple(getattr(query, "named_selects", ()))
    return () if "*" in names else tuple(fold(name) for name in names)
