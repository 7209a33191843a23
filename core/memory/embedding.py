"""Sentence embeddings from a process of their own.

torch and faiss bring two OpenMP runtimes and torch takes seconds to import, so the encoder never
lives in the process that runs the event loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import MeritoError
from core.memory.embedding_child import DEFAULT_MODEL, Child, Embedded, EncoderDied, Space

__all__ = ["DEFAULT_MODEL", "Encoder", "EncoderProcess", "Space", "Vectors"]

Vectors = NDArray[np.float32]

REMEMBERED = 8192
"""Texts whose vectors are kept, so that none is embedded twice: 12 MB at 384 dimensions."""

CHUNK = 32
"""Texts a request, so that a query waits for no more than one chunk of a long re-embedding."""

RESTARTS = 2
"""Deaths of the process that one request survives."""


class Encoder(Protocol):
    """Turns texts into unit vectors whose inner product is their cosine."""

    @property
    def name(self) -> str:
        """The model's name, as reports show it."""
        ...

    @property
    def dimensions(self) -> int:
        """Components of a vector. Raises MeritoError before the encoder has started."""
        ...

    async def start(self) -> None:
        """Begin to load in the background; returns at once."""
        ...

    async def space(self) -> Space:
        """The space of this encoder's vectors, once it is loaded."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised vectors, float32, of shape (len(texts), dimensions)."""
        ...

    async def cuts(self, texts: Sequence[str]) -> tuple[int, ...]:
        """How many word pieces of each text lie beyond the window and were not read."""
        ...

    async def close(self) -> None:
        """End the encoder; it may be started again."""
        ...


class EncoderProcess:
    """A sentence-transformers model in a child process, started at the first use.

    The child ends with this process, whatever ends it; if the child dies it is started again and
    the request repeated. All methods belong to one event loop. `model` is the packaged default, a
    folder, or a name that sentence-transformers finds in its local cache.
    """

    def __init__(self, model: str = DEFAULT_MODEL, *, log: Path | None = None) -> None:
        self.name = model if not Path(model).is_dir() else Path(model).name
        self._model = model
        self._log = log
        self._space: Space | None = None
        self._child: asyncio.Task[Child] | None = None
        self._known: OrderedDict[str, asyncio.Future[Embedded]] = OrderedDict()
        self._sending = asyncio.Lock()
        self._closings = 0

    @property
    def dimensions(self) -> int:
        """Components of a vector. Raises MeritoError before the encoder has started."""
        if self._space is None:
            raise MeritoError("The encoder has not started yet.", "Await its space() first.")
        return self._space.dimensions

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        task = self._child
        if task is None or not task.done() or task.cancelled() or task.exception():
            return None
        return task.result().process.pid

    async def start(self) -> None:
        """Begin to load the model in the background; returns at once."""
        self._started()

    async def space(self) -> Space:
        """The space of the vectors. Raises MeritoError where the model cannot be loaded."""
        if self._space is None:
            await self._running()
        assert self._space is not None
        return self._space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimensions); each text is embedded once.

        Raises MeritoError where the model cannot be loaded or keeps dying.
        """
        vectors = await self._vectors(texts)
        if not vectors:
            return np.zeros((0, (await self.space()).dimensions), dtype=np.float32)
        return np.stack([vector.values for vector in vectors])

    async def cuts(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Word pieces of each text beyond the window; costs nothing after `embed`."""
        return tuple(vector.cut for vector in await self._vectors(texts))

    async def close(self) -> None:
        """End the child. Waiting requests fail; a later use starts a new one."""
        self._closings += 1
        await self._end_child()

    async def _end_child(self) -> None:
        task, self._child = self._child, None
        if task is None:
            return
        task.cancel()
        try:
            child = await task
        except (asyncio.CancelledError, MeritoError):
            return
        await child.end()

    async def _vectors(self, texts: Sequence[str]) -> list[Embedded]:
        """The vectors, from memory where they are known; concurrent askers share one request."""
        loop = asyncio.get_running_loop()
        missing: list[str] = []
        asked: list[asyncio.Future[Embedded]] = []
        for text in texts:
            future = self._known.get(text)
            if future is None:
                future = self._known[text] = loop.create_future()
                future.add_done_callback(_seen)
                missing.append(text)
            self._known.move_to_end(text)
            asked.append(future)
        if missing:
            task = loop.create_task(self._fetch(missing))
            # A caller that gives up must not take the vectors from the others who wait for them.
            await asyncio.shield(task)
        vectors = [await asyncio.shield(future) for future in asked]
        self._forget()
        return vectors

    async def _fetch(self, texts: list[str]) -> None:
        waiting = {text: self._known[text] for text in texts}
        try:
            for first in range(0, len(texts), CHUNK):
                chunk = texts[first : first + CHUNK]
                for text, vector in zip(chunk, await self._ask(chunk), strict=True):
                    waiting.pop(text).set_result(vector)
        except BaseException as error:
            for text, future in waiting.items():
                self._known.pop(text, None)
                if isinstance(error, asyncio.CancelledError):
                    future.cancel()
                else:
                    future.set_exception(error)
            if not isinstance(error, MeritoError):
                raise

    async def _ask(self, texts: list[str]) -> list[Embedded]:
        closings = self._closings
        for _ in range(RESTARTS + 1):
            async with self._sending:
                if closings != self._closings:
                    raise MeritoError(f"The encoder {self.name} was closed while it was asked.")
                child = await self._running()
                try:
                    return await child.embed(texts)
                except EncoderDied:
                    await self._end_child()
        problem = f"The encoder {self.name} ended {RESTARTS + 1} times in a row."
        raise MeritoError(problem, self._where())

    def _forget(self) -> None:
        while len(self._known) > REMEMBERED:
            _, future = next(iter(self._known.items()))
            if not future.done():
                return
            self._known.popitem(last=False)

    def _started(self) -> asyncio.Task[Child]:
        if self._child is None:
            self._child = asyncio.get_running_loop().create_task(self._launch())
            self._child.add_done_callback(_seen)
        return self._child

    async def _running(self) -> Child:
        task = self._started()
        try:
            return await asyncio.shield(task)
        except MeritoError:
            self._child = None if self._child is task else self._child
            raise

    async def _launch(self) -> Child:
        log = await asyncio.to_thread(self._open_log)
        try:
            child = await Child.launch(self._model, log)
        except OSError as error:
            problem = f"The encoder's process cannot be started: {error.strerror or error}."
            raise MeritoError(problem, self._where()) from error
        finally:
            if not isinstance(log, int):
                log.close()
        try:
            space = await child.hello()
        except EncoderDied as death:
            await child.end()
            problem = f"The encoder {self.name} cannot be loaded: {death}."
            raise MeritoError(problem, self._where()) from None
        except BaseException:
            await child.end()
            raise
        if self._space is not None and space.fingerprint != self._space.fingerprint:
            await child.end()
            raise MeritoError(f"The encoder {self.name} changed while in use.", "Start the run again.")
        self._space = space
        return child

    def _open_log(self) -> IO[bytes] | int:
        if self._log is None:
            return asyncio.subprocess.DEVNULL
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            return self._log.open("ab")
        except OSError:
            return asyncio.subprocess.DEVNULL

    def _where(self) -> str:
        return f"Its log is {self._log}." if self._log else "Run `merito doctor`."


def _seen(future: asyncio.Future[Any]) -> None:
    """Whoever waits gets the exception; where nobody does any more, that is no news."""
    if not future.cancelled():
        future.exception()
