"""A database's schema: tables, columns, keys, and how tables join."""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from core.database import opening
from core.database.files import check_database
from core.errors import MeritoError
from core.sql import fold

_OWN_PREFIX = "sqlite_"
"""Tables called so are SQLite's own, and no statement can create one."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One column as it was declared."""

    name: str
    type: str = ""
    """The declared type, "" where none was: SQLite takes any text here."""
    not_null: bool = False


class ForeignKey(msgspec.Struct, frozen=True, kw_only=True):
    """`table.columns[i]` refers to `to_table.to_columns[i]`."""

    table: str
    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]

    @property
    def condition(self) -> str:
        """The join condition, names quoted where they must be."""
        pairs = zip(self.columns, self.to_columns, strict=False)
        return " AND ".join(
            f"{quoted(self.table)}.{quoted(column)} = {quoted(self.to_table)}.{quoted(other)}"
            for column, other in pairs
        )


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table or view."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    sql: str = ""
    """The CREATE statement as SQLite holds it, without a final semicolon."""
    is_view: bool = False

    def column(self, name: str) -> Column | None:
        """The column called so, as SQLite compares names."""
        wanted = fold(name)
        return next((column for column in self.columns if fold(column.name) == wanted), None)


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """The tables and views of a database, in the order in which they were created."""

    database: str
    tables: tuple[Table, ...]

    def table(self, name: str) -> Table | None:
        """The table or view called so, as SQLite compares names."""
        wanted = fold(name)
        return next((table for table in self.tables if fold(table.name) == wanted), None)

    def tables_with(self, column: str) -> tuple[Table, ...]:
        """Tables and views that have a column called so."""
        return tuple(table for table in self.tables if table.column(column) is not None)

    def limited_to(self, names: Iterable[str]) -> Schema:
        """The schema with these tables alone; unknown names are passed over."""
        wanted = {fold(name) for name in names}
        kept = tuple(table for table in self.tables if fold(table.name) in wanted)
        return Schema(database=self.database, tables=kept)

    @property
    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        """Every foreign key, in the tables' order."""
        return tuple(key for table in self.tables for key in table.foreign_keys)

    @property
    def sql(self) -> str:
        """The CREATE statements as SQLite holds them, each ended by a semicolon."""
        return "\n".join(f"{table.sql};" for table in self.tables if table.sql)

    def join_path(self, start: str, end: str) -> tuple[ForeignKey, ...] | None:
        """The shortest chain of foreign keys between two tables, either direction of each.

        () where both are one table; None where nothing joins them or a name is unknown.
        """
        first, last = self.table(start), self.table(end)
        if first is None or last is None:
            return None
        neighbours = self._neighbours()
        reached: dict[str, tuple[ForeignKey, ...]] = {fold(first.name): ()}
        waiting = deque(reached)
        while waiting:
            here = waiting.popleft()
            if here == fold(last.name):
                return reached[here]
            for other, key in neighbours.get(here, ()):
                if other not in reached:
                    reached[other] = (*reached[here], key)
                    waiting.append(other)
        return None

    def _neighbours(self) -> dict[str, list[tuple[str, ForeignKey]]]:
        found: dict[str, list[tuple[str, ForeignKey]]] = {}
        for key in self.foreign_keys:
            here, there = fold(key.table), fold(key.to_table)
            found.setdefault(here, []).append((there, key))
            found.setdefault(there, []).append((here, key))
        return found

    @staticmethod
    def from_spider_tables(record: Mapping[str, Any]) -> Schema:
        """The schema that one record of Spider's `tables.json` describes, no database needed.

        Raises MeritoError where the record does not hold together.
        """
        try:
            return _from_spider(record)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            name = record.get("db_id", "?") if isinstance(record, Mapping) else "?"
            raise MeritoError(
                f"The schema record of database {name!r} is not in tables.json's form: {error!r}.",
                "It needs db_id, table_names_original, column_names_original, column_types, keys.",
            ) from error


def quoted(name: str) -> str:
    """`name` as SQL must write it: in double quotes unless it is plain and no reserved word."""
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def read_schema(path: Path) -> Schema:
    """Read the schema of a database file, without changing it.

    The database's id is the file's stem. Raises MeritoError (see `check_database`).
    """
    try:
        with closing(opening.connect_read_only(str(path), busy_seconds=1.0)) as connection:
            connection.text_factory = _decode
            tables = tuple(_read_tables(connection))
    except (OSError, sqlite3.Error) as error:
        check_database(path)
        raise MeritoError(
            f"The schema of {path} cannot be read: {error}.", "Check the file."
        ) from error
    if not tables:
        check_database(path)
    return Schema(database=path.stem, tables=tables)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _read_tables(connection: sqlite3.Connection) -> Iterable[Table]:
    held = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ).fetchall()
    shadows = _shadow_tables(connection)
    held = [row for row in held if row[0] not in shadows]
    keys = {fold(name): _primary_key(_columns(connection, name)) for name, _, _ in held}
    for name, kind, sql in held:
        columns = _columns(connection, name)
        yield Table(
            name=name,
            columns=tuple(Column(name=row[1], type=row[2], not_null=bool(row[3])) for row in columns),
            primary_key=keys[fold(name)],
            foreign_keys=_foreign_keys(connection, name, keys),
            sql=sql or "",
            is_view=kind == "view",
        )


def _shadow_tables(connection: sqlite3.Connection) -> set[str]:
    """Tables that full-text and other virtual tables keep for themselves."""
    try:
        listed = connection.execute("PRAGMA main.table_list").fetchall()
    except sqlite3.Error:  # a virtual table without its module
        return set()
    return {row[1] for row in listed if row[2] == "shadow"}


def _columns(connection: sqlite3.Connection, table: str) -> list[Any]:
    """Rows of (id, name, type, not null, default, place in the primary key, hidden)."""
    try:
        rows = connection.execute(f"PRAGMA main.table_xinfo({_literal(table)})").fetchall()
    except sqlite3.Error:  # a view over what is gone, or a virtual table without its module
        return []
    return [row for row in rows if row[6] != 1]


def _literal(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _primary_key(columns: list[Any]) -> tuple[str, ...]:
    return tuple(row[1] for row in sorted(columns, key=lambda row: int(row[5])) if row[5])


def _foreign_keys(
    connection: sqlite3.Connection, table: str, primary_keys: Mapping[str, tuple[str, ...]]
) -> tuple[ForeignKey, ...]:
    groups: dict[int, list[Any]] = {}
    for row in connection.execute(f"PRAGMA main.foreign_key_list({_literal(table)})"):
        groups.setdefault(row[0], []).append(row)
    found = []
    for rows in reversed(groups.values()):  # SQLite lists the last declared first
        rows.sort(key=lambda row: int(row[1]))
        to_table = rows[0][2]
        # A key that names no column refers to the other table's primary key.
        to_columns = tuple(row[4] for row in rows if row[4]) or primary_keys.get(fold(to_table), ())
        found.append(
            ForeignKey(
                table=table,
                columns=tuple(row[3] for row in rows),
                to_table=to_table,
                to_columns=to_columns,
            )
        )
    return tuple(found)


def _from_spider(record: Mapping[str, Any]) -> Schema:
    names: list[str] = record["table_names_original"]
    columns: list[tuple[int, str]] = [
        (int(place), name) for place, name in record["column_names_original"]
    ]
    types: list[str] = record["column_types"]
    keys: dict[int, list[ForeignKey]] = {}
    for here, there in record["foreign_keys"]:
        (table, column), (to_table, to_column) = columns[here], columns[there]
        key = ForeignKey(
            table=names[table], columns=(column,), to_table=names[to_table], to_columns=(to_column,)
        )
        keys.setdefault(table, []).append(key)
    primary: dict[int, list[str]] = {}
    for entry in record["primary_keys"]:
        for index in entry if isinstance(entry, list) else [entry]:
            primary.setdefault(columns[index][0], []).append(columns[index][1])
    tables = []
    for place, name in enumerate(names):
        own = tuple(
            Column(name=column, type=kind)
            for (owner, column), kind in zip(columns, types, strict=True)
            if owner == place
        )
        table = Table(
            name=name,
            columns=own,
            primary_key=tuple(primary.get(place, ())),
            foreign_keys=tuple(keys.get(place, ())),
        )
        if not name.lower().startswith(_OWN_PREFIX):
            tables.append(msgspec.structs.replace(table, sql=create_statement(table)))
    return Schema(database=str(record["db_id"]), tables=tuple(tables))


def create_statement(table: Table) -> str:
    """A CREATE TABLE statement with this table's columns and keys."""
    lines = [_column_line(table, column) for column in table.columns]
    if len(table.primary_key) > 1:
        lines.append(f"PRIMARY KEY ({_listed(table.primary_key)})")
    for key in table.foreign_keys:
        target = (
            f"{quoted(key.to_table)}({_listed(key.to_columns)})"
            if key.to_columns
            else quoted(key.to_table)
        )
        lines.append(f"FOREIGN KEY ({_listed(key.columns)}) REFERENCES {target}")
    return f"CREATE TABLE {quoted(table.name)} (\n  " + ",\n  ".join(lines) + "\n)"


def _column_line(table: Table, column: Column) -> str:
    words = [quoted(column.name), column.type]
    if table.primary_key == (column.name,):
        words.append("PRIMARY KEY")
    return " ".join(word for word in words if word)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in names)


_RESERVED = frozenset(
    """
    ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT
    DEFERRABLE DELETE DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IF IN INDEX
    INSERT INTERSECT INTO IS ISNULL JOIN LIMIT NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY
    REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES WHEN
    WHERE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LEFT RIGHT FULL INNER OUTER CROSS NATURAL
    """.split()  # noqa: SIM905 - a table of words
)
"""Words that SQLite does not take as a bare column name in every place."""
