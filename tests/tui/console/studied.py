"""Stored runs of three strategies, and the Experiments room over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.pilot import Pilot

from core.run.events import AnyEvent, EpisodeOutcome
from tests.streams import EPOCH, Plan, run_events, settings
from tests.tui.console.stage import Annals, console, settled, until
from tui.console.app import MeritoApp
from tui.console.screens.compare import CompareScreen
from tui.console.screens.experiments import ExperimentsScreen
from tui.console.screens.replay import ReplayScreen

RIGHT: Plan = (EpisodeOutcome.RIGHT_AT_ONCE, 0)
REPAIRED: Plan = (EpisodeOutcome.REPAIRED, 2)
FAILED: Plan = (EpisodeOutcome.FAILED, 3)
BROKEN: Plan = (EpisodeOutcome.BROKEN, 0)
PLANS = {
    "none": (RIGHT, FAILED, FAILED, RIGHT, FAILED, FAILED, BROKEN, FAILED),
    "iterative": (RIGHT, REPAIRED, FAILED, RIGHT, FAILED, FAILED, BROKEN, FAILED),
    "merit": (RIGHT, FAILED, REPAIRED, RIGHT, REPAIRED, REPAIRED, BROKEN, FAILED),
}


def ran(strategy: str, *, n: int = 8, order: int = 0, prefix: str = "", **more: Any) -> list[AnyEvent]:
    asked = settings(strategy=strategy, order_seed=order, **more.pop("changes", {}))
    run = f"{prefix}{strategy}-{order}"
    return run_events(n, run=run, plans=PLANS[strategy], run_settings=asked, **more)


def study(**more: Any) -> list[list[AnyEvent]]:
    return [ran(strategy, at=EPOCH + place, **more) for place, strategy in enumerate(PLANS)]


def room(runs: Sequence[Sequence[AnyEvent]], **options: Any) -> MeritoApp:
    return console(run_events(2), room="experiments", archive=Annals(*runs), **options)


def screen(app: MeritoApp) -> ExperimentsScreen:
    found = app.screen_stack[0]
    assert isinstance(found, ExperimentsScreen)
    return found


async def computed(pilot: Pilot[Any], app: MeritoApp) -> None:
    """Let the tables of what is chosen be computed."""
    here = screen(app)
    await until(pilot, lambda: here.studies is not None and here.studies.loaded)
    await until(pilot, lambda: here.studies.known_report(here.runs_list.shown) is not None)
    await settled(pilot)


def signs(app: MeritoApp) -> set[str]:
    return set(screen(app).runs_list.signs)


async def compared(pilot: Pilot[Any], app: MeritoApp, *keys: str) -> CompareScreen:
    await computed(pilot, app)
    await pilot.press(*(keys or ("down", "space", "space", "v")))
    await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.pairing)
    await settled(pilot)
    found = app.screen
    assert isinstance(found, CompareScreen)
    return found


def ids(side_by_side: CompareScreen) -> list[str]:
    return [pair.first.question.id for pair in side_by_side.questions._found]


def story(side_by_side: CompareScreen, side: str) -> str:
    return side_by_side.query_one(f"#{side}").text


def replayed(app: MeritoApp) -> str:
    """The run that Replay shows."""
    assert isinstance(app.screen, ReplayScreen)
    return app.screen.session.view.figures.run


# Everything at once.
