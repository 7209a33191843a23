"""The schema as a prompt shows it: CREATE TABLE statements, comments, and a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from core.database.relatedness import ranked_columns, ranked_tables
from core.database.rows import Value, printable
from core.database.schema import Column, Schema, Table, create_statement, quoted
from core.sql import fold

Descriptions = Mapping[str, Mapping[str, str]]
"""Table -> column -> what the column means, both names case-folded (see `descriptions.py`)."""
Samples = Mapping[str, Mapping[str, tuple[Value, ...]]]
"""Table -> column -> some values, both names case-folded (see `samples.py`)."""

_VALUE_CHARACTERS = 40
_DESCRIPTION_CHARACTERS = 300
_NARROW_COLUMNS = 8
"""A table with no more columns is shown whole or not at all."""
_NARROWED_SHARE = 0.6
"""The most of the room left that a narrowed table takes, so that another may join it."""
_NOTE_TOKENS = 40
"""Room for the line that says what was left out."""


class SchemaText(msgspec.Struct, frozen=True):
    """The text, and the names of what did not fit: `table`, or `table.column`."""

    text: str
    left_out: tuple[str, ...] = ()


def schema_text(
    schema: Schema,
    *,
    question: str = "",
    samples: Samples | None = None,
    descriptions: Descriptions | None = None,
    foreign_keys: bool = False,
    budget: int | None = None,
    count: Callable[[str], int] = lambda text: len(text) // 3,
) -> SchemaText:
    """The CREATE TABLE statements as SQLite holds them (the paper's form).

    `samples`, `descriptions` and `foreign_keys` add comment lines below each statement. With a
    `budget` (in whatever `count` counts: tokens) tables, then columns, that have least to do
    with `question` are left out, and the text says so.
    """
    renderer = _Renderer(samples or {}, descriptions or {}, foreign_keys)
    whole = "\n".join(renderer.table(table) for table in schema.tables)
    if budget is None or count(whole) <= budget:
        return SchemaText(whole)
    return _Fitting(schema, question, renderer, budget, count).result()


class _Renderer:
    """Writes one table, with the comments that were asked for."""

    def __init__(self, samples: Samples, descriptions: Descriptions, foreign_keys: bool) -> None:
        self._samples, self._descriptions = samples, descriptions
        self._foreign_keys = foreign_keys

    def table(self, table: Table) -> str:
        """The statement that SQLite holds, and comments."""
        return "\n".join([f"{table.sql or create_statement(table)};", *self._comments(table)])

    def narrowed(self, table: Table, columns: tuple[Column, ...]) -> str:
        """A statement with some of the columns."""
        names = {column.name for column in columns}
        narrow = Table(
            name=table.name,
            columns=columns,
            primary_key=table.primary_key if names.issuperset(table.primary_key) else (),
            foreign_keys=tuple(key for key in table.foreign_keys if names.issuperset(key.columns)),
        )
        missing = len(table.columns) - len(columns)
        note = f"-- {missing} more columns of {_line(quoted(table.name))} are left out"
        return "\n".join([f"{create_statement(narrow)};", *self._comments(narrow), note])

    def _comments(self, table: Table) -> list[str]:
        lines = []
        described = self._descriptions.get(fold(table.name), {})
        sampled = self._samples.get(fold(table.name), {})
        for column in table.columns:
            words = _cut(_line(described.get(fold(column.name), "")), _DESCRIPTION_CHARACTERS)
            values = ", ".join(_sample(value) for value in sampled.get(fold(column.name), ()))
            notes = "; ".join(
                part for part in (words, f"for example {values}" if values else "") if part
            )
            if notes:
                lines.append(f"-- {_line(quoted(column.name))}: {notes}")
        if self._foreign_keys:
            lines += [
                f"-- joins: {_line(key.condition)}" for key in table.foreign_keys if key.to_columns
            ]
        return lines


def _line(text: str) -> str:
    """One line, so that it cannot leave the comment it stands in."""
    return " ".join(printable(text).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def _sample(value: Value) -> str:
    if isinstance(value, str):
        text = _cut(_line(value[: _VALUE_CHARACTERS + 1]), _VALUE_CHARACTERS)
        return "'" + text.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{value[:8].hex()}…'" if len(value) > 8 else f"x'{value.hex()}'"
    return "NULL" if value is None else str(value)


class _Fitting:
    """Chooses tables, then columns of the tables that are too wide, most related first."""

    def __init__(
        self,
        schema: Schema,
        question: str,
        renderer: _Renderer,
        budget: int,
        count: Callable[[str], int],
    ) -> None:
        self._schema, self._question = schema, question
        self._renderer, self._count = renderer, count
        self._room = budget - _NOTE_TOKENS

    def result(self) -> SchemaText:
        """The text that fits, and what does not."""
        chosen: dict[str, str] = {}
        left_out: list[str] = []
        for table in ranked_tables(self._schema, self._question):
            may_narrow = not chosen or len(table.columns) > _NARROW_COLUMNS
            text, missing = self._best(table, may_narrow)
            if text:
                chosen[table.name] = text
                self._room -= self._count(text + "\n")
            left_out += missing
        parts = [chosen[table.name] for table in self._schema.tables if table.name in chosen]
        tables = len(self._schema.tables) - len(chosen)
        if tables:
            parts.append(f"-- {tables} more tables, less related to the question, are left out")
        return SchemaText("\n".join(parts), tuple(left_out))

    def _best(self, table: Table, may_narrow: bool) -> tuple[str, list[str]]:
        whole = self._renderer.table(table)
        if self._count(whole + "\n") <= self._room:
            return whole, []
        kept = self._widest(table, ranked_columns(table, self._question)) if may_narrow else ()
        if not kept:
            return "", [table.name]
        missing = [column for column in table.columns if column not in kept]
        text = self._renderer.narrowed(table, self._in_order(table, kept))
        return text, [f"{table.name}.{column.name}" for column in missing]

    def _widest(self, table: Table, ranked: tuple[Column, ...]) -> tuple[Column, ...]:
        """The most columns that fit, found by halving: text grows with every column."""
        room = self._room * _NARROWED_SHARE
        fits, over = 0, len(ranked)
        while fits + 1 < over:
            middle = (fits + over) // 2
            text = self._renderer.narrowed(table, self._in_order(table, ranked[:middle]))
            if self._count(text + "\n") <= room:
                fits = middle
            else:
                over = middle
        return ranked[:fits]

    @staticmethod
    def _in_order(table: Table, kept: tuple[Column, ...]) -> tuple[Column, ...]:
        return tuple(column for column in table.columns if column in kept)
