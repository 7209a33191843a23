"""A query's SELECTs as mends change them: what each one's FROM clause names, and joins added to it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from core.database.schema import ForeignKey, Schema, Table
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp


class Scope:
    """One SELECT. Names are folded; `sources` maps what a table is called to the table, or to None
    for rows that the query itself makes."""

    def __init__(self, select: exp.Select, schema: Schema, made: frozenset[str]) -> None:
        self.select = select
        self.schema = schema
        self._made = made
        """Names of the query's WITH clauses."""
        self.sources: dict[str, Table | None] = dict(self._named())

    def _named(self) -> Iterator[tuple[str, Table | None]]:
        from sqlglot import exp

        for node in self.select.find_all(exp.Table, exp.Subquery):
            if _query_around(node) is not self.select or not _is_source(node):
                continue
            known = isinstance(node, exp.Table) and node.name not in self._made
            yield fold(node.alias_or_name), self.schema.table(node.name) if known else None

    def is_made(self, name: str) -> bool:
        """Whether a WITH clause makes the rows of this name."""
        return name in self._made

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
    def outer(self) -> Scope | None:
        """The SELECT around this one, whose columns it may use."""
        from sqlglot import exp

        whole: exp.Expression | None = self.select
        while whole and isinstance(whole.parent, exp.SetOperation | exp.Subquery):
            whole = whole.parent
        around = self.select.find_ancestor(exp.Select)
        scope = Scope(around, self.schema, self._made) if around else None
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

    def reach(self, table: Table) -> str | None:
        """What `table` is called here, after joins along the schema's keys where it was not named;
        None where no keys lead to it."""
        named = [called for called, own in self.sources.items() if own and own.name == table.name]
        if named:
            return named[0]
        nearest = self.path_to(table, list(self.sources))
        if nearest is None:
            return None
        self.qualify()
        return self._join(*nearest)

    def path_to(self, table: Table, starts: Sequence[str]) -> tuple[str, tuple[ForeignKey, ...]] | None:
        """The shortest way along the schema's keys from one of some sources, and which; None where no
        keys lead there."""
        paths = [
            (called, path)
            for called in starts
            if (own := self.sources[called]) and (path := self.schema.join_path(own.name, table.name))
        ]
        return min(paths, key=lambda each: len(each[1]), default=None)

    def qualify(self) -> None:
        """Write the table with each column that has one: a join may bring a namesake."""
        for column in self.columns:
            holders = self.holders(column.name)
            if not column.table and len(holders) == 1:
                column.set("table", identifier(holders[0]))

    def refer(self, called: str, key: ForeignKey) -> str:
        """What the table that a key refers to is called, after a join of its own by that key."""
        table = self.schema.table(key.to_table)
        assert table is not None, "keys join tables of the schema"
        self.qualify()
        return self._join(called, (key,), self._free_name(table))

    def _join(self, called: str, path: Sequence[ForeignKey], last: str | None = None) -> str:
        joins, end = self.steps(called, path, last)
        for join in joins:
            self.select.append("joins", join)
        return end

    def steps(
        self, called: str, path: Sequence[ForeignKey], last: str | None = None
    ) -> tuple[list[exp.Join], str]:
        """One join for each key of a path from the source `called` so, but for tables that are named
        already, and what the last table is called: `last`, where that is said."""
        from sqlglot import exp

        joins: list[exp.Join] = []
        for number, key in enumerate(path, 1):
            here = self.sources[called]
            assert here is not None, "paths begin at tables"
            forward = fold(key.table) == fold(here.name)
            there = self.schema.table(key.to_table if forward else key.table)
            assert there is not None, "keys join tables of the schema"
            known = next((name for name, own in self.sources.items() if own is there), None)
            named = last if number == len(path) else None
            other = named or known or self._free_name(there)
            if named or known is None:
                sides = zip(key.columns, key.to_columns, strict=False)
                pairs = [(own, its) if forward else (its, own) for own, its in sides]
                condition = exp.and_(
                    *(
                        exp.EQ(this=column_of(called, own), expression=column_of(other, its))
                        for own, its in pairs
                    )
                )
                source = exp.Table(this=identifier(there.name))
                if other != fold(there.name):
                    source.set("alias", exp.TableAlias(this=identifier(other)))
                joins.append(exp.Join(this=source, on=condition))
                self.sources[other] = there
            called = other
        return joins, called

    def _free_name(self, table: Table) -> str:
        name, number = fold(table.name), 2
        while name in self.sources:
            name, number = f"{fold(table.name)}_{number}", number + 1
        return name


def scopes(tree: exp.Query, schema: Schema) -> list[Scope]:
    """Every SELECT of a query, the outermost first."""
    from sqlglot import exp

    made = frozenset(cte.alias for cte in tree.find_all(exp.CTE))
    return [Scope(select, schema, made) for select in tree.find_all(exp.Select)]


def identifier(name: str) -> exp.Identifier:
    """A name in a tree, in back-quotes where it is odd."""
    from sqlglot import exp

    from core.database.schema import quoted

    folded = fold(name)
    return exp.Identifier(this=folded, quoted=quoted(folded) != folded)


def column_of(called: str, name: str) -> exp.Column:
    """A mention of a column with what its table is called."""
    from sqlglot import exp

    return exp.Column(this=identifier(name), table=identifier(called))


def move(column: exp.Column, called: str, name: str) -> None:
    """Make a mention one of another column."""
    column.set("this", identifier(name))
    column.set("table", identifier(called))


def _is_source(node: exp.Expression) -> bool:
    from sqlglot import exp

    inside = isinstance(node.parent, exp.Subquery) and isinstance(node, exp.Table)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table) and not node.alias:
        return False  # brackets around joined tables, each of them a source
    return inside or isinstance(node.parent, exp.From | exp.Join)


def _query_around(node: exp.Expression) -> exp.Query | None:
    """The SELECT, or the UNION and the like, that a part of a query belongs to."""
    from sqlglot import exp

    return node.find_ancestor(exp.Select, exp.SetOperation)
