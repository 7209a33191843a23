"""What the chosen runs came to: settings, the papers' tables, notes."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tui.console.archive import StoredRun
from tui.console.ink import ACCENT, BLANK, QUIET, Line, Part, column, ink, line, rule
from tui.console.studies import seconds_left
from tui.console.widgets.entry import when
from tui.console.widgets.paper import Block, Paper
from tui.console.widgets.studies import Row, setting_rows, state_words
from tui.view.legible import one_line
from tui.view.summary import duration

if TYPE_CHECKING:
    from core.experiments.report import Report
    from core.experiments.table import Cell, Table

_WIDEST = 44
"""Cells of one column at most."""
_GAP = 2


class Figures(Paper):
    """A sheet about the line under the cursor and the runs that are compared."""

    def __init__(self) -> None:
        super().__init__(id="figures", classes="pane")

    def show_figures(
        self, row: Row | None, report: Report | None, words: str, going: Set[str] = frozenset()
    ) -> None:
        """Draw what changed; `words` say what is going on with the tables, `going` are the runs that
        somebody works on."""
        blocks: list[Block] = []
        if row is not None and row.run is not None:
            run = row.run
            version = (run.last_seq, state_words(run, going))
            blocks.append(Block(("run", run.id), version, partial(_run, run, going)))
        if words:
            blocks.append(Block("words", words, partial(_said, words)))
        if report is not None:
            blocks += report_blocks(report)
        self.show(blocks)


def report_blocks(report: Report) -> list[Block]:
    """Facts, tables and notes, each a block; another report is another version."""
    version = id(report)
    blocks = [Block("facts", version, partial(_facts, report))]
    blocks += [Block(each.name, version, partial(table_lines, each)) for each in report.tables]
    return [*blocks, Block("notes", version, partial(_notes, report.notes))]


def _said(words: str, _width: int) -> Sequence[Line]:
    return [line((each, QUIET), indent=1) for each in words.split("\n")] + [BLANK]


def _run(run: StoredRun, going: Set[str], width: int) -> Sequence[Line]:
    words = state_words(run, going)
    left = seconds_left([run], going)
    times = [
        ("began", when(run.began)),
        ("last event", when(run.last_at)),
        ("worked", duration(run.seconds)),
        *([("left, about", duration(max(1.0, left)))] if left else []),
    ]
    settings = setting_rows(run.settings) if run.settings is not None else []
    lines = [rule((one_line(run.id, 80), f"{ACCENT} bold"), tail=words, width=width)]
    for rows in (times, [("model", run.model)], *settings):
        lines += _named(rows, width)
    return [*lines, BLANK]


def _named(rows: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Names with their values, as many on a line as fit; a line ends between two of them only."""
    lines: list[Content] = []
    for name, value in rows:
        pair = ink((f"{name} ", QUIET), one_line(value, 300))
        if lines and lines[-1].cell_length + 2 + pair.cell_length <= width:
            lines[-1] = ink(lines[-1], "  ", pair)
        else:
            lines.append(pair)
    return [Line(each) for each in lines]


def _facts(report: Report, width: int) -> Sequence[Line]:
    lines = [rule((one_line(report.title, 200), f"{ACCENT} bold"), width=width)]
    longest = max(len(name) for name, _ in report.facts)
    lines += [
        line(column(name, longest + 2, QUIET), one_line(value, 300)) for name, value in report.facts
    ]
    return [*lines, BLANK]


def _notes(notes: Sequence[str], width: int) -> Sequence[Line]:
    return [
        rule(("Notes", f"{ACCENT} bold"), width=width),
        *(line("· ", one_line(note, 1_000)) for note in notes),
        BLANK,
    ]


def table_lines(table: Table, width: int) -> Sequence[Line]:
    """A table of any width: columns that do not fit stand below, with what names the row repeated.
    Columns in which nothing stands are left out."""
    lines = [rule((one_line(table.title, 200), f"{ACCENT} bold"), width=width)]
    for part in _parts(table, width):
        lines += _part(table, part, width)
        lines.append(BLANK)
    if table.note:
        lines += [line((one_line(table.note, 1_000), QUIET)), BLANK]
    return lines


def _parts(table: Table, width: int) -> list[list[tuple[int, int]]]:
    """(column, width) pairs of each part."""
    columns = [at for at in range(len(table.columns)) if any(row[at].text != "-" for row in table.rows)]
    names = _naming(table, columns)
    fixed = [(at, _width(table, at)) for at in names]
    taken = sum(cells + _GAP for _, cells in fixed)
    parts, room = [list(fixed)], width - taken
    for at in columns:
        if at in names:
            continue
        cells = min(_width(table, at), max(8, width - taken - _GAP))
        if cells + _GAP > room and len(parts[-1]) > len(fixed):
            parts.append(list(fixed))
            room = width - taken
        parts[-1].append((at, cells))
        room -= cells + _GAP
    return parts


def _naming(table: Table, columns: Sequence[int]) -> list[int]:
    """The columns that name a row: the first one or two, where they are words."""
    words = [at for at in columns[:2] if not any(row[at].number for row in table.rows)]
    return words or list(columns[:1])


def _width(table: Table, at: int) -> int:
    """Wide enough for every value and for every word of the heading."""
    texts = [_text(row[at]) for row in table.rows] + table.columns[at].split()
    return min(_WIDEST, max(Content(text).cell_length for text in texts))


def _text(cell: Cell) -> str:
    return one_line(cell.text, 200)


def _part(table: Table, part: Sequence[tuple[int, int]], width: int) -> list[Line]:
    headings = [_heading(table.columns[at], cells) for at, cells in part]
    tall = max(map(len, headings))
    right = [all(row[at].number for row in table.rows) for at, _ in part]
    padded = [[""] * (tall - len(heading)) + heading for heading in headings]
    rows: list[tuple[list[str], str]] = [
        ([heading[level] for heading in padded], f"bold {QUIET}") for level in range(tall)
    ]
    rows += [([_text(row[at]) for at, _ in part], "") for row in table.rows]
    lines = []
    for texts, style in rows:
        parts: list[Part] = []
        for (_, cells), text, number in zip(part, texts, right, strict=True):
            parts += [column(text, cells, style, right=number), " " * _GAP]
        lines.append(Line(ink(*parts[:-1]), wrap=False))
    return lines


def _heading(words: str, cells: int) -> list[str]:
    """A heading in as few lines as its width allows."""
    return [each.plain.rstrip() for each in Content(words).wrap(max(1, cells))]


def copied(report: Report) -> str:
    """All tables as text that a spreadsheet takes: tab-separated, a blank line between two."""
    tables: list[str] = []
    for table in report.tables:
        lines = [table.title, "\t".join(table.columns)]
        lines += ["\t".join(_text(cell) for cell in row) for row in table.rows]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)
