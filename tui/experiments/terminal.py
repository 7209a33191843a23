"""A report on standard output: tables for people, or JSON lines for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from core.experiments.report import Report
from core.experiments.table import Table
from core.wording import counted
from tui.experiments.telling import tell
from tui.view.legible import one_line
from tui.view.wrapping import say

if TYPE_CHECKING:
    from rich.table import Table as RichTable

WIDTH_WITHOUT_TERMINAL = 200
GAP = 2
"""Blanks after a column."""
DIVIDER = 1
"""What the box draws between two columns: a blank."""
LONGEST = 60
"""Of a cell that is broken into lines."""


def show(report: Report, *, as_json: bool) -> None:
    """The report: tables that fit the terminal, or one JSON object a row."""
    if as_json:
        for table in (*report.tables, *report.listings):
            for record in table.records():
                tell(table=table.name, **record)
        return
    click.echo(f"\n{one_line(report.title)}\n")
    for name, value in report.facts:
        say(f"{name + ':':<12} {one_line(value)}")
    show_tables(report.tables)
    click.echo()
    for note in report.notes:
        say(f"- {one_line(note)}")
    say(f"- The strategies part on {counted(len(report.stories), 'question')}, told in full by --html.")


def show_tables(tables: Sequence[Table]) -> None:
    """Tables that fit the terminal, each with its title and its note."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_WITHOUT_TERMINAL
    for table in tables:
        click.echo(f"\n{one_line(table.title)}\n")
        for piece in pieces(table.telling, console.width):
            console.print(_drawn(piece))
        if table.note:
            say(one_line(table.note))


def pieces(table: Table, width: int) -> Iterator[Table]:
    """The table in as many as its columns need; each repeats the first column."""
    widths = [
        max(len(table.columns[n]), *(min(LONGEST, len(row[n].text)) for row in table.rows))
        + GAP
        + DIVIDER
        for n in range(len(table.columns))
    ]
    chosen: list[int] = []
    for n in range(1, len(widths)):
        if chosen and widths[0] + sum(widths[each] for each in chosen) + widths[n] > width:
            yield table.only([0, *chosen])
            chosen = []
        chosen.append(n)
    yield table.only([0, *chosen])


def _drawn(table: Table) -> RichTable:
    from rich.box import SIMPLE
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=SIMPLE, show_edge=False, pad_edge=False, padding=(0, GAP, 0, 0))
    for n, column in enumerate(table.columns):
        number = all(row[n].number for row in table.rows)
        shown.add_column(Text(column), justify="right" if number else "left", max_width=LONGEST)
    for row in table.rows:
        shown.add_row(*(Text(one_line(cell.text, 300)) for cell in row))
    return shown
