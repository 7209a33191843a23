"""Hints about names: columns and tables that are not there, or not clear, and how tables join."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.database.schema import Table
from core.repair.bare_names import bare_names
from core.repair.hints.failed import Fact, Failed
from core.repair.hints.joins import Maker, path_fact
from core.repair.hints.naming import (
    MOST_NAMES,
    MOST_OWNERS,
    folded,
    listed,
    nearest,
    nearest_first,
    shown,
)
from core.sql import fold

if TYPE_CHECKING:
    from sqlglot import exp

_ADVICE = re.compile(r" - should this be a string literal.*", re.S)
_UNKNOWN_COLUMN = re.compile(r"no such column: (?P<name>.+)", re.S)
_UNKNOWN_INSERT = re.compile(r"table (?P<table>.+) has no column named (?P<column>.+)", re.S)
_UNKNOWN_USING = re.compile(r"cannot join using column (?P<column>.+) - column not present", re.S)
_UNKNOWN_TABLE = re.compile(r"no such table: (?:main\.)?(?P<name>.+)", re.S)
_AMBIGUOUS = re.compile(r"ambiguous column name: (?P<name>.+)", re.S)


def unknown_column(failed: Failed) -> Iterator[Fact]:
    """The tables that have the column, or its nearest names, and how to reach them."""
    asked = _unknown_name(failed)
    if asked is None:
        return
    qualifier, column = asked
    sources = failed.called(qualifier) if qualifier else ()
    asked_of = tuple(source.table for source in sources if source.table)
    if qualifier and not sources:
        yield from _not_in_from(failed, qualifier, column)
    made = next((source for source in sources if source.columns), None)
    if not qualifier and _stands_for_text(failed, column):
        text = column.replace("'", "''")
        yield "text", f"A text stands in single quotes, {shown(column)} means a column: '{text}'."
        return
    if made:
        yield "unknown-column", f"The sub-query {made.called} gives only: {listed(made.columns)}."
    yield _whereabouts(failed, asked_of, qualifier if made is None else "", column)


def _stands_for_text(failed: Failed, name: str) -> bool:
    """Whether the name is compared with a column and resembles no column itself."""
    return any(
        fold(column.name) == fold(name) and not column.table and _compared_with_column(failed, column)
        for column in failed.columns
    ) and not failed.nearest_columns(name)


def _unknown_name(failed: Failed) -> tuple[str, str] | None:
    """The table or alias that was asked (or nothing) and the column that it does not have."""
    message = _ADVICE.sub("", failed.message)
    if found := _UNKNOWN_INSERT.search(message):
        return found["table"], found["column"]
    if found := _UNKNOWN_USING.search(message):
        return "", found["column"]
    if found := _UNKNOWN_COLUMN.search(message):
        return _split(failed, found["name"].strip("\"'`"))
    return None


def _split(failed: Failed, name: str) -> tuple[str, str]:
    """A name with dots may be qualified, or odd: the query's own mention decides."""
    for column in failed.columns:
        if fold(f"{column.table}.{column.name}") == fold(name):
            return column.table, column.name
    qualifier, _, column_name = name.rpartition(".")
    known = failed.called(qualifier) or failed.schema.table(qualifier)
    return (qualifier, column_name) if known or qualifier.isidentifier() else ("", name)


def _not_in_from(failed: Failed, qualifier: str, column: str) -> Iterator[Fact]:
    """Why a qualifier stands for nothing: an alias took its place, or the table is not there."""
    table = failed.schema.table(qualifier)
    alias = next((source.called for source in failed.sources if source.table is table), None)
    if table is None:
        return
    if alias:
        yield (
            "alias",
            f"A table with an alias goes by the alias alone: after {shown(table.name)} AS {alias},"
            f" write {alias}.{shown(_spelled(table, column))}.",
        )
    elif failed.tables:
        yield (
            "not-joined",
            f"To use a column of {shown(table.name)}, FROM or JOIN must name {shown(table.name)}.",
        )
        yield from path_fact(failed.schema, failed.tables[0], table)


def _whereabouts(failed: Failed, asked_of: tuple[Table, ...], qualifier: str, column: str) -> Fact:
    """Where the column is, else what resembles it."""
    real = failed.schema.table(qualifier) if qualifier and not asked_of else None
    places = asked_of or ((real,) if real else failed.tables)
    owners = nearest_first(failed.schema, failed.schema.tables_with(column), failed.tables)
    if owners:
        name = shown(_spelled(owners[0], column))
        having = f"{name} is in: {listed((shown(owner.name) for owner in owners), MOST_OWNERS)}."
        lacking = tuple(place for place in places if place not in owners)
        if real in owners or not lacking:
            return "unknown-column", having
        return "unknown-column", f"{_missing(lacking, name)}; {having}{_resembling(lacking, column)}"
    near = failed.nearest_columns(column, places)
    if near:
        names = listed(shown(table.name, name) for table, name in near)
        return "unknown-column", f"{_missing(places, shown(column))}; the nearest are: {names}."
    held = [shown(place.name, each.name) for place in places for each in place.columns]
    ending = f"; there are: {listed(held)}" if held else ""
    return "unknown-column", f"No table has a column {shown(column)}{ending}."


def _resembling(places: tuple[Table, ...], column: str) -> str:
    """What the tables that were asked have instead: pet_age for age."""
    names = [(place, each.name) for place in places for each in place.columns]
    near = [names[index] for index in nearest(column, [name for _, name in names])]
    near = [(place, name) for place, name in near if fold(name) != fold(column)]
    forms = listed(shown(place.name, name) for place, name in near)
    return f" Like it are: {forms}." if near else ""


def _missing(places: tuple[Table, ...], column: str) -> str:
    names = [f"{shown(place.name)}.{column}" for place in dict.fromkeys(places)]
    return f"There is no column {' or '.join(names[:MOST_NAMES]) or column}"


def _spelled(table: Table, column: str) -> str:
    """The column's name as the table has it."""
    own = table.column(column)
    return own.name if own else column


def other_name(failed: Failed) -> Iterator[Fact]:
    """A key that the asked table holds under another name than the table it refers to."""
    asked = _unknown_name(failed)
    if asked is None:
        return
    qualifier, column = asked
    sources = failed.called(qualifier) if qualifier else failed.sources
    for table in (source.table for source in sources if source.table):
        for key in failed.schema.foreign_keys:
            for here, there in zip(key.columns, key.to_columns, strict=False):
                if key.table == table.name and fold(there) == fold(column):
                    yield (
                        "other-name",
                        f"{shown(key.table, here)} refers to {shown(key.to_table, there)}.",
                    )
                elif fold(key.to_table) == fold(table.name) and fold(here) == fold(column):
                    yield (
                        "other-name",
                        f"{shown(key.table, here)} refers to {shown(table.name, there)}.",
                    )


def reach(failed: Failed) -> Iterator[Fact]:
    """How the query's tables join the one that has the unknown column."""
    asked = _unknown_name(failed)
    if asked is None or not failed.tables:
        return
    owners = nearest_first(failed.schema, failed.schema.tables_with(asked[1]), failed.tables)
    if not owners:
        owners = [table for table, _ in failed.nearest_columns(asked[1])[:1]]
    if owners and owners[0] not in failed.tables:
        yield from path_fact(failed.schema, failed.tables[0], owners[0])


def unknown_table(failed: Failed) -> Iterator[Fact]:
    """The nearest tables, and the tables that have a column called so."""
    found = _UNKNOWN_TABLE.search(failed.message)
    if found is None:
        return
    name = found["name"].strip("\"'`")
    tables = failed.schema.tables
    near = [tables[index].name for index in nearest(name, [table.name for table in tables])]
    asked, *known = folded([name, *(table.name for table in tables)])
    parts = [
        table.name
        for table, own in zip(tables, known, strict=True)
        if min(len(own), len(asked)) > 3 and (own in asked or asked in own)
    ]
    names = [shown(each) for each in (*near, *parts)] or [shown(table.name) for table in tables]
    verb = "the nearest are" if near or parts else "there are"
    yield "unknown-table", f"There is no table {shown(name)}; {verb}: {listed(names)}."
    if owners := failed.schema.tables_with(name):
        yield (
            "unknown-table",
            f"{shown(name)} is a column of: {listed(shown(each.name) for each in owners)}.",
        )


def ambiguous_column(failed: Failed) -> Iterator[Fact]:
    """The tables in the query that have the column."""
    found = _AMBIGUOUS.search(failed.message)
    if found is None:
        return
    column = found["name"].rpartition(".")[2].strip("\"'`")
    having = [(each.called, each.table) for each in failed.sources if each.table]
    having = [(called, table) for called, table in having if table.column(column)]
    names = {table.name for _, table in having}
    if len(names) == 1:
        forms = listed(shown(called, _spelled(table, column)) for called, table in having)
        twice = f"{shown(column)} is in {shown(*names)} more than once; write which: {forms}."
        yield "ambiguous-column", twice
        return
    having = [(table.name, table) for _, table in having]
    having = having or [(table.name, table) for table in failed.schema.tables_with(column)]
    forms = listed(shown(called, _spelled(table, column)) for called, table in having)
    yield "ambiguous-column", f"{shown(column)} is in more than one table; write which: {forms}."


def quoted_name(failed: Failed) -> Iterator[Fact]:
    """A "name" in double quotes that is no column is silently a text in SQLite."""
    for column in failed.columns:
        if not failed.is_quoted_text(column) or _compared_with_column(failed, column):
            continue
        owners = nearest_first(failed.schema, failed.schema.tables_with(column.name), failed.tables)
        near = failed.nearest_columns(column.name)
        names = [
            *(shown(table.name, column.name) for table in owners),
            *(shown(table.name, name) for table, name in near),
        ]
        ending = f"; columns like it: {listed(names)}" if names else ""
        yield (
            "quoted-name",
            f'"{column.name}" is no column here, so SQLite reads it as a mere text{ending}.',
        )


def _compared_with_column(failed: Failed, column: exp.Column) -> bool:
    """Then the double quotes were meant for a text, as many queries write them."""
    from sqlglot import exp

    parent = column.parent
    if not isinstance(parent, exp.Binary | exp.In | exp.Between):
        return False
    return any(side is not column and failed.owner(side) for side in parent.find_all(exp.Column))


def odd_name(failed: Failed) -> Iterator[Fact]:
    """Names that need quotes and stand in the query without them."""
    bare = bare_names(failed.sql, failed.message, failed.schema)
    for name in dict.fromkeys(each.name for each in bare):
        yield "odd-name", f"The name {shown(name)} must stand in back-quotes."


NAME_MAKERS: tuple[Maker, ...] = (
    unknown_column,
    other_name,
    reach,
    unknown_table,
    ambiguous_column,
    quoted_name,
    odd_name,
)
"""Each reads the failed query and yields the facts that it knows; none is told what is right."""
