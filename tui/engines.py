"""What takes long to start and several runs may share: the model's engine and the encoder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from core.memory.embedding import DEFAULT_MODEL, EncoderProcess
from core.models.choosing import Choice, Terms, choose
from core.repair.strategy import Strategy
from core.run.jobs import Jobs
from tui import settings


@dataclass(frozen=True)
class Engines:
    """A model that can be asked, an encoder where a strategy ranks by embeddings, and how much may be
    asked at once."""

    choice: Choice
    encoder: EncoderProcess | None = None
    jobs: Jobs = field(default_factory=Jobs)


def embeds(strategy: Strategy) -> bool:
    """Whether a strategy ranks memories by embeddings."""
    return strategy.retrieval is not None and strategy.retrieval.dense


@asynccontextmanager
async def engines(model: str, *strategies: Strategy, jobs: int | None = 1) -> AsyncIterator[Engines]:
    """The model that `model` names, or the best at hand where it is empty, and the encoder that any
    of the strategies needs; both are closed in the end. `jobs` lanes may be under way at once; None
    leaves their number to the engine. Raises MeritoError."""
    closings: list[Callable[[], Awaitable[None]]] = []
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close_together, closings)
        choice = await choose(model or None, terms(jobs or 1))
        closings.append(choice.model.close)
        encoder = None
        if any(embeds(each) for each in strategies):
            encoder = EncoderProcess(
                settings.value("encoder") or DEFAULT_MODEL, log=settings.log_file()
            )
            closings.append(encoder.close)
            await encoder.start()
        if jobs is None:
            jobs = (await choice.model.describe()).calls_at_once
        yield Engines(choice, encoder, Jobs(jobs))


async def _close_together(closings: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """All at once: somebody who leaves waits for the slowest, not for the sum. Raises the first
    failure once every one is done."""
    for failure in await asyncio.gather(*(close() for close in closings), return_exceptions=True):
        if isinstance(failure, BaseException):
            raise failure


def terms(at_once: int = 1) -> Terms:
    """What models are chosen under, from the settings. `at_once` calls may be under way."""
    folder = settings.value("models")
    return Terms(
        ollama_host=settings.value("ollama_host"),
        folder=Path(folder).expanduser() if folder else None,
        at_once=at_once,
    )
