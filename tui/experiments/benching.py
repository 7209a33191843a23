"""From a design to a report: run what is missing, tell how far it is, show what came out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, aclosing

from core.experiments.tables import GOLD
from core.models.chat import ModelTrouble
from core.run.jobs import merged
from core.wording import counted
from tui.experiments.cells import Study, study
from tui.experiments.reporting import reported, stored_metrics
from tui.experiments.telling import tell, telling
from tui.experiments.terminal import show
from tui.interruption import until_interrupted
from tui.order import Order
from tui.running import DONE, FAILURES, INTERRUPTED
from tui.shell_words import typed
from tui.view.wrapping import say


def bench(
    order: Order,
    strategies: Sequence[str],
    orders: Sequence[int | None],
    *,
    repeats: int,
    jobs: int | None,
    plain: bool,
    as_json: bool,
) -> int:
    """Run an experiment to its end and return the exit code."""
    studied = study(order, strategies, orders, repeats=repeats, jobs=jobs)
    return asyncio.run(_benched(studied, plain, as_json))


async def _benched(studied: AbstractAsyncContextManager[Study], plain: bool, as_json: bool) -> int:
    async with studied as opened:
        _introduce(opened, as_json)
        try:
            done = await until_interrupted(_all_cells(opened, plain, as_json))
        except ModelTrouble as trouble:
            say(f"merito: {trouble}", err=True)
            _say_how_to_go_on()
            return FAILURES
        if not done:
            _say_how_to_go_on()
            return INTERRUPTED
        metrics = stored_metrics(opened.store, [cell.run for cell in opened.cells])
        show(reported(metrics, f"Experiment {opened.experiment.id}"), as_json=as_json)
        if not as_json:
            page = ("report", "--experiment", opened.experiment.id, "--html", "report.html")
            say("As a page:", command=typed(*page, store=opened.store.path))
            if opened.experiment.common.regime != GOLD:
                again = ("eval", "--experiment", opened.experiment.id)
                say("By gold:", command=typed(*again, store=opened.store.path))
        broken = any(
            each.left_out or not all(result.judged for result in each.results) for each in metrics
        )
        return FAILURES if broken else DONE


async def _all_cells(opened: Study, plain: bool, as_json: bool) -> None:
    """As many cells at once as the engine gains from: they need nothing of each other."""
    cells = merged(map(opened.events, opened.cells), opened.ready.jobs.width)
    with telling(plain, as_json)(opened.experiment, opened.records()) as face:
        async with aclosing(cells) as events:
            async for event in events:
                face.hear(event)


def _introduce(opened: Study, as_json: bool) -> None:
    experiment, cells = opened.experiment, opened.cells
    if as_json:
        tell(
            experiment=experiment.id,
            questions=len(experiment.questions),
            runs=[cell.run for cell in cells],
        )
        return
    for line in opened.ready.choice.why:
        say(line)
    done = sum(record.finished for record in opened.records().values())
    say(
        f"Experiment {experiment.id}: {counted(len(experiment.questions), 'question')},"
        f" {counted(len(experiment.strategies), 'strategy', 'strategies')},"
        f" {counted(len(experiment.orders), 'order')}"
        f"{f', each {experiment.repeats} times' if experiment.repeats > 1 else ''};"
        f" {done} of {counted(len(cells), 'run')} {'is' if len(cells) == 1 else 'are'} finished."
    )


def _say_how_to_go_on() -> None:
    say("Everything finished is kept. Go on with the same command.", err=True)
