"""Trying again what can pass, in the open: every stumble is told before the wait for the next try."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import msgspec

from core.models.call import closed
from core.models.chat import Answer, ChatModel, Delta, Message, ModelTrouble, Sampling


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait before each further try, in seconds; as many tries as there are waits."""

    waits: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)


class Stumble(msgspec.Struct, frozen=True, kw_only=True):
    """The engine failed in a way that can pass, and the text so far is void."""

    problem: str
    mend: str
    retry_in: float
    """Seconds until the next try."""


async def stream_with_retries(
    model: ChatModel,
    messages: Sequence[Message],
    sampling: Sampling,
    policy: RetryPolicy | None = None,
) -> AsyncGenerator[Delta | Answer | Stumble, None]:
    """One call, tried again after a Stumble; whoever listens then drops the text it had.

    Raises the last ModelTrouble once the waits are used up, and at once where it cannot pass. No
    answer is ever made up: without an Answer there is an exception.
    """
    for wait in (policy or RetryPolicy()).waits:
        try:
            async with closed(model.stream(messages, sampling)) as stream:
                async for item in stream:
                    yield item
            return
        except ModelTrouble as trouble:
            if not trouble.passing:
                raise
            stumble = Stumble(problem=trouble.problem, mend=trouble.mend, retry_in=wait)
        yield stumble
        await asyncio.sleep(wait)
    async with closed(model.stream(messages, sampling)) as stream:
        async for item in stream:
            yield item
