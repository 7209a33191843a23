"""The databases that can be asked; of the chosen one the tables, their columns and a few rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from textual.content import Content

from core.database.rows import ResultTable
from core.database.schema import Schema, Table
from tui.console.asker import Source
from tui.console.ink import ACCENT, QUIET, TITLE, Part, column, ink
from tui.console.widgets.listing import Listing
from tui.view.legible import cell_text, one_line

_CELL = 16
_ROWS = 3


class Row(NamedTuple):
    """One line of the tree."""

    kind: str
    """database, table, column, or rows."""
    source: Source
    name: str = ""
    words: str = ""
    """What stands behind the name."""
    open: bool = False


class SchemaTree(Listing):
    """Enter opens and closes: a database, and within it a table."""

    def __init__(self, empty: str) -> None:
        super().__init__(id="schema", classes="pane")
        self._empty = empty
        self._rows: list[Row] = []
        self._sources: Sequence[Source] = ()
        self._version = 0
        self.chosen: Source | None = None
        """The database that questions are put to."""
        self.schema: Schema | None = None
        """Its schema, once it was read."""
        self._opened: set[str] = set()
        self._samples: dict[str, ResultTable] = {}

    @property
    def row_count(self) -> int:
        """Lines of the tree."""
        return len(self._rows)

    @property
    def row(self) -> Row | None:
        """The line under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def offer(self, sources: Sequence[Source]) -> None:
        """The databases there are."""
        self._sources = tuple(sources)
        self._lay_out()

    def choose(self, source: Source | None) -> None:
        """Put questions to this one; its schema comes with `know`."""
        self.chosen, self.schema = source, None
        self._opened.clear()
        self._samples.clear()
        self._lay_out()
        self._go_to(lambda row: row.kind == "database" and row.source == source)

    def know(self, schema: Schema) -> None:
        """The chosen database's schema."""
        self.schema = schema
        self._lay_out()

    def toggle(self, table: str) -> bool:
        """Open or close a table; True where it is open now."""
        self._opened ^= {table}
        self._lay_out()
        return table in self._opened

    def sampled(self, table: str, rows: ResultTable) -> None:
        """A few rows of an open table."""
        self._samples[table] = rows
        self._lay_out()

    def row_version(self, index: int) -> Hashable:
        """Everything is drawn again where anything changed: there is little of it."""
        return (self._version, index)

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """The line with its indent and sign."""
        row = self._rows[index]
        sign = "▾ " if row.open else "▸ "
        mark: Part = ("▸ " if selected else "  ", ACCENT)
        words: Part = (f"  {row.words}" if row.words else "", QUIET)
        if row.kind == "database":
            return ink(mark, (sign, QUIET), (one_line(row.name, 80), TITLE if row.open else ""), words)
        if row.kind == "table":
            return ink(mark, "  ", (sign, QUIET), (one_line(row.name, 80), ACCENT), words)
        if row.kind == "column":
            return ink(mark, "      ", one_line(row.name, 80), words)
        return ink(mark, "      ", (row.words, QUIET))

    def empty_words(self) -> str:
        """What to do where there is no database."""
        return self._empty

    def _lay_out(self) -> None:
        here = self.row
        rows: list[Row] = []
        for source in self._sources:
            opened = source == self.chosen
            rows.append(Row("database", source, source.name, source.about, opened))
            if opened and self.schema is None:
                rows.append(Row("rows", source, words="reading the schema ..."))
            elif opened and self.schema is not None:
                for table in self.schema.tables:
                    rows += self._table(source, table)
        self._rows = rows
        self._version += 1
        if here is not None:
            self._go_to(lambda row: row[:3] == here[:3])
        self.refresh_rows()
        self.refresh()

    def _table(self, source: Source, table: Table) -> list[Row]:
        opened = table.name in self._opened
        kind = "view" if table.is_view else f"{len(table.columns)} columns"
        rows = [Row("table", source, table.name, kind, opened)]
        if opened:
            rows += [
                Row("column", source, each.name, _about(table, each.name)) for each in table.columns
            ]
            rows += [Row("rows", source, table.name, words) for words in self._sample(table.name)]
        return rows

    def _sample(self, table: str) -> list[str]:
        found = self._samples.get(table)
        if found is None:
            return ["reading rows ..."]
        if found.error:
            return [one_line(found.error, 200)]
        rows = [[cell_text(cell, 60) for cell in row] for row in found.rows[:_ROWS]]
        widths = [min(_CELL, max(map(len, cells))) for cells in zip(*rows, strict=True)]
        lines = [
            " │ ".join(column(cell, width).plain for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        return [f"first rows of {one_line(table, 60)}:", *lines] if lines else ["(no rows)"]

    def _go_to(self, wanted: object) -> None:
        found = next((i for i, row in enumerate(self._rows) if wanted(row)), None)  # type: ignore[operator]
        if found is not None:
            self.select(found)


def _about(table: Table, name: str) -> str:
    found = table.column(name)
    words = [found.type.lower()] if found is not None and found.type else []
    if name in table.primary_key:
        words.append("key")
    words += [f"→ {each.to_table}" for each in table.foreign_keys if name in each.columns]
    return one_line(" ".join(words), 80)
