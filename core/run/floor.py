"""Whose turn it is among the open episodes of a run: one goes on at a time, and those that wait for
a person are parked beside it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing

from core.run.control import Stopped
from core.run.events import AnyEvent, JudgementAwaited


class _Turn:
    """An open episode, whose events are made in a task of its own."""

    def __init__(self, events: AsyncGenerator[AnyEvent, None], said: _Said) -> None:
        self.events = events
        self._said = said
        self._heard = asyncio.Event()
        self.task = asyncio.create_task(self._speak())

    def go_on(self) -> None:
        """Its last event was taken: the next one may be made."""
        self._heard.set()

    async def _speak(self) -> None:
        """Tell every event and wait until it was taken; then the end, or what went wrong."""
        try:
            async with aclosing(self.events) as events:
                async for event in events:
                    self._heard.clear()
                    self._said.put_nowait((self, event))
                    await self._heard.wait()
        except Exception as wrong:
            self._said.put_nowait((self, wrong))
        else:
            self._said.put_nowait((self, None))


_Said = asyncio.Queue[tuple[_Turn, AnyEvent | Exception | None]]


class Floor:
    """Hears the open episodes in the order in which their events are made.

    An event that asks a person parks its episode and frees the floor. The person's word is heard at
    once, so that it can be kept, also while another episode has the floor; what follows from it
    waits for the floor. Nothing goes on before the event before was taken.
    """

    def __init__(self) -> None:
        self._said: _Said = asyncio.Queue()
        self._open: list[_Turn] = []
        self._speaker: _Turn | None = None
        self._parked: set[_Turn] = set()
        self._judged: deque[_Turn] = deque()
        self._taken: _Turn | None = None

    @property
    def parked(self) -> int:
        """Episodes that wait for a person."""
        return len(self._parked)

    @property
    def free(self) -> bool:
        """Whether another episode may begin: none goes on, and none has been judged."""
        return self._speaker is None and not self._judged

    def give(self, events: AsyncGenerator[AnyEvent, None]) -> None:
        """Give the free floor to a new episode."""
        self._speaker = _Turn(events, self._said)
        self._open.append(self._speaker)

    async def hear(self) -> AnyEvent | None:
        """The next event; None where an episode came to its end.

        Raises whatever an episode raises; Stopped from a parked one only once nothing else goes on,
        so that the one with the floor ends at its own checkpoint.
        """
        self._let_go_on()
        turn, said = await self._said.get()
        if isinstance(said, Exception):
            self._leave(turn)
            if not isinstance(said, Stopped) or self._speaker is None:
                raise said
            return None
        if said is None:
            self._leave(turn)
            return None
        if isinstance(said, JudgementAwaited):
            self._parked.add(turn)
            self._taken = turn
            self._speaker = None if turn is self._speaker else self._speaker
        elif turn is self._speaker:
            self._taken = turn
        else:
            self._parked.discard(turn)
            self._judged.append(turn)
        return said

    async def close(self) -> None:
        """End every open episode where it stands."""
        tasks = [turn.task for turn in self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _let_go_on(self) -> None:
        """The event before was taken; where nobody has the floor, the one judged first gets it."""
        if self._taken is not None:
            self._taken.go_on()
            self._taken = None
        if self._speaker is None and self._judged:
            self._speaker = self._judged.popleft()
            self._speaker.go_on()

    def _leave(self, turn: _Turn) -> None:
        self._open.remove(turn)
        self._parked.discard(turn)
        if turn is self._speaker:
            self._speaker = None
