"""An experiment's cells, run into the store; what is there already is kept."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from core.datasets.dataset import DataSet
from core.datasets.loading import load
from core.datasets.records import STDIN
from core.errors import UsageMistake
from core.experiments.design import Cell, Experiment, sample
from core.prompts.template import Templates
from core.question import Stream
from core.repair.strategy import Strategy, strategy_named
from core.run.events import AnyEvent
from core.run.progress import Progress
from stores.runs import RunRecord
from stores.store import Store
from tui import settings
from tui.engines import Engines, engines
from tui.order import Order, run_settings
from tui.selection.drafts import WITH_MEMORIES, WITHOUT
from tui.session import assembled, same_model, same_prompts


class Study:
    """An experiment with everything that it needs at hand."""

    def __init__(
        self, experiment: Experiment, order: Order, dataset: DataSet, store: Store, ready: Engines
    ) -> None:
        self.experiment = experiment
        self.cells = experiment.cells()
        self.store = store
        self.ready = ready
        self._order = order
        self._dataset = dataset

    def records(self) -> dict[str, RunRecord]:
        """What the store has of the cells, by run id."""
        wanted = {cell.run for cell in self.cells}
        return {record.id: record for record in self.store.runs() if record.id in wanted}

    async def events(self, cell: Cell) -> AsyncGenerator[AnyEvent, None]:
        """Run a cell, or go on with it; nothing where it is finished. A closing event is committed
        before it is passed on. Raises ModelTrouble where the model fails for good, and MeritoError
        where somebody has changed the prompts since the experiment began."""
        record = self.records().get(cell.run)
        if record is not None and record.finished:
            return
        begun, progress, wanted = time.time(), Progress(), self.experiment.settings(cell)
        if record is not None:
            state = self.store.resume_state(cell.run)
            same_model(state.model, self.experiment.model)
            begun, progress, wanted = record.started, state.progress, state.settings
        same_prompts(cell.run, self.experiment.prompts, wanted)
        dataset = DataSet(
            name=self._dataset.name,
            protocol=self._dataset.protocol,
            questions=Stream(cell.questions),
            golds=self._dataset.golds,
            folder=self._dataset.folder,
            problems=self._dataset.problems,
            left_out=self._dataset.left_out,
        )
        async with assembled(
            self.ready,
            self._order,
            dataset,
            cell.strategy,
            wanted,
            self.store,
            cell.run,
            progress,
            begun,
            # A repeat tells how steady the answers are: none of its repairs is taken over.
            shares_repairs=cell.again == 0,
        ) as session:
            events: Any = session.events()
            async with aclosing(events):
                async for event in events:
                    yield event


@asynccontextmanager
async def study(
    order: Order,
    strategies: Sequence[str],
    orders: Sequence[int | None],
    *,
    repeats: int = 1,
    jobs: int | None = None,
) -> AsyncIterator[Study]:
    """Design an experiment and open what it needs, the cheap checks first. `order` says all but
    strategy and sequence, `jobs` how much is under way at once. Raises MeritoError."""
    if order.stream == STDIN:
        raise UsageMistake(
            "An experiment reads its questions again for every cell, and standard input only once.",
            "Put the questions into a file.",
        )
    rows = [strategy_named(name) for name in strategies]
    dataset = load(order.stream, root=order.root, dataset=order.layout_of_stream, leave_broken_out=True)
    questions = sample(dataset.questions, order.limit, order.seed)
    common = run_settings(order, dataset, rows[0])
    templates = Templates.load(Path(common.prompts) if common.prompts else None)
    path = settings.store_path(None if order.store is None else str(order.store))
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open(path, create=True))
        ready = await stack.enter_async_context(engines(common.model, *rows, jobs=jobs))
        experiment = Experiment(
            common=common,
            layout=order.layout,
            model=await ready.choice.model.describe(),
            prompts=templates.digest,
            questions=questions,
            golds=dataset.golds,
            strategies=_once(rows),
            orders=tuple(dict.fromkeys(orders)),
            repeats=repeats,
        )
        if order.selector is None:
            experiment = _as_begun(experiment, store)
        yield Study(experiment, order, dataset, store, ready)


def _as_begun(experiment: Experiment, store: Store) -> Experiment:
    """The experiment as the store has it. Where nobody says how candidates are chosen from, that
    follows from whether there are memories, and there may be some only since it was begun."""
    drafting = experiment.common.drafting
    if isinstance(drafting, msgspec.UnsetType):
        return experiment
    begun = {record.id.partition("-")[0] for record in store.runs()}
    for method in (WITHOUT, WITH_MEMORIES):
        common = msgspec.structs.replace(
            experiment.common, drafting=msgspec.structs.replace(drafting, method=method)
        )
        other = msgspec.structs.replace(experiment, common=common)
        if other.id in begun:
            return other
    return experiment


def _once(rows: Sequence[Strategy]) -> tuple[Strategy, ...]:
    return tuple({row.name: row for row in rows}.values())
