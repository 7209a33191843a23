"""The pictures of the README: each room of the console over the recorded sample run, as SVG. Nothing in
them depends on the clock or the machine: `make readme-pictures` on the same sources changes no byte.

    python docs/pictures/make.py
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace
from textual.pilot import Pilot

import sample_dbs
from core.models.choosing import Choice
from core.models.replay import ReplayModel, recorded_calls
from stores.specs import KeptPool, KeptSelection
from stores.store import Store
from tests.tui.console.stage import settled, until
from tui.console.app import MeritoApp
from tui.console.asker import Asker
from tui.console.screens.ask import AskField, AskScreen
from tui.console.screens.experiments import ExperimentsScreen
from tui.console.screens.replay import ReplayScreen
from tui.console.stored import StoreArchive
from tui.console.stored_library import StoreLibrary
from tui.console.widgets.judgebar import JudgeBar
from tui.demo import RECORDED_RUN
from tui.engines import Engines
from tui.order import Order
from tui.replaying import Take, opened, shelved

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from core.run.events import AnyEvent

HERE = Path(__file__).parent
SIZE = (120, 40)
THEME = "merito-dark"
FONTS = "Fira Code, ui-monospace, SF Mono, Menlo, Consolas, DejaVu Sans Mono, monospace"
ASKED = 4
"""The position of the recorded question that is asked again on Ask, with the answers of then."""
REPAIRED = 3
"""That of a question that was repaired with the help of memory."""

Act = Callable[[MeritoApp, Pilot[int]], Awaitable[None]]


# Ways to what a picture shows.


def keys(*pressed: str) -> Act:
    async def act(_app: MeritoApp, pilot: Pilot[int]) -> None:
        for key in pressed:
            await pilot.press(key)
            await settled(pilot)

    return act


async def in_the_middle(app: MeritoApp, pilot: Pilot[int]) -> None:
    """Where the last question's first repair has been judged."""
    room = cast("ReplayScreen", app.screen)
    await until(pilot, lambda: room.playback is not None and room.playback.chart.complete)
    await keys(*"n" * (REPAIRED + 1), "right_curly_bracket", "right_curly_bracket")(app, pilot)


async def compared(app: MeritoApp, pilot: Pilot[int]) -> None:
    """The tables are there."""
    room = cast("ExperimentsScreen", app.screen)
    await keys("down")(app, pilot)
    await until(pilot, lambda: room.studies and room.studies.known_report(room.runs_list.shown))
    await settled(pilot)


async def asked(app: MeritoApp, pilot: Pilot[int]) -> None:
    """A question is put to a sample database, and its repair waits for a word."""
    room = cast("AskScreen", app.screen)
    while room.databases.row is None or room.databases.row.source.name != "food_market":
        await keys("down")(app, pilot)
    await keys("enter")(app, pilot)
    await until(pilot, lambda: room.databases.schema)
    while room.databases.row is None or room.databases.row.name != "product":
        await keys("down")(app, pilot)
    await keys("enter", "a")(app, pilot)
    await until(pilot, lambda: isinstance(app.focused, AskField))
    cast("AskField", app.focused).value = app.session.view.rows[ASKED].question.text
    await pilot.press("enter")
    await until(pilot, lambda: (0, 1) in room.session.view.waiting)
    await until(pilot, lambda: room.query_one(JudgeBar).armed)
    stop_the_clocks(room)
    app.changed()


def stop_the_clocks(room: AskScreen) -> None:
    """What was measured just now is another figure with every picture: it stands for all of them."""
    room.session._heard = time.monotonic() + 3_600
    for attempt in room.session.view.episode(0).attempts:  # type: ignore[union-attr]
        if attempt.result is not None:
            attempt.result = replace(attempt.result, seconds=0.001)
            attempt.version += 1


# What the rooms stand on.


class Chosen:
    """The choices that were recorded."""

    def __init__(self) -> None:
        kept = (HERE / "selections.json").read_bytes()
        self._kept = msgspec.json.decode(kept, type=list[KeptSelection])

    async def pools(self) -> Sequence[KeptPool]:
        first = self._kept[0]
        methods = tuple(each.selection.method for each in self._kept)
        return [KeptPool(pool=first.pool, questions=1, methods=methods, at=first.at)]

    async def selections(self, pool: str) -> Sequence[KeptSelection]:
        return self._kept


def asker(take: Take, folder: Path) -> Asker:
    """Puts questions to the sample databases; the model is the recording, and is called so."""
    calls = [call for call in recorded_calls(take.events()) if call.position == ASKED]
    name = take.reel.read(0, 1)[0].model.name  # type: ignore[union-attr]
    model = ReplayModel(calls, name=name, in_order=True)
    return Asker(
        lambda: Order(stream="", store=folder / "asked.sqlite", strategy="merito-no-memory"),
        folders=[(sample_dbs.folder(), "sample")],
        engines=lambda: Engines(Choice(model=model, why=())),
    )


async def told(take: Take) -> AsyncIterator[AnyEvent]:
    for event in take.events():
        yield event


PICTURES: dict[str, Act] = {
    "run": keys("g", *"j" * REPAIRED),
    "memory": keys("j"),
    "replay": in_the_middle,
    "experiments": compared,
    "ask": asked,
    "selection": keys("j", "j"),
}
"""Each room, and the way to what its picture shows."""


async def draw(room: str, take: Take, store: Store, folder: Path) -> str:
    """The room as SVG."""
    asking = asker(take, folder)
    app = MeritoApp(
        room=room,
        events=told(take),
        stored=True,
        library=StoreLibrary(store),
        archive=StoreArchive(store),
        asker=asking,
        theme=THEME,
        who="you",
    )
    app.selections = Chosen()
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.session.view.ended)
        await PICTURES[room](app, pilot)
        app.clear_notifications()
        await until(pilot, lambda: not app.screen.query("Toast"))
        await settled(pilot)
        picture = app.export_screenshot(title=f"Merito: {room.capitalize()}")
    await asking.close()
    return plain_fonts(picture)


def plain_fonts(svg: str) -> str:
    """With fonts that a reader's machine has: a page may not fetch any for a picture in it."""
    svg = re.sub(r"\s*@font-face \{.*?\n    \}", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", FONTS)


def main() -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    with (
        opened(str(RECORDED_RUN), HERE) as recorded,
        shelved(recorded) as take,
        Store.open(cast("Store", take.store).path, mode="review") as store,
    ):
        for room in sys.argv[1:] or PICTURES:
            with TemporaryDirectory() as folder:
                picture = asyncio.run(draw(room, take, store, Path(folder)))
            path = HERE / f"{room}.svg"
            path.write_text(picture, encoding="utf-8")
            print(f"{path.relative_to(Path.cwd())}: {len(picture):,} characters")


if __name__ == "__main__":
    main()
