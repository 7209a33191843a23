"""Runs judged again by the gold of their data sets: `merito eval --run`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from core.datasets.loading import load
from core.datasets.records import STDIN
from core.errors import UsageMistake
from core.experiments.metrics import RunMetrics, metrics_of
from core.experiments.rescoring import (
    Plan,
    Rescoring,
    difference_table,
    omitted_table,
    plan_of,
    question_records,
    rescored,
    summary_table,
)
from stores.runs import LAST
from stores.store import Store
from tui.experiments.reporting import named_runs
from tui.experiments.telling import tell
from tui.experiments.terminal import show_tables
from tui.order import is_a_database
from tui.replaying import opened
from tui.view.wrapping import say

if TYPE_CHECKING:
    from core.datasets.dataset import DataSet
    from core.experiments.table import Table
    from core.feedback.evaluation import Decision

    Watch = Callable[[int], AbstractContextManager[Callable[[Decision], object]]]

MOST_WORKERS = 4


def by_gold(names: Sequence[str], store: Path, root: Path | None, watch: Watch | None) -> int:
    """Judge the named runs again and show what came out: as JSON without `watch`, which is told how
    much there is to do and then each decision. `root` is where the data is now, if it has moved.

    Returns 1 where a finished question could not be judged. Raises MeritoError.
    """
    found = (_last(store, root) if name == LAST else _named(name, store, root) for name in names)
    meant = {run.run: (run, dataset) for run, dataset in found}
    planned = [(plan_of(run, dataset), dataset) for run, dataset in meant.values()]
    total = sum(len(plan.pairs) for plan, _ in planned)
    watched: AbstractContextManager[Callable[[Decision], object]] = (
        watch(total) if watch else nullcontext(lambda _decision: None)
    )
    with watched as heard:
        rescorings = asyncio.run(_rescored(planned, heard))
    if watch:
        show_tables([table for table in _tables(rescorings) if table.rows])
    else:
        _tell(rescorings)
    return 0 if all(each.complete for each in rescorings) else 1


def cells(experiments: Sequence[str], store: Path) -> list[str]:
    """The ids of the runs of these experiments. Raises MeritoError where one has none."""
    if not experiments:
        return []
    with closing(Store.open(store, mode="read")) as opened_store:
        return named_runs(opened_store, (), experiments)


def _named(name: str, store: Path, root: Path | None) -> tuple[RunMetrics, DataSet]:
    run = _read(name, store)
    return run, data_set_of(run, root)


def _last(store: Path, root: Path | None) -> tuple[RunMetrics, DataSet]:
    """The run that began last among those whose questions have gold; said where later ones have none.
    Raises MeritoError where there is no such run."""
    with closing(Store.open(store, mode="read")) as opened_store:
        newest = opened_store.run(LAST).id
        records = opened_store.runs()
    without: set[str] = set()
    for record in records:
        if record.dataset in without or not _may_have_gold(record.dataset):
            continue
        try:
            found = _named(record.id, store, root)
        except WithoutGold:
            without.add(record.dataset)
            continue
        if record.id != newest:
            say(f"The last run whose questions have gold is {record.id}.", err=True)
        return found
    raise WithoutGold(
        f"No run in {store} asked questions that have gold SQL, so nothing can be compared.",
        "Begin one over a data set with gold: merito run STREAM.",
    )


def _may_have_gold(dataset: str) -> bool:
    return dataset != STDIN and not is_a_database(dataset)


def _read(name: str, store: Path) -> RunMetrics:
    with opened(name, store) as take:
        if take.redacted:
            raise UsageMistake(
                f"The run {take.run} is redacted: the values in its SQL are replaced, so its rows would"
                " be others.",
                "Name the run itself, or a recording that is not redacted.",
            )
        return metrics_of(take.events())


def data_set_of(run: RunMetrics, root: Path | None) -> DataSet:
    """The data set that the run was put about, read again. Raises MeritoError where it is not there
    any more, or never had gold."""
    told = run.settings
    stream = Path(told.dataset)
    if not _may_have_gold(told.dataset):
        raise _without_gold(run)
    databases = root or (Path(told.root) if told.root else None)
    if not stream.exists():
        stream = _moved(run, root)
        databases = root
    dataset = load(stream, root=databases, leave_broken_out=True)
    if not dataset.golds:
        raise _without_gold(run)
    return dataset


class WithoutGold(UsageMistake):
    """A run's questions have no gold to judge by."""


def _without_gold(run: RunMetrics) -> WithoutGold:
    return WithoutGold(
        f"The run {run.run} asked questions that have no gold SQL, so nothing can be compared.",
        "Name a run over a data set with gold; --run last is the newest of these.",
    )


def _moved(run: RunMetrics, root: Path | None) -> Path:
    """The data set below `root`, where it has moved there under its own name."""
    was = Path(run.settings.dataset)
    if root is not None:
        places = [root / was.name] if was.suffix else [root / was.name, root]
        found = next((place for place in places if place.exists()), None)
        if found is not None:
            return found
    raise UsageMistake(
        f"The data set of the run {run.run} is not at {was} any more.",
        f"Give the folder where {was.name} is now with --root.",
    )


async def _rescored(
    planned: Sequence[tuple[Plan, DataSet]], heard: Callable[[Decision], object]
) -> list[Rescoring]:
    from core.database.sandbox import Sandbox
    from core.feedback.denotation import Denotation

    workers = min(MOST_WORKERS, os.cpu_count() or 1)
    async with Sandbox(workers) as sandbox:
        found = []
        for plan, dataset in planned:
            told = plan.run.settings
            denotation = Denotation(
                sandbox, dataset.folder, dataset.golds, told.protocol, told.deadline
            )
            found.append(await rescored(plan, denotation, at_once=workers, heard=heard))
        return found


def _tables(rescorings: Sequence[Rescoring]) -> tuple[Table, ...]:
    return summary_table(rescorings), omitted_table(rescorings), difference_table(rescorings)


def _tell(rescorings: Sequence[Rescoring]) -> None:
    for rescoring in rescorings:
        for record in question_records(rescoring):
            tell(table="answers", **record)
    for table in _tables(rescorings):
        for row in table.records():
            tell(table=table.name, **row)
