"""One run under the console's eyes: its events, its view model, and the hand that steers it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, NamedTuple

from core.run.control import Control, Judgement
from core.run.events import AnyEvent
from tui.view.run_view import RunView

if TYPE_CHECKING:
    from tui.console.archive import Archive
    from tui.console.memory_library import Library
    from tui.workbench import Workbench


class Opened(NamedTuple):
    """A run that has been put together: its recorded events, its hand, and its store. Without events
    it is the store alone."""

    events: AsyncIterator[AnyEvent] | None
    control: Control | None
    library: Library | None
    archive: Archive | None
    workbench: Workbench | None = None
    notice: str | None = None
    """Something to know about the store; None leaves what was said."""


OpenRun = Callable[[], AbstractAsyncContextManager[Opened]]
"""Puts a run together, which may take as long as loading a model takes, and apart again."""

ToCome = Callable[[], AsyncIterator[Opened]]
"""Gives what was not there when the console opened, as soon as it is."""

_SLICE = 0.012
"""Seconds of events in one go; then the interface gets its turn."""


class Session:
    """A run as one screen shows it. With no control it can be watched, not steered."""

    def __init__(
        self,
        events: AsyncIterator[AnyEvent] | None = None,
        control: Control | None = None,
        archive: Archive | None = None,
        *,
        replayed: bool = False,
    ) -> None:
        self.view = RunView()
        self.control = control
        self.replayed = replayed
        self.failure = ""
        """Why reading broke off, in words."""
        self.reading = False
        self._heard = time.monotonic()
        self.workbench: Workbench | None = None
        """The run's databases by hand, where they are at hand."""
        self.drafts: dict[object, str] = {}
        """SQL that a person has begun to write, by the attempt that it corrects."""
        self._events = events
        self._archive = archive

    def attach(self, opened: Opened, *, steer: bool) -> None:
        """Take over a run that was put together after the console opened."""
        self._events, self._archive = opened.events, opened.archive
        self.control = opened.control if steer else None
        self.workbench = opened.workbench

    @property
    def live(self) -> bool:
        """Whether events still arrive."""
        return self.reading

    @property
    def now(self) -> float:
        """The run's own time, which goes on between two events of a live run."""
        silence = time.monotonic() - self._heard if self.reading else 0.0
        return self.view.now + silence

    @property
    def empty(self) -> bool:
        """Whether no run has shown itself yet, and none is about to."""
        return not self.view.version and self._events is None and not self.reading

    @property
    def steerable(self) -> bool:
        """Whether keys can change what the run does."""
        return self.control is not None and self.reading and not self.control.stopped

    async def read(self, changed: Callable[[], None]) -> None:
        """Take every event into the view; `changed` is told, often. Raises what the run raises."""
        if self._events is None:
            return
        self.reading = True
        changed()
        since = time.perf_counter()
        try:
            async for event in self._events:
                self.view.apply(event)
                self._heard = time.monotonic()
                changed()
                if time.perf_counter() - since > _SLICE:
                    await asyncio.sleep(0)
                    since = time.perf_counter()
        finally:
            self.reading = False
            changed()

    async def recall(self, position: int) -> bool:
        """Read an old episode's detail again; False where there is nowhere to read it from."""
        if self._archive is None:
            return False
        events = await self._archive.episode(self.view.figures.run, position)
        if not events:
            return False
        self.view.recall(position, events)
        return True

    def waits_for_judge(self, position: int | None) -> tuple[int, int] | None:
        """The (position, attempt) that waits: at `position`, or the oldest anywhere."""
        for key in self.view.waiting:
            if position is None or key[0] == position:
                return key
        return None

    def judge(self, position: int, attempt: int, judgement: Judgement) -> bool:
        """Hand a person's word to the run; False where it no longer waits for it."""
        return self.control is not None and self.control.judge(position, attempt, judgement)
