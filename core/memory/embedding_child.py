"""One life of the encoder's process, as its parent sees it: frames of msgpack over two pipes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

DEFAULT_MODEL = "all-MiniLM-L6-v2"

START_SECONDS = 180.0
"""The first import on a cold disk is slow; a hang is still noticed."""

REQUEST_SECONDS = 120.0


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


class Embedded(msgspec.Struct, frozen=True):
    """One text's vector, and the word pieces beyond the window that it does not know of."""

    values: NDArray[np.float32]
    cut: int


class EncoderDied(Exception):
    """The process ended before it answered."""


class Child:
    """One life of the child process: frames of msgpack, each after its length in four bytes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def launch(cls, model: str, log: IO[bytes] | int) -> Child:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
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

    async def embed(self, texts: list[str]) -> list[Embedded]:
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
            Embedded(row.astype(np.float32), cut)
            for row, cut in zip(values, answer["cuts"], strict=True)
        ]

    async def end(self) -> None:
        """Kill the child. It keeps nothing that could be lost, and one that is still importing its
        libraries would take seconds to notice that its standard input is closed."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        with suppress(ProcessLookupError):
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


def digest(folder: Path) -> str:
    """What identifies a model's weights: the SHA-256 of its weight and tokenizer files, shortened."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".safetensors", ".bin", ".json", ".txt") and path.is_file():
            found.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]
