"""The operator's hand on a run: one small object, the same for keys, command line and tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word about one attempt (the `operator` regime)."""

    right: bool = False
    who: str = "operator"
    remark: str = ""
    corrected_sql: str = ""
    skip: bool = False


class Stopped(Exception):
    """The operator stopped the run; everything committed stays, and the run can be resumed."""


class Control:
    """Pause, resume, step, skip, stop, and judge. Every method may be called from the event loop
    that drives the run; none of them waits, except `checkpoint` and `judgement`."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._stepping = False
        self._stopped = False
        self._skip: dict[int, str] = {}
        """Position -> who asked to skip its episode."""
        self._waiting: dict[tuple[int, int], asyncio.Future[Judgement]] = {}
        self._listeners: list[Callable[[], None]] = []

    @property
    def paused(self) -> bool:
        """True while the run waits at its next checkpoint."""
        return not self._open.is_set()

    @property
    def stopped(self) -> bool:
        """True once the run was told to stop."""
        return self._stopped

    @property
    def waiting(self) -> tuple[tuple[int, int], ...]:
        """The (position, attempt) pairs that wait for a person's judgement, oldest first."""
        return tuple(self._waiting)

    @property
    def answered(self) -> bool:
        """Whether a judgement was given that its attempt has not taken yet."""
        return any(future.done() for future in self._waiting.values())

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change of state."""
        self._listeners.append(listener)

    def pause(self) -> None:
        """Hold the run at its next attempt."""
        self._open.clear()
        self._changed()

    def resume(self) -> None:
        """Let a held run go on."""
        self._stepping = False
        self._open.set()
        self._changed()

    def step(self) -> None:
        """Let one attempt happen, then hold again."""
        self._stepping = True
        self._open.set()
        self._changed()

    def skip(self, position: int, who: str = "operator") -> None:
        """End the episode at `position` before its next attempt; it teaches nothing."""
        self._skip[position] = who
        for key, future in self._waiting.items():
            if key[0] == position and not future.done():
                future.set_result(Judgement(skip=True, who=who))
        self._changed()

    def stop(self) -> None:
        """End the run at the next checkpoint."""
        self._stopped = True
        self._open.set()
        for future in self._waiting.values():
            future.cancel()
        self._changed()

    def judge(self, position: int, attempt: int, judgement: Judgement) -> bool:
        """Answer a waiting attempt; False where none waits there (any more)."""
        future = self._waiting.get((position, attempt))
        if future is None or future.done():
            return False
        future.set_result(judgement)
        self._changed()
        return True

    def skipped(self, position: int) -> bool:
        """Whether the operator asked to skip this episode."""
        return position in self._skip

    async def checkpoint(self) -> None:
        """Wait while paused. Raises Stopped once the run was told to stop."""
        await self._open.wait()
        if self._stopped:
            raise Stopped
        if self._stepping:
            self._stepping = False
            self._open.clear()

    def expect(self, position: int, attempt: int) -> None:
        """Say that a judgement will be awaited, before anybody is told: it may then be given at
        once, and is kept until `judgement` asks for it."""
        if (position, attempt) not in self._waiting:
            future = asyncio.get_running_loop().create_future()
            if position in self._skip:
                future.set_result(Judgement(skip=True, who=self._skip[position]))
            self._waiting[position, attempt] = future
            self._changed()

    async def judgement(self, position: int, attempt: int) -> Judgement:
        """Wait for a person's word about an attempt. Raises Stopped when the run is stopped."""
        if self._stopped:
            raise Stopped
        self.expect(position, attempt)
        try:
            return await self._waiting[position, attempt]
        except asyncio.CancelledError:
            if self._stopped:
                raise Stopped from None
            raise
        finally:
            self._waiting.pop((position, attempt), None)
            self._changed()

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()
