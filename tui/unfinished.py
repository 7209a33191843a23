"""Which run `--resume` means: the one that is named, or the newest that was left unfinished."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from core.errors import UsageMistake
from stores.errors import NoStore, StoreTrouble
from stores.runs import RunRecord
from stores.store import Store
from tui.order import Order, dataset_of, is_a_database, run_settings, strategy_of

_NOT_A_CELL = re.compile(r"\d{8}-\d{6}-")
"""How the id of a run begins that is no cell of an experiment; `bench` goes on with its cells."""


def run_to_go_on_with(store: Store, name: str | None, order: Order) -> str:
    """The id of the run that is meant. Without a name it is the newest unfinished one that `order`
    would have started, or, where the order names no stream, the newest over any stream. Raises
    UsageMistake where there is none."""
    if name is not None:
        return store.run(name).id
    return _of_these_settings(store, order) if order.stream else _of_any_stream(store)


def check_meaning(path: Path, name: str | None, order: Order) -> None:
    """Raises MeritoError where there is no such run, or it is finished, or the model's name is none.
    The store is only read for it, so that this is said whoever writes to it."""
    from core.models.choosing import check_name

    if order.model:
        check_name(order.model)
    try:
        with closing(Store.open(path, mode="read")) as store:
            store.resume_state(run_to_go_on_with(store, name, order))
    except NoStore:
        raise
    except StoreTrouble:
        return  # An older store, for one, is brought up to date when it is opened for writing.


def _of_these_settings(store: Store, order: Order) -> str:
    dataset = dataset_of(order)
    record = store.find_run(run_settings(order, dataset, strategy_of(order)))
    if record is None:
        raise UsageMistake(
            "There is no unfinished run with these settings.",
            "Start one without --resume, or name a run: merito run --resume RUN.",
        )
    return record.id


def _of_any_stream(store: Store) -> str:
    record = next(filter(_goes_on_with_run, store.runs()), None)
    if record is None:
        raise UsageMistake(
            f"No run over a stream was left unfinished in {store.path}.",
            "Start one: merito run STREAM.",
        )
    return record.id


def _goes_on_with_run(record: RunRecord) -> bool:
    """Whether it is unfinished, and neither a question of `ask` nor a cell of an experiment."""
    return (
        not record.finished
        and not is_a_database(record.dataset)
        and _NOT_A_CELL.match(record.id) is not None
    )
