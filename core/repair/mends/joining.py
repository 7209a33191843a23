"""A SELECT to whose FROM clause joins are added along the schema's keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.database.schema import ForeignKey, Table
from core.repair.scope import Scope
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp


class Joining(Scope):
    """One SELECT that mends change: its `sources` grow with the joins."""

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
