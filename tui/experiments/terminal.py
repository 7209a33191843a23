"""A report on standard output: tables for people, or JSON lines for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from core.experiments.report import Report
from core.experiments.table import Table
from core.wording import counted
from tui.experiments.telling import tell
from tui.view.legible import one_line
from tui.view.wrapping import say

if TYPE_CHECKING:
    from rich.table import Table as RichTable

READABLE = 100
"""Characters of a line that are read with ease, where no terminal says how many there are."""
GAP = 2
"""Blanks after a column."""
DIVIDER = 1
"""What the box draws between two columns: a blank."""
LONGEST = 60
"""Characters of a line of a cell on a terminal, where longer ones are broken into several."""
NARROWER = (LONGEST, 45, 30)
"""The same, tried in turn before a table is turned or taken apart."""
MOST = 300
"""Characters of a cell on a terminal."""


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
    """Tables that fit the terminal, each with its title and its note; in a pipe each is whole."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False, emoji=False)
    room = console.width if console.is_terminal else None
    for table in tables:
        click.echo(f"\n{one_line(table.title)}\n")
        layout = laid_out(table.telling, room)
        for piece in layout.pieces:
            if room is None:
                console.width = max(READABLE, sum(_widths(piece, None)))
            console.print(_drawn(piece, layout.longest))
        if table.note:
            say(one_line(table.note))


class Layout(NamedTuple):
    """How a table is drawn."""

    pieces: list[Table]
    longest: int | None
    """Characters of a line of a cell; None where no cell is broken or cut."""


def laid_out(table: Table, width: int | None) -> Layout:
    """The table as it stands, where its texts can be broken so that it fits `width`; else upright or
    turned, whichever takes fewer pieces. Without a width it stays whole, and is turned where it is
    wide and narrower so."""
    if width is None:
        upright, turned = (sum(_widths(each, None)) for each in (table, table.turned))
        return Layout([table.turned if upright > READABLE and turned < upright else table], None)
    for longest in NARROWER:
        if sum(_widths(table, longest)) <= width:
            return Layout([table], longest)
    candidates = (list(pieces(each, width)) for each in (table, table.turned))
    return Layout(min(candidates, key=len), LONGEST)


def pieces(table: Table, width: int) -> Iterator[Table]:
    """The table in as many as its columns need; each repeats the first column."""
    widths = _widths(table, LONGEST)
    chosen: list[int] = []
    for n in range(1, len(widths)):
        if chosen and widths[0] + sum(widths[each] for each in chosen) + widths[n] > width:
            yield table.only([0, *chosen])
            chosen = []
        chosen.append(n)
    yield table.only([0, *chosen])


def _widths(table: Table, longest: int | None) -> list[int]:
    """Characters that each column takes, with lines of at most `longest` in a cell."""
    return [
        max(_line(column, longest), *(_line(row[n].text, longest) for row in table.rows))
        + GAP
        + DIVIDER
        for n, column in enumerate(table.columns)
    ]


def _line(text: str, longest: int | None) -> int:
    """Characters of a cell's longest line: an id, or any other word, is broken by LONGEST alone."""
    if longest is None or len(text) <= longest:
        return len(text)
    return max(longest, *(min(LONGEST, len(word)) for word in text.split()))


def _drawn(table: Table, longest: int | None) -> RichTable:
    from rich.box import SIMPLE
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=SIMPLE, show_edge=False, pad_edge=False, padding=(0, GAP, 0, 0))
    widths = _widths(table, longest)
    for n, column in enumerate(table.columns):
        number = all(row[n].number for row in table.rows)
        room = None if longest is None else widths[n] - GAP - DIVIDER
        shown.add_column(Text(column), justify="right" if number else "left", max_width=room)
    for row in table.rows:
        texts = (each.text for each in row)
        shown.add_row(
            *(Text(one_line(text, MOST if longest else max(MOST, len(text)))) for text in texts)
        )
    return shown
