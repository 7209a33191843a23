"""Stored runs, read and compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from core.errors import MeritoError, UsageMistake
from core.experiments.metrics import RunMetrics, gold_hash, metrics_of
from core.experiments.report import Report, report_of
from stores.store import Store


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
    return report_of(
        metrics,
        title=title,
        golds=golds_of(metrics),
        benchmarks=benchmarks_of(metrics),
        labels=labels,
        right_sql={
            name: found
            for name, root in _data_sets(metrics).items()
            if (found := right_sql(name, root))
        },
    )


def golds_of(metrics: Sequence[RunMetrics]) -> dict[str, dict[str, str]]:
    """A hash of each question's gold, for the data sets of the runs that are at hand."""
    return {
        name: {question: gold_hash(*each) for question, each in found.items()}
        for name, root in _data_sets(metrics).items()
        if (found := _golds(name, root))
    }


def _data_sets(metrics: Sequence[RunMetrics]) -> dict[str, str]:
    return {run.settings.dataset: run.settings.root for run in metrics}


def right_sql(dataset: str, root: str) -> dict[str, str]:
    """Gold SQL by question id; nothing where the data set is not there any more."""
    return {question: gold for question, (_, gold) in _golds(dataset, root).items()}


@lru_cache(maxsize=4)
def _golds(dataset: str, root: str) -> dict[str, tuple[str, str]]:
    """Database and gold of each question; nothing where the data set is not there any more."""
    from core.datasets.loading import load
    from core.datasets.records import STDIN

    if dataset == STDIN:
        return {}
    try:
        loaded = load(dataset, root=Path(root) if root else None, leave_broken_out=True)
    except MeritoError:
        return {}
    return {
        question.id: (question.database, loaded.golds[question.id])
        for question in loaded.questions
        if question.id in loaded.golds
    }


BENCHMARKS = {
    "spider": "spider",
    "spider_data": "spider",
    "bird": "bird",
    "dev_20240627": "bird",
    "mini_dev": "bird",
    "minidev": "bird",
}
"""How the folders of the papers' benchmarks are called as they are given out, in small letters; no
part of a longer name, which is that of another set."""


def benchmarks_of(metrics: Sequence[RunMetrics]) -> dict[str, str]:
    """Data sets that are one of the papers' benchmarks, as far as their names tell."""
    found = {}
    for run in metrics:
        file = Path(run.settings.dataset)
        folder = file.parent if file.suffix else file
        benchmark = BENCHMARKS.get(folder.name.casefold().replace("-", "_"))
        known_file = file.name in (folder.name, "dev.json", "mini_dev_sqlite.json")
        if known_file and benchmark == run.settings.protocol:
            found[run.settings.dataset] = benchmark
    return found


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
