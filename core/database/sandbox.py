"""The sandbox: SQL written by a model runs in worker processes that can be killed."""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import msgspec

from core.database.files import check_database
from core.database.guard import MIB
from core.database.rows import Execution, Outcome, Row
from core.database.worker import ACCEPTED, DONE, GRACE_SECONDS, LENGTH_BYTES, READY, ROWS
from core.errors import MeritoError

_SOURCE_ROOT = str(Path(__file__).resolve().parents[2])
_BOOT = "import sys; sys.path.append(sys.argv[1]); from core.database.worker import serve; serve()"
_START_SECONDS = 30.0
_KILL_SECONDS = GRACE_SECONDS + 0.1
"""The worker's own alarm comes first; the parent's SIGKILL does not depend on it."""
_TRIES = 3
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows ends a process on either
_DATABASE_TROUBLE = tuple(
    f"SQLITE_{family}" for family in ("CANTOPEN", "NOTADB", "BUSY", "READONLY", "IOERR", "CORRUPT")
)


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a result is taken over from the worker."""

    rows: int
    bytes: int
    """Estimate of what the rows occupy in this process."""
    cell: int
    """Characters of a text, or bytes of a blob."""
    complete: bool = False
    """A result over a cap is no result (Outcome.LIMIT) instead of a shown prefix."""


DISPLAY = Caps(rows=1_000, bytes=4 * MIB, cell=64 * 1024)
"""For screens: the cut is marked by `Execution.truncated`, a cut text ends with an ellipsis."""

COMPLETE = Caps(rows=1_000_000, bytes=256 * MIB, cell=16_000_000, complete=True)
"""For evaluation: everything, as far as a laptop's memory goes."""


class Sandbox:
    """Runs statements in `workers` processes; use it as an async context manager.

    A worker starts with the first statement that needs it. Any number of `execute` calls may be
    under way; each waits for its turn, and its deadline begins when its turn comes.
    """

    def __init__(self, workers: int = 1) -> None:
        self._turns = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._alive: set[_Worker] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def processes(self) -> tuple[int, ...]:
        """Process ids of the living workers."""
        return tuple(worker.pid for worker in self._alive)

    async def execute(
        self, database: Path, sql: str, *, deadline: float = 10.0, caps: Caps = DISPLAY
    ) -> Execution:
        """Run exactly one reading statement, for at most `deadline` seconds.

        `error` holds SQLite's own text. Raises MeritoError where the database itself cannot be
        used (missing, locked, not SQLite, ...): that is never the statement's fault.
        """
        path = database.absolute()  # noqa: ASYNC240 - it asks for the working folder alone
        request = (str(path), sql, deadline, caps.rows, caps.bytes, caps.cell, caps.complete)
        async with self._turns:
            execution, trouble = await self._run(request, deadline)
            if trouble.startswith(_DATABASE_TROUBLE):
                await asyncio.to_thread(check_database, path)
                execution, _ = await self._run(request, deadline)  # the trouble has passed
        return execution

    async def close(self) -> None:
        """End every worker and wait until it is gone. Statements under way end as LIMIT."""
        self._closed = True
        workers = tuple(self._alive)
        for worker in workers:
            worker.kill()
        await asyncio.gather(*(worker.gone.wait() for worker in workers))

    async def _run(self, request: tuple[Any, ...], deadline: float) -> tuple[Execution, str]:
        started = time.monotonic()
        for _ in range(_TRIES):
            with self._worker(await self._take()) as worker:
                try:
                    return await worker.ask(request, deadline)
                except _DiedIdle:  # before it took this statement: another one may have it
                    continue
        return _stopped(Outcome.LIMIT, "the sandbox's worker dies at once", started), ""

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.usable:
                return worker
            worker.kill()
        self._refuse_if_closed()
        worker = await _Worker.start(self._alive)
        try:
            self._refuse_if_closed()
        except MeritoError:
            worker.kill()
            raise
        return worker

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise MeritoError("The sandbox is closed.")

    @contextmanager
    def _worker(self, worker: _Worker) -> Iterator[_Worker]:
        """Hand the worker back, or end it where its answer was not read to the end."""
        try:
            yield worker
        finally:
            if worker.usable and not self._closed:
                self._idle.append(worker)
            else:
                worker.kill()


class _DiedIdle(Exception):
    """The worker was gone before it accepted the statement."""


def _stopped(outcome: Outcome, message: str, started: float) -> Execution:
    return Execution(outcome=outcome, error=message, seconds=time.monotonic() - started)


def _past(deadline: float, started: float) -> Execution:
    return _stopped(Outcome.TIMEOUT, f"stopped at the deadline of {deadline:g} s", started)


class _Worker(asyncio.SubprocessProtocol):
    """The parent's end of one worker process."""

    def __init__(self, alive: set[_Worker]) -> None:
        self._alive = alive
        self._buffer = bytearray()
        self._rows: list[Row] = []
        self._accepted = False
        self._killed = False
        self._lost = False
        self._answer: asyncio.Future[tuple[Any, ...] | None] | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._requests: asyncio.WriteTransport | None = None
        self.gone = asyncio.Event()
        self.pid = 0

    @classmethod
    async def start(cls, alive: set[_Worker]) -> _Worker:
        """A worker that has said it is ready. Raises MeritoError where none can be started."""
        loop = asyncio.get_running_loop()
        worker = cls(alive)
        ready = worker._answer = loop.create_future()
        try:
            await loop.subprocess_exec(
                lambda: worker,
                sys.executable,
                "-I",
                "-S",
                "-c",
                _BOOT,
                _SOURCE_ROOT,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=os.sep,
                start_new_session=os.name == "posix",
            )
            if await asyncio.wait_for(ready, _START_SECONDS) is None:
                raise MeritoError("The sandbox's worker process ended while it started.", _START_MEND)
        except (OSError, TimeoutError) as error:
            worker.kill()
            raise MeritoError(
                f"The sandbox's worker process does not start: {error}.", _START_MEND
            ) from error
        except BaseException:
            worker.kill()
            raise
        worker._answer = None
        return worker

    @property
    def usable(self) -> bool:
        """Alive, with no answer of its own still on the way."""
        return self._answer is None and not self._lost and not self._killed

    def kill(self) -> None:
        """End the process now, and let go of whatever its pipes still hold.

        Not by `transport.kill` or `close`: they would reap the process, which is the event
        loop's own watcher's to do.
        """
        self._killed = True
        if self._transport is None or self.gone.is_set():
            return
        with suppress(ProcessLookupError):
            os.kill(self.pid, _KILL)
        for fd in (0, 1):
            pipe = self._transport.get_pipe_transport(fd)
            if pipe is not None:
                pipe.close()

    async def ask(self, request: tuple[Any, ...], deadline: float) -> tuple[Execution, str]:
        """Run one statement; with it comes SQLite's name of the error.

        Raises _DiedIdle. Whatever else ends the wait, a cancellation included, leaves the worker
        unusable until its answer was read.
        """
        started = time.monotonic()
        self._rows, self._accepted = [], False
        answer = self._answer = asyncio.get_running_loop().create_future()
        body = marshal.dumps(request)
        assert self._requests is not None
        self._requests.write(len(body).to_bytes(LENGTH_BYTES, "little") + body)
        await asyncio.wait((answer,), timeout=deadline + _KILL_SECONDS)
        if not answer.done():
            return _past(deadline, started), ""
        ended = answer.result()
        if ended is None:
            return self._died(deadline, started), ""
        self._answer = None
        rows, self._rows = tuple(self._rows), []
        return self._finished(ended, rows)

    def _died(self, deadline: float, started: float) -> Execution:
        if not self._accepted and not self._killed:
            raise _DiedIdle
        if time.monotonic() - started >= deadline:  # by its own alarm
            return _past(deadline, started)
        reason = "the sandbox was closed" if self._killed else "the sandbox's worker died"
        return _stopped(Outcome.LIMIT, reason, started)

    def _finished(self, ended: tuple[Any, ...], rows: tuple[Row, ...]) -> tuple[Execution, str]:
        outcome, columns, truncated, message, seconds, retire, name = ended
        if retire:
            self.kill()
        execution = Execution(
            outcome=Outcome(outcome),
            columns=columns,
            rows=rows if outcome == Outcome.OK else (),
            truncated=truncated and outcome == Outcome.OK,
            error=message,
            seconds=seconds,
        )
        return execution, name

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process was started."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._requests = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self.pid = self._transport.get_pid()
        self._alive.add(self)

    def pipe_data_received(self, _fd: int, received: bytes) -> None:
        """Take every whole frame out of what has arrived."""
        self._buffer += received
        start = 0
        while len(self._buffer) - start >= LENGTH_BYTES:
            body = start + LENGTH_BYTES
            end = body + int.from_bytes(self._buffer[start:body], "little")
            if len(self._buffer) < end:
                break
            self._take_frame(marshal.loads(memoryview(self._buffer)[body:end]))
            start = end
        del self._buffer[:start]

    def _take_frame(self, frame: tuple[Any, ...]) -> None:
        kind = frame[0]
        if kind == ROWS:
            self._rows.extend(frame[1])
        elif kind == ACCEPTED:
            self._accepted = True
        elif kind in (READY, DONE):
            self._resolve(frame[1:])

    def _resolve(self, ended: tuple[Any, ...] | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(ended)

    def pipe_connection_lost(self, fd: int, _error: Exception | None) -> None:
        """Standard output ends with the process, sometimes before its end is noticed."""
        if fd == 1:
            self._lost = True
            self._resolve(None)

    def process_exited(self) -> None:
        """The process is over and reaped."""
        self.gone.set()
        self._alive.discard(self)
        if self._transport is not None:
            self._transport.close()


_START_MEND = "Check that this Python can start processes (memory, process limits)."
