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
from tui.experiments import plots
from tui.view.legible import legible, one_line

TEMPLATES = Path(__file__).parent / "templates"
STORIES_TOLD = 300
"""Questions told in full on a page; the rest is counted."""


def write(path: Path, text: str) -> None:
    """Write a file. Raises MeritoError where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
    except OSError as wrong:
        raise MeritoError(
            f"{path} cannot be written: {wrong.strerror}.", "Name another file."
        ) from None


def write_csv(folder: Path, report: Report) -> list[Path]:
    """One file a table; returns them."""
    paths = []
    for table in (*report.tables, *report.listings):
        path = folder / f"{table.name}.csv"
        write(path, _csv(table))
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
    for table in report.tables:
        lines += ["", f"## {_plain(table.title)}", "", _row(list(table.columns))]
        lines.append(
            _row(["---:" if _numeric(table, n) else "---" for n in range(len(table.columns))], False)
        )
        lines += [_row([cell.text for cell in row]) for row in table.rows]
        lines += ["", _plain(table.note)] if table.note else []
    lines += ["", "## Notes", "", *(f"- {_plain(note)}" for note in report.notes)]
    lines.append(f"- The arms part on {len(report.stories):,} questions.")
    return "\n".join(lines) + "\n"


def _numeric(table: Table, column: int) -> bool:
    return all(row[column].number for row in table.rows)


def _row(cells: list[str], escape: bool = True) -> str:
    return f"| {' | '.join(_plain(cell) if escape else cell for cell in cells)} |"


_MARKS = {mark: f"\\{mark}" for mark in "\\`*_[]<>|#"}


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(_MARKS.get(character, character) for character in one_line(text))


def page(report: Report) -> str:
    """The whole report as one HTML file: no script, nothing loaded, all text escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"legible": legible, "one_line": one_line, "order": order_words}
    shown: dict[str, Any] = {
        "report": report,
        "stream": plots.stream_plot(report.curves),
        "cost": plots.cost_plot(report.points),
        "stories": report.stories[:STORIES_TOLD],
        "untold": max(0, len(report.stories) - STORIES_TOLD),
    }
    return environment.get_template("report.html.jinja").render(shown)
