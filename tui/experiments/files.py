"""A report as files: Markdown, CSV, and one page that needs nothing else."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from core.errors import MeritoError
from core.experiments.design import order_words
from core.experiments.report import Report
from core.experiments.table import Table
from core.whole_file import whole_file
from core.wording import counted
from tui.experiments import plots
from tui.view.legible import one_line

STORIES_TOLD = 300
"""Questions told in full on a page; the rest is counted."""


def write_markdown(path: Path, report: Report) -> None:
    """Write the tables and notes. Raises MeritoError where they cannot be written."""
    _write(path, markdown(report))


def _write(path: Path, text: str) -> None:
    _make_folder(path)
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "replace"))


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise MeritoError(
            f"{path} cannot be written: {wrong.strerror}.", "Name another file."
        ) from None


def write_csv(folder: Path, report: Report) -> list[Path]:
    """One file a table; returns them."""
    paths = []
    for table in (*report.tables, *report.listings):
        path = folder / f"{table.name}.csv"
        _write(path, _csv(table))
        paths.append(path)
    return paths


def _csv(table: Table) -> str:
    records = table.records()
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]) if records else list(table.columns))
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def markdown(report: Report) -> str:
    """The tables and notes as Markdown."""
    lines = [f"# {_plain(report.title)}", ""]
    lines += [f"- {_plain(name)}: {_plain(value)}" for name, value in report.facts]
    lines += ["", *(f"- {_plain(note)}" for note in report.notes)]
    for table in (each.telling for each in report.tables):
        lines += ["", f"## {_plain(table.title)}", "", _row(list(table.columns))]
        lines.append(
            _row(["---:" if _numeric(table, n) else "---" for n in range(len(table.columns))], False)
        )
        lines += [_row([cell.text for cell in row]) for row in table.rows]
        lines += ["", _plain(table.note)] if table.note else []
    lines += ["", f"The strategies part on {counted(len(report.stories), 'question')}."]
    return "\n".join(lines) + "\n"


def _numeric(table: Table, column: int) -> bool:
    return all(row[column].number for row in table.rows)


def _row(cells: list[str], escape: bool = True) -> str:
    return f"| {' | '.join(_plain(cell) if escape else cell for cell in cells)} |"


_MARKS = {mark: f"\\{mark}" for mark in "\\`*_[]<>|#"}


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(_MARKS.get(character, character) for character in one_line(text))


def write_page(path: Path, report: Report) -> None:
    """Write the whole report as one HTML file: no script, nothing loaded, all text escaped. Raises
    MeritoError where it cannot be written."""
    from tui.pages import environment
    from tui.pages.run_page import sql_markup

    tables = {table.name: table for table in report.tables}
    shown: dict[str, Any] = {
        "report": report,
        "plots": {
            **dict.fromkeys(tables),
            "stream": plots.stream_plot(report.curves),
            "tradeoff": plots.cost_plot(report.points),
            "differences": plots.difference_plot(tables.get("differences")),
        },
        "stories": report.stories[:STORIES_TOLD],
        "untold": max(0, len(report.stories) - STORIES_TOLD),
    }
    made = environment.template("report.html.jinja", sql=sql_markup, order=order_words)
    _make_folder(path)
    environment.write_page(path, made, **shown)
