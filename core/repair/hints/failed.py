"""A failed query as the hint makers read it: its tables, its columns, what it compares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from core.database.rows import Execution, Outcome
from core.database.schema import Column, Schema, Table
from core.repair.hints.naming import nearest_columns
from core.repair.scope import Scope
from core.sql import fold, shared_tree

if TYPE_CHECKING:
    from sqlglot import exp


Fact = tuple[str, str]
"""A hint's kind and its sentence."""


class Source(msgspec.Struct, frozen=True):
    """What a FROM clause names: a table of the schema, or rows that the query itself makes."""

    called: str
    """Its alias, or its name where it has none; folded."""
    table: Table | None
    columns: tuple[str, ...] = ()
    """Folded output names of a sub-query or a WITH clause; empty where they are not known."""


class Comparison(msgspec.Struct, frozen=True):
    """A column of the schema set against a constant."""

    table: Table
    column: Column
    operator: str
    """=, <>, <, <=, >, >=, LIKE, IN."""
    value: str | float
    """A text as it was written, or a number."""


class Failed:
    """One failed query. It knows schema, SQL and what the database answered, and no gold."""

    def __init__(self, sql: str, execution: Execution, schema: Schema) -> None:
        self.sql = sql
        self.schema = schema
        self._nearest: dict[tuple[str, tuple[str, ...]], list[tuple[Table, str]]] = {}
        self.message = execution.error
        self.ran = execution.outcome is Outcome.OK
        self._rows = execution.rows

    @cached_property
    def tree(self) -> exp.Query | None:
        """The syntax tree, never changed here; None where the parser cannot read the text."""
        return shared_tree(self.sql)

    @cached_property
    def found_nothing(self) -> bool:
        """Whether it returned no rows, or the one row that aggregates make of no rows."""
        if not self.ran or not self._rows:
            return self.ran
        empty = len(self._rows) == 1 and all(value in (None, 0) for value in self._rows[0])
        return empty and self._aggregates

    @property
    def _aggregates(self) -> bool:
        """Whether all that is selected sums up all rows."""
        from sqlglot import exp

        tree = self.tree
        if not isinstance(tree, exp.Select) or tree.args.get("group"):
            return False
        return all(each.find(exp.AggFunc) for each in tree.expressions)

    @cached_property
    def _scopes(self) -> dict[int, Scope]:
        """Every SELECT by the identity of its place in the tree."""
        every = Scope.all_of(self.tree, self.schema) if self.tree else ()
        return {id(scope.select): scope for scope in every}

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Everything that some FROM clause of the query names, sub-queries included."""
        return tuple(
            Source(called, table, () if table else scope.outputs(called))
            for scope in self._scopes.values()
            for called, table in scope.sources.items()
        )

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The schema's tables in the query, each once, in the order of their mention."""
        by_name = {source.table.name: source.table for source in self.sources if source.table}
        return tuple(by_name.values())

    @cached_property
    def columns(self) -> tuple[exp.Column, ...]:
        """Every mention of a column."""
        from sqlglot import exp

        return tuple(self.tree.find_all(exp.Column)) if self.tree else ()

    def nearest_columns(
        self, name: str, first: tuple[Table, ...] | None = None
    ) -> list[tuple[Table, str]]:
        """The schema's columns most like a name, those of the tables `first` (the query's own,
        where none are given) before others; worked out once."""
        key = name, tuple(table.name for table in (self.tables if first is None else first))
        if key not in self._nearest:
            self._nearest[key] = nearest_columns(name, self.schema, key[1])
        return self._nearest[key]

    def called(self, name: str) -> tuple[Source, ...]:
        """The sources that go by a name or alias, in any case."""
        wanted = fold(name)
        return tuple(source for source in self.sources if fold(source.called) == wanted)

    def owner(self, column: exp.Column) -> tuple[Table, Column] | None:
        """The table and column that a mention stands for; None where that is not certain."""
        from sqlglot import exp

        scope = self._scopes.get(id(column.find_ancestor(exp.Select)))
        table = scope.owner(column) if scope else None
        found = table.column(column.name) if table else None
        return (table, found) if table and found else None

    def comparisons(self) -> Iterator[Comparison]:
        """Columns that are compared with constants, in the order of the text."""
        from sqlglot import exp

        names = {
            exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
            exp.Like: "LIKE", exp.In: "IN",
        }  # fmt: skip
        if self.tree is None:
            return
        for node in self.tree.find_all(*names):
            sides = [node.this, *(node.expressions if isinstance(node, exp.In) else [node.expression])]
            yield from self._compared(sides, names[type(node)])

    def _compared(self, sides: list[exp.Expression | None], operator: str) -> Iterator[Comparison]:
        from sqlglot import exp

        owners = [
            owner for side in sides if isinstance(side, exp.Column) and (owner := self.owner(side))
        ]
        if len(owners) == 1:
            for side in sides:
                value = self.constant(side)
                if value is not None:
                    yield Comparison(*owners[0], operator, value)

    def constant(self, node: exp.Expression | None) -> str | float | None:
        """The value of a literal, or of a "name" that SQLite reads as a text."""
        from sqlglot import exp

        if isinstance(node, exp.Neg):
            inner = self.constant(node.this)
            return -inner if isinstance(inner, float) else None
        if isinstance(node, exp.Column):
            return node.name if self.is_quoted_text(node) else None
        if not isinstance(node, exp.Literal):
            return None
        return node.name if node.is_string else _number(node.name)

    def is_quoted_text(self, column: exp.Column) -> bool:
        """Whether this is a "name" in double quotes that no source has as a column."""
        if not column.this.meta.get("doubtful"):
            return False
        return not any(
            source.table.column(column.name)
            if source.table
            else not source.columns or fold(column.name) in source.columns
            for source in self.sources
        )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
