"""The real encoder in its own process: what it gives, and that it ends and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.embedding import EncoderProcess
from core.memory.retrieval import embedded
from core.memory.texts import RetrievalQuery

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
async def encoder(tmp_path: Path) -> AsyncIterator[EncoderProcess]:
    process = EncoderProcess(log=tmp_path / "encoder.log")
    yield process
    await process.close()


async def gone(pid: int, seconds: float = 30.0) -> None:
    """Wait until no such process runs."""
    with contextlib.suppress(psutil.NoSuchProcess):
        await asyncio.to_thread(psutil.Process(pid).wait, seconds)


async def test_it_embeds_and_comes_back_from_the_dead(encoder: EncoderProcess) -> None:
    with pytest.raises(MeritoError, match="not started"):
        _ = encoder.dimensions
    await encoder.start()
    space = await encoder.space()
    assert (space.name, space.dimensions, space.window) == ("all-MiniLM-L6-v2", 384, 256)
    assert space.fingerprint == f"all-MiniLM-L6-v2:{space.digest}:384"
    assert len(space.digest) == 16

    texts = ["How many singers are there?", "What is the number of singers?", "Show all stadium names."]
    vectors = await encoder.embed(texts)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > cosines[0, 2]
    assert await encoder.cuts([texts[0], "word " * 400]) == (0, 402 - 256)
    assert (await encoder.embed([])).shape == (0, 384)
    hostile = await encoder.embed(["", "\ud800\x00", "x" * 100_000])
    assert np.isfinite(hostile).all()

    first = encoder.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    again = await encoder.embed([*texts, "a text it has not seen"])
    assert np.array_equal(again[:3], vectors)
    assert encoder.pid not in (None, first)

    second = encoder.pid
    assert second is not None
    await encoder.close()
    await gone(second)
    assert encoder.pid is None


async def test_many_askers_share_one_request_and_the_loop_stays_free(encoder: EncoderProcess) -> None:
    await encoder.space()
    sent: list[int] = []
    ask = encoder._ask

    async def counted(texts: list[str]) -> object:
        sent.append(len(texts))
        return await ask(texts)

    encoder._ask = counted  # type: ignore[method-assign,assignment]
    texts = [f"question number {n} about singers" for n in range(40)]
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    beating = asyncio.create_task(heart())
    impatient = asyncio.create_task(encoder.embed(texts))
    await asyncio.sleep(0)
    impatient.cancel()
    results = await asyncio.gather(*(encoder.embed(texts) for _ in range(5)))
    beating.cancel()
    assert sum(sent) == 40
    assert all(np.array_equal(result, results[0]) for result in results)
    assert beats > 5

    query = RetrievalQuery(
        question=texts[0], sql="", status=Status.TIMEOUT, failure=FailureType.EXECUTION
    )
    vector = await embedded(encoder, query)
    assert vector.values.shape == (384,)
    assert (vector.cut, vector.seconds > 0) == (0, True)


async def test_closing_fails_those_who_wait(encoder: EncoderProcess) -> None:
    await encoder.space()
    asked = asyncio.Event()
    ask = encoder._ask

    async def announced(texts: list[str]) -> object:
        asked.set()
        return await ask(texts)

    encoder._ask = announced  # type: ignore[method-assign,assignment]
    waiting = asyncio.create_task(encoder.embed([f"text {n} " * 50 for n in range(200)]))
    await asked.wait()
    await encoder.close()
    with pytest.raises(MeritoError, match="closed while it was asked"):
        await waiting
    assert (await encoder.embed(["and it works again"])).shape == (1, 384)


@pytest.mark.parametrize("model", ["no/such-model", "a folder"])
async def test_a_model_that_is_not_there(model: str, tmp_path: Path) -> None:
    named = str(tmp_path) if model == "a folder" else model
    encoder = EncoderProcess(named, log=tmp_path / "log" / "encoder.log")
    with pytest.raises(MeritoError, match="cannot be loaded") as raised:
        await encoder.embed(["x"])
    assert "\n" not in str(raised.value)
    assert str(tmp_path / "log" / "encoder.log") in raised.value.mend
    await encoder.close()


PARENT = """
import asyncio, sys
from core.memory.embedding import EncoderProcess

async def main():
    encoder = EncoderProcess()
    await encoder.space()
    print(encoder.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_it_ends_with_its_parent() -> None:
    """Even with one that is killed and can tell nobody."""
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await gone(child)


def test_reading_the_room_loads_nothing_heavy() -> None:
    probe = (
        "import sys, core.memory.retrieval, core.memory.making, core.memory.jsonl, core.sql;"
        "heavy = ('torch', 'sentence_transformers', 'faiss', 'scipy', 'sqlglot');"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.strip() == "[]"
