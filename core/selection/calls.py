"""The selector's calls: asked once, kept, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from core.models.call import call_key
from core.models.chat import (
    Answer,
    ChatModel,
    ConstrainedSampling,
    Message,
    ModelDescription,
    ModelTrouble,
    Sampling,
)
from core.models.retry import RetryPolicy, Stumble, stream_with_retries
from core.selection.selection import Asked, Spent


class KeptAnswers(Protocol):
    """Where finished calls are found again after an interruption."""

    def answer(self, key: str) -> Answer | None:
        """The answer to an earlier call, or None."""
        ...

    def keep_answer(self, key: str, answer: Answer) -> None:
        """Keep an answer; it is durable when this returns."""
        ...


class NothingKept:
    """Keeps nothing."""

    def answer(self, key: str) -> Answer | None:
        """Always None."""
        return None

    def keep_answer(self, key: str, answer: Answer) -> None:
        """Nothing happens."""


class Caller:
    """Asks one model, with what was asked before at hand.

    Every sampling here has temperature 0, so the same prompt has the same answer: within one
    selection it is asked once, as long as `repeats` is off.
    """

    def __init__(
        self,
        model: ChatModel,
        described: ModelDescription,
        kept: KeptAnswers | None = None,
        retries: RetryPolicy | None = None,
        *,
        jobs: int | None = None,
        stumbled: Callable[[Stumble], None] = lambda _stumble: None,
    ) -> None:
        """`jobs` calls are under way at once; None leaves their number to the engine. `stumbled` hears
        of every failure that may pass, before the wait for the next try."""
        self.model, self.described = model, described
        self.at_once = jobs or described.calls_at_once
        self._kept = kept or NothingKept()
        self._retries, self._stumbled = retries, stumbled
        self._free = asyncio.Semaphore(self.at_once)
        self.constrains = True
        """Whether the engine takes a schema to hold an answer to, as far as it was asked to."""

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Answer:
        """One finished answer, kept before it is returned; waits for its turn where the engine has
        enough to do. Raises ModelTrouble."""
        key = f"{self.described.fingerprint}\x1f{call_key(messages, sampling)}"
        async with self._free:
            known = self._kept.answer(key)
            if known is not None:
                return known
            answer = await self._asked(messages, sampling)
            self._kept.keep_answer(key, answer)
            return answer

    async def _asked(self, messages: Sequence[Message], sampling: Sampling) -> Answer:
        """An engine that refuses a schema for good is asked without one, this time and later:
        whoever asks checks the answer in any case."""
        if not isinstance(sampling, ConstrainedSampling):
            return await self._streamed(messages, sampling)
        if self.constrains:
            try:
                return await self._streamed(messages, sampling)
            except ModelTrouble as trouble:
                if not trouble.concerns_form:
                    raise
        answer = await self._streamed(messages, _unconstrained(sampling))
        self.constrains = False
        return answer

    async def _streamed(self, messages: Sequence[Message], sampling: Sampling) -> Answer:
        pieces = stream_with_retries(self.model, messages, sampling, self._retries)
        answer = None
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Answer):
                    answer = piece
                elif isinstance(piece, Stumble):
                    self._stumbled(piece)
        assert answer is not None, "a stream ends with its answer or raises"
        return answer


def _unconstrained(sampling: Sampling) -> Sampling:
    names = Sampling.__struct_fields__
    return Sampling(**{name: getattr(sampling, name) for name in names})


class Tab:
    """The calls of one question: what they cost, and their answers."""

    def __init__(self, *, repeats: bool = False) -> None:
        """`repeats`: ask again what this question asked already."""
        self.saved = 0
        """Calls that were not needed."""
        self._repeats = repeats
        self._asked: dict[str, asyncio.Future[Answer]] = {}
        self._calls: list[tuple[str, asyncio.Future[Answer]]] = []

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The finished calls, in the order of asking, whatever order they were answered in."""
        return tuple(
            Asked(template=template, usage=each.usage, seconds=each.seconds, finish=each.finish)
            for template, each in self._finished()
        )

    @property
    def spent(self) -> Spent:
        """What the finished calls have cost, whatever became of those that were not finished."""
        spent = Spent(saved=self.saved)
        for _, answer in self._finished():
            spent.add(answer)
        return spent

    def _finished(self) -> list[tuple[str, Answer]]:
        return [(template, future.result()) for template, future in self._calls if _answered(future)]

    async def ask(
        self, caller: Caller, messages: Sequence[Message], sampling: Sampling, template: str
    ) -> Answer:
        """An answer by `caller` to a prompt of that template; one that is on its way already is
        waited for. Raises ModelTrouble."""
        key = f"{caller.described.fingerprint}\x1f{call_key(messages, sampling)}"
        if key in self._asked and not self._repeats:
            self.saved += 1
            return await self._asked[key]
        self._asked[key] = asyncio.ensure_future(caller.ask(messages, sampling))
        self._calls.append((template, self._asked[key]))
        return await self._asked[key]


def _answered(future: asyncio.Future[Answer]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
