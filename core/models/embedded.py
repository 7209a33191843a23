"""The engine that needs no server: llama.cpp in a child process of our own."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import IO

import msgspec

from core.models.call import CONTEXT_TOKENS, Deadlines
from core.models.chat import Answer, Delta, Message, ModelDescription, ModelTrouble, Sampling
from core.models.embedded_server import Failed, Orders, Ready, Word
from core.models.openai import OpenAIModel
from core.models.weights import sha256_of

WAITING = {"OMP_WAIT_POLICY": "passive"}
"""llama.cpp's threads meet hundreds of times a token. A thread that spins until the others are
there keeps them from the core they need wherever anything else runs on the machine."""
LOG_LIMIT = 1_000_000
AT_A_LOSS = (
    "The machine may be too busy or short of memory: take a smaller model (merito models list), let"
    " less run at once, or see merito doctor. The engine's log is"
)
"""What to do about a child that lives and does not answer."""
PROJECT = Path(__file__).resolve().parents[2]


class EmbeddedModel:
    """A GGUF file, served by a child process that starts with the first call.

    A crash of the native code ends the child and nothing else: the call raises ModelTrouble
    (passing), and the next call starts a new child. `cache_mib` is the memory for prompts that
    may come back, `start_seconds` the longest a child may take to load the weights, `drafts`
    whether repeated text is guessed ahead (the same answers, sooner).
    """

    def __init__(
        self,
        weights: Path | str,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
        slots: int = 1,
        cache_mib: int = 2048,
        drafts: bool = True,
        deadlines: Deadlines | None = None,
        start_seconds: float = 180.0,
        log: Path | None = None,
    ) -> None:
        self.weights = Path(weights)
        self.context_tokens = context_tokens
        self._threads = threads or usable_cores()
        self.slots = slots
        self._cache_mib = cache_mib
        self.drafts = drafts
        self._deadlines = deadlines or Deadlines()
        self._start_seconds = start_seconds
        self.log = log or log_folder() / "embedded.log"
        self._child: _Child | None = None
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The child's process id while one lives."""
        return self._child.process.pid if self._child and self._child.alive else None

    async def describe(self) -> ModelDescription:
        """The weights in force, known by their SHA-256; no child is started for it."""
        self._find_weights()
        return ModelDescription(
            engine="embedded",
            name=self.weights.stem,
            context_tokens=self.context_tokens,
            digest=await asyncio.to_thread(sha256_of, self.weights),
            address=str(self.weights),
        )

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Exact, by the child's own tokenizer."""
        child = await self._running()
        try:
            return await child.model.count_tokens(messages)
        except ModelTrouble as trouble:
            raise await self._explained(child, trouble) from trouble

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncGenerator[Delta | Answer, None]:
        """Deltas, then the Answer. Raises PromptTooLong, or ModelTrouble where the child died."""
        child = await self._running()
        try:
            async with aclosing(child.model.stream(messages, sampling)) as items:
                async for item in items:
                    yield item
        except ModelTrouble as trouble:
            raise await self._explained(child, trouble) from trouble

    async def close(self) -> None:
        """End the child. A later call starts a new one."""
        child, self._child = self._child, None
        if child:
            await child.end()

    def _find_weights(self) -> None:
        if not self.weights.is_file():
            raise ModelTrouble(f"There are no weights at {self.weights}.", "Run: merito models pull")

    async def _running(self) -> _Child:
        async with self._starting:
            if self._child and not self._child.alive:
                await self.close()
            if self._child is None:
                self._find_weights()
                self._child = await self._start()
            return self._child

    async def _start(self) -> _Child:
        key = secrets.token_urlsafe(16)
        process = _spawn(self.log)
        orders = Orders(
            weights=str(self.weights),
            context_tokens=self.context_tokens,
            threads=self._threads,
            slots=self.slots,
            cache_mib=self._cache_mib,
            drafts=self.drafts,
            key=key,
            parent=os.getpid(),
        )
        try:
            word = await asyncio.wait_for(
                asyncio.to_thread(_first_word, process, orders), self._start_seconds
            )
        except BaseException as error:
            _kill(process)
            if isinstance(error, TimeoutError):
                raise self._not_loaded(f"not ready after {self._start_seconds:g} s") from None
            raise
        if not isinstance(word, Ready):
            _kill(process)
            raise self._not_loaded(word.reason)
        return _Child(process, self._client(word.address, key))

    def _client(self, address: str, key: str) -> OpenAIModel:
        # The address is nothing that the user has ever heard of.
        return OpenAIModel(address, api_key=key, deadlines=self._deadlines, who="The embedded model")

    def _not_loaded(self, why: str) -> ModelTrouble:
        return ModelTrouble(
            f"The embedded model could not load {self.weights} ({why}).",
            f"Run: merito models check. The engine's log is {self.log}",
        )

    async def _explained(self, child: _Child, trouble: ModelTrouble) -> ModelTrouble:
        """The child's death, where that is what stands behind a broken connection; else what can be
        done where a server of our own gives no answer."""
        if not trouble.passing:
            return trouble
        if not await child.dying():
            return ModelTrouble(trouble.problem, f"{AT_A_LOSS} {self.log}", passing=True)
        return ModelTrouble(
            f"The embedded model's process ended ({_ending(child.process.returncode)}).",
            f"It starts again with the next call. The engine's log is {self.log}",
            passing=True,
        )


class _Child:
    """One life of the server process."""

    def __init__(self, process: subprocess.Popen[bytes], model: OpenAIModel) -> None:
        self.process = process
        self.model = model

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    async def dying(self, patience: float = 0.5) -> bool:
        """Whether the process is gone; its connections may break a moment before it is."""
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self.process.wait, patience)
        return not self.alive

    async def end(self) -> None:
        await self.model.close()
        await asyncio.to_thread(_kill, self.process)


def usable_cores() -> int:
    """Cores that this process may run on, which a container or taskset may keep below all."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def log_folder() -> Path:
    """Where the engine's own words go: never to the terminal."""
    import platformdirs

    return Path(platformdirs.user_log_dir("merito", appauthor=False))


def _spawn(log: Path) -> subprocess.Popen[bytes]:
    paths = [str(PROJECT), os.environ.get("PYTHONPATH", "")]
    environment = WAITING | os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with _opened_log(log) as errors:
        return subprocess.Popen(
            # -P: a folder named core in the working folder must not stand in for ours.
            [sys.executable, "-P", "-m", "core.models.embedded_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            # Ctrl-C in the terminal is for the console alone.
            start_new_session=True,
        )


def _opened_log(log: Path) -> IO[bytes]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        fresh = not log.exists() or log.stat().st_size > LOG_LIMIT
        return log.open("wb" if fresh else "ab")
    except OSError:
        return Path(os.devnull).open("wb")


def _first_word(process: subprocess.Popen[bytes], orders: Orders) -> Word:
    assert process.stdin
    assert process.stdout
    with suppress(OSError):
        process.stdin.write(msgspec.json.encode(orders) + b"\n")
        process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        return Failed(_ending(process.wait()))
    word: Word = msgspec.json.decode(line, type=Word)
    return word


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(OSError):
                pipe.close()


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
