"""Stored runs, read and compared; and the report in a terminal."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import click

from core.errors import MeritoError, UsageMistake
from core.experiments.metrics import RunMetrics, metrics_of
from core.experiments.report import Report, report_of
from core.experiments.table import Table
from core.sql import normalised
from stores.store import Store
from tui.experiments.telling import tell
from tui.view.legible import one_line

WIDTH_WITHOUT_TERMINAL = 200


def stored_metrics(store: Store, runs: Sequence[str]) -> list[RunMetrics]:
    """The runs with these ids, read from their events; those that have not begun are left out."""
    there = {record.id for record in store.runs()}
    return [metrics_of(store.events(run)) for run in runs if run in there]


def named_runs(store: Store, names: Sequence[str], experiments: Sequence[str]) -> list[str]:
    """The ids that are meant: runs by id, its beginning or 'last', and all runs of experiments.
    Raises MeritoError for a name that means none."""
    ids = [store.run(name).id for name in names]
    known = [record.id for record in store.runs()]
    for experiment in experiments:
        found = [each for each in known if each.startswith(f"{experiment}-")]
        if not found:
            raise UsageMistake(
                f"There is no run of an experiment '{experiment}' in {store.path}.",
                "'merito bench repair' prints the id; the same command goes on with it.",
            )
        ids += sorted(found)
    return list(dict.fromkeys(ids))


def reported(metrics: Sequence[RunMetrics], title: str, labels: dict[str, str] | None = None) -> Report:
    """The report, with the golds of the data sets that are at hand."""
    golds, benchmarks = golds_of(metrics), _benchmarks(metrics)
    return report_of(metrics, title=title, golds=golds, benchmarks=benchmarks, labels=labels)


def golds_of(metrics: Sequence[RunMetrics]) -> dict[str, dict[str, str]]:
    """A hash of each question's gold, for the data sets of the runs that are at hand."""
    data_sets = {run.settings.dataset: run.settings.root for run in metrics}
    return {name: found for name, root in data_sets.items() if (found := _golds(name, root))}


@lru_cache(maxsize=4)
def _golds(dataset: str, root: str) -> dict[str, str]:
    """A hash of each question's gold; nothing where the data set is not there any more."""
    from core.datasets.loading import load
    from core.datasets.records import STDIN

    if dataset == STDIN:
        return {}
    try:
        loaded = load(dataset, root=Path(root) if root else None)
    except MeritoError:
        return {}
    return {
        question.id: _hash(question.database, loaded.golds[question.id])
        for question in loaded.questions
        if question.id in loaded.golds
    }


def _hash(database: str, gold: str) -> str:
    return hashlib.sha256(f"{database}\x1f{normalised(gold)}".encode("utf-8", "replace")).hexdigest()


def _benchmarks(metrics: Sequence[RunMetrics]) -> dict[str, str]:
    """Data sets that are one of the papers' benchmarks, as far as their file's name tells."""
    found = {}
    for run in metrics:
        path = Path(run.settings.dataset)
        file = path / "dev.json" if path.is_dir() else path
        if file.name == "dev.json" and run.settings.protocol in str(path).casefold():
            found[run.settings.dataset] = run.settings.protocol
    return found


def show(report: Report, *, as_json: bool) -> None:
    """The report on standard output: tables for people, or one JSON object a row."""
    if as_json:
        for table in (*report.tables, *report.listings):
            for record in table.records():
                tell(table=table.name, **record)
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_WITHOUT_TERMINAL
    click.echo(f"\n{one_line(report.title)}\n")
    for name, value in report.facts:
        click.echo(f"{name + ':':<12} {one_line(value)}")
    for table in report.tables:
        click.echo()
        console.print(_terminal(table))
        if table.note:
            click.echo(one_line(table.note))
    click.echo()
    for note in report.notes:
        click.echo(f"- {one_line(note)}")
    click.echo(f"- The arms part on {len(report.stories):,} questions (told in full in --html).")


def _terminal(table: Table) -> object:
    from rich.box import SIMPLE
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=Text(table.title), box=SIMPLE, title_justify="left", pad_edge=False)
    numbers = [all(row[index].number for row in table.rows) for index in range(len(table.columns))]
    for column, number in zip(table.columns, numbers, strict=True):
        shown.add_column(Text(column), justify="right" if number else "left")
    for row in table.rows:
        shown.add_row(*(Text(one_line(cell.text, 300)) for cell in row))
    return shown


def read_labels(path: Path) -> dict[str, str]:
    """True failure types by question id. Raises MeritoError that names file, line and field."""
    import csv

    from core.feedback.verdict import FailureType

    kinds = {kind.value for kind in FailureType}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as wrong:
        raise MeritoError(f"{path} cannot be read: {wrong}.", "Give a CSV file in UTF-8.") from None
    labels = {}
    for line, row in enumerate(rows, start=2):
        question, label = row.get("question"), row.get("label")
        if not question or label not in kinds:
            raise MeritoError(
                f"{path}: record {line}: there is no question, or the label {label!r} is no type.",
                f"Columns: question, label. Labels: {', '.join(sorted(kinds))}.",
            )
        labels[question] = label
    return labels
