"""Whatever sizes a terminal goes through while a run goes on, in whatever room: the console lives,
fills the terminal exactly, and what a person has chosen stays chosen and in view."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.pilot import Pilot

from core.run.events import AnyEvent, EpisodeEnded
from tests.streams import run_events
from tests.tui.console.stage import Annals, Shelves, settled, until
from tui.console.app import MeritoApp
from tui.console.rooms import ROOMS
from tui.console.screens.base import RoomScreen
from tui.console.screens.memory import MemoryScreen
from tui.console.screens.run import RunScreen
from tui.console.widgets.listing import Listing

STEPS = 32
SMALLEST, LARGEST = (20, 5), (220, 70)
WAYS = ("resize", "resize", "resize", "room", "room", "events", "choose", "help")
"""What happens next, the likelier the oftener."""
SEED = 3 if os.environ.get("CI") else random.randrange(1_000_000)
"""CI walks the same way every time, everybody else a new one."""


class Walk:
    """A console over a run in motion, resized and walked through at random."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.waiting = run_events(60, deltas=True)
        self.came: asyncio.Queue[AnyEvent] = asyncio.Queue()
        self.shelves = Shelves(())
        self.annals = Annals(run_events(4, run="run-0"))
        self.app = MeritoApp(
            events=self.events(), library=self.shelves, archive=self.annals, stored=True, who="ana"
        )
        self.size = (120, 40)
        self.question: int | None = None
        self.memory: str | None = None

    async def events(self) -> AsyncIterator[AnyEvent]:
        """The run, as far as the test lets it come."""
        while True:
            yield await self.came.get()

    def go_on(self, count: int) -> None:
        """So many events more, with what they teach."""
        for event in self.waiting[:count]:
            self.came.put_nowait(event)
            if isinstance(event, EpisodeEnded) and event.memory is not None:
                self.shelves._entries.append(event.memory)
        del self.waiting[:count]

    async def step(self, pilot: Pilot[Any]) -> str:
        """One thing that happens; says what."""
        what = self.rng.choice(WAYS)
        await getattr(self, f"_{what}")(pilot)
        await pilot.pause()
        return f"{what} at {self.size} in {self.app.current_mode}"

    async def _resize(self, pilot: Pilot[Any]) -> None:
        extreme = self.rng.random() < 0.2
        sides = zip(SMALLEST, LARGEST, strict=True)
        width, height = (
            self.rng.choice(pair) if extreme else self.rng.randint(*pair) for pair in sides
        )
        self.size = (width, height)
        await pilot.resize_terminal(width, height)

    async def _room(self, pilot: Pilot[Any]) -> None:
        here = self.rng.choice(["run", "memory", *(room.name for room in ROOMS)])
        await pilot.press(self.app.preferences.keys.named(f"room.{here}").keys)

    async def _events(self, _pilot: Pilot[Any]) -> None:
        self.go_on(self.rng.randint(1, 60))

    async def _choose(self, pilot: Pilot[Any]) -> None:
        screen = self.app.screen
        if not isinstance(screen, RunScreen | MemoryScreen):
            return
        screen.front(screen.PANES[0])
        await pilot.press(self.rng.choice(("down", "up", "pagedown", "G", "G")))
        if isinstance(screen, RunScreen) and not screen.following:
            self.question = screen.queue.position
        if isinstance(screen, MemoryScreen) and screen.shelf.chosen is not None:
            self.memory = screen.shelf.chosen.id

    async def _help(self, pilot: Pilot[Any]) -> None:
        """A sheet is open while the terminal changes its size."""
        await pilot.press("question_mark")
        await self._resize(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(self.app.screen, RoomScreen))

    def check(self) -> None:
        """What holds after every step."""
        assert self.app.is_running
        assert self.app._exception is None
        lines = [strip.cell_length for strip in self.app.screen._compositor.render_strips()]
        assert lines == [self.size[0]] * self.size[1]
        run, memory = self.app.built.get("run"), self.app.built.get("memory")
        if self.question is not None:
            assert isinstance(run, RunScreen)
            assert run.queue.position == self.question
        if self.memory is not None:
            assert isinstance(memory, MemoryScreen)
            assert memory.shelf.chosen is not None
            assert memory.shelf.chosen.id == self.memory
        for screen in (run, memory):
            if screen is self.app.screen:
                in_view(screen.query(Listing).first())


def in_view(listing: Listing) -> None:
    """The row under the cursor is among those on show, where the list has any room."""
    top, room = listing.scroll_offset.y, listing.scrollable_content_region.height
    if listing.row_count and room:
        assert top <= listing.cursor < top + room


@pytest.mark.parametrize("seed", [pytest.param(SEED, id="seed")])
async def test_a_random_walk_through_sizes_and_rooms_during_a_run(seed: int) -> None:
    walk = Walk(seed)
    async with walk.app.run_test(size=walk.size) as pilot:
        walk.go_on(200)
        await settled(pilot)
        await walk._choose(pilot)
        await pilot.press("2")
        await until(pilot, lambda: walk.app.screen.query(Listing).first().row_count)
        await walk._choose(pilot)
        assert walk.question is not None
        assert walk.memory is not None
        told: list[str] = []
        for _ in range(STEPS):
            told.append(await walk.step(pilot))
            try:
                walk.check()
            except AssertionError as wrong:
                wrong.add_note(f"seed {seed}, the last steps: {told[-6:]}")
                raise
