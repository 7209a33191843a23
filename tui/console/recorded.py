"""The console's archive over one recorded run: what a file holds, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property

from core.run.events import AnyEvent, RunStarted
from core.run.figures import figures_of
from tui.console.archive import StoredRun
from tui.replaying import Take
from tui.view.reel import Reel


class TakeArchive:
    """The one run that a take is of."""

    def __init__(self, take: Take) -> None:
        self._take = take

    @property
    def notice(self) -> str:
        """Nobody writes to a recording."""
        return ""

    async def written(self) -> bool:
        """Nobody writes to a recording."""
        return False

    async def runs(self) -> Sequence[StoredRun]:
        """The run."""
        return [await asyncio.to_thread(lambda: self._stored)]

    async def moved(self, known: Mapping[str, int]) -> Sequence[StoredRun]:
        """The run, to those who do not know it: it never changes."""
        return [] if known.get(self._take.run) == len(self._take.reel) else await self.runs()

    async def events(self, run: str, after: int = 0) -> Sequence[AnyEvent]:
        """The events in order, from the one that follows number `after`."""
        return await asyncio.to_thread(self._take.reel.read, after, len(self._take.reel))

    async def reel(self, run: str) -> Reel:
        """The events by their place."""
        return self._take.reel

    async def episode(self, run: str, position: int) -> Sequence[AnyEvent]:
        """The events of one episode in order."""
        return await asyncio.to_thread(
            lambda: [e for e in self._take.events() if getattr(e, "position", None) == position]
        )

    @cached_property
    def _stored(self) -> StoredRun:
        take = self._take
        figures = figures_of(take.events())
        opening, closing = (
            take.reel.read(0, 1)[0],
            take.reel.read(len(take.reel) - 1, len(take.reel))[0],
        )
        assert isinstance(opening, RunStarted)
        return StoredRun(
            id=take.run,
            began=opening.at,
            about=f"{opening.settings.dataset} · {opening.settings.strategy} · {opening.model.name}",
            questions=figures.questions,
            finished=figures.finished,
            ended=figures.ended,
            settings=opening.settings,
            model=f"{opening.model.engine}:{opening.model.name}",
            last_at=closing.at,
            last_seq=closing.seq,
            seconds=figures.cost.seconds,
            outcomes=dict(figures.outcomes),
        )
