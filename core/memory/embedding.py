"""Sentence embeddings from a process of their own.

torch and faiss bring two OpenMP runtimes and torch takes seconds to import, so the encoder never
lives in the process that runs the event loop.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.errors import MeritoError

Vectors = NDArray[np.float32]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
REMEMBERED = 8192
"""Texts whose vectors are kept, so that none is embedded twice: 12 MB at 384 dimensions."""

CHUNK = 32
"""Texts a request, so that a query waits for no more than one chunk of a long re-embedding."""

START_SECONDS = 180.0
"""The first import on a cold disk is slow; a hang is still noticed."""

REQUEST_SECONDS = 120.0
END_SECONDS = 2.0
RESTARTS = 2
"""Deaths of the process that one request survives."""


class Space(msgspec.Struct, frozen=True):
    """Which vectors may be compared: those of one encoder with the same weights."""

    name: str
    digest: str
    dimensions: int
    window: int
    """Word pieces that the encoder reads of a text; the rest is cut."""

    @property
    def fingerprint(self) -> str:
        """What a store writes beside its vectors."""
        return f"{self.name}:{self.digest}:{self.dimensions}"


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


class _Vector(msgspec.Struct, frozen=True):
    values: Vectors
    cut: int


class EncoderDied(Exception):
    """The process ended before it answered."""


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
        self._child: asyncio.Task[_Child] | None = None
        self._known: OrderedDict[str, asyncio.Future[_Vector]] = OrderedDict()
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

    async def _vectors(self, texts: Sequence[str]) -> list[_Vector]:
        """The vectors, from memory where they are known; concurrent askers share one request."""
        loop = asyncio.get_running_loop()
        missing: list[str] = []
        asked: list[asyncio.Future[_Vector]] = []
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
                future.set_exception(error)
            if not isinstance(error, MeritoError):
                raise

    async def _ask(self, texts: list[str]) -> list[_Vector]:
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
        raise MeritoError(
            f"The encoder {self.name} ended {RESTARTS + 1} times in a row.", self._where()
        )

    def _forget(self) -> None:
        while len(self._known) > REMEMBERED:
            _, future = next(iter(self._known.items()))
            if not future.done():
                return
            self._known.popitem(last=False)

    def _started(self) -> asyncio.Task[_Child]:
        if self._child is None:
            self._child = asyncio.get_running_loop().create_task(self._launch())
            self._child.add_done_callback(_seen)
        return self._child

    async def _running(self) -> _Child:
        task = self._started()
        try:
            return await asyncio.shield(task)
        except MeritoError:
            self._child = None if self._child is task else self._child
            raise

    async def _launch(self) -> _Child:
        log = await asyncio.to_thread(self._open_log)
        try:
            child = await _Child.launch(self._model, log)
        finally:
            if not isinstance(log, int):
                log.close()
        try:
            space = await child.hello()
        except EncoderDied as death:
            await child.end()
            raise MeritoError(
                f"The encoder {self.name} cannot be loaded: {death}", self._where()
            ) from None
        except BaseException:
            child.process.kill()
            raise
        if self._space is not None and space.fingerprint != self._space.fingerprint:
            await child.end()
            raise MeritoError(f"The encoder {self.name} changed while in use.", "Start the run again.")
        self._space = space
        return child

    def _open_log(self) -> IO[bytes] | int:
        if self._log is None:
            return asyncio.subprocess.DEVNULL
        self._log.parent.mkdir(parents=True, exist_ok=True)
        return self._log.open("ab")

    def _where(self) -> str:
        return f"Its log is {self._log}." if self._log else "Run `merito doctor`."


class _Child:
    """One life of the child process: frames of msgpack, each after its length in four bytes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def launch(cls, model: str, log: IO[bytes] | int) -> _Child:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "core.memory.embedding_worker",
            model,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=_environment(),
        )
        return cls(process)

    async def hello(self) -> Space:
        answer = await self._receive(START_SECONDS)
        if "error" in answer:
            raise EncoderDied(answer["error"])
        return msgspec.convert(answer, Space)

    async def embed(self, texts: list[str]) -> list[_Vector]:
        frame = msgspec.msgpack.encode([text.encode("utf-8", "replace") for text in texts])
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(len(frame).to_bytes(4, "big") + frame)
            await self.process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise EncoderDied("its pipe is closed") from error
        answer = await self._receive(REQUEST_SECONDS)
        values = np.frombuffer(answer["vectors"], dtype="<f4").reshape(len(texts), -1)
        return [
            _Vector(row.astype(np.float32), cut)
            for row, cut in zip(values, answer["cuts"], strict=True)
        ]

    async def end(self) -> None:
        """Closing stdin ends the child by itself; killing is for one that is stuck."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), END_SECONDS)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()

    async def _receive(self, seconds: float) -> Any:
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                size = int.from_bytes(await self.process.stdout.readexactly(4), "big")
                frame = await self.process.stdout.readexactly(size)
        except asyncio.IncompleteReadError as error:
            raise EncoderDied("the process ended") from error
        except TimeoutError as error:
            self.process.kill()
            raise EncoderDied(f"no answer within {seconds:.0f} seconds") from error
        return msgspec.msgpack.decode(frame)


def _environment() -> dict[str, str]:
    """The child's environment: this project importable, no hub, one thread for the model's maths."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }


def _seen(future: asyncio.Future[Any]) -> None:
    """Whoever waits gets the exception; where nobody does any more, that is no news."""
    if not future.cancelled():
        future.exception()


def digest(folder: Path) -> str:
    """What identifies a model's weights: the SHA-256 of its weight and tokenizer files, shortened."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".safetensors", ".bin", ".json", ".txt") and path.is_file():
            found.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]
