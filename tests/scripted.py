"""A model whose answers a test writes itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from core.models.chat import (
    Answer,
    Delta,
    Message,
    ModelDescription,
    ModelTrouble,
    Sampling,
    Usage,
)

Reply = str | Answer | Exception
Script = Callable[[Sequence[Message], Sampling], Reply]


class ScriptedModel:
    """Answers at once, by a function of messages and sampling or from a list, in order.

    A reply is the answer's text, a whole Answer, or an exception to raise. Tokens are words. Every
    call is kept in `calls`.
    """

    def __init__(
        self, script: Script | Iterable[Reply], *, name: str = "scripted", context_tokens: int = 32768
    ) -> None:
        self._script = script if callable(script) else _in_order(script)
        self._name = name
        self._context_tokens = context_tokens
        self.calls: list[tuple[tuple[Message, ...], Sampling]] = []
        self.closed = False

    async def describe(self) -> ModelDescription:
        return ModelDescription(engine="scripted", name=self._name, context_tokens=self._context_tokens)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        return _words(*(message.content for message in messages))

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncIterator[Delta | Answer]:
        self.calls.append((tuple(messages), sampling))
        reply = self._script(messages, sampling)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            usage = Usage(
                prompt_tokens=await self.count_tokens(messages),
                cached_tokens=0,
                output_tokens=_words(reply),
            )
            reply = Answer(text=reply, usage=usage)
        if reply.text:
            yield Delta(reply.text)
        yield reply

    async def close(self) -> None:
        self.closed = True


def _in_order(replies: Iterable[Reply]) -> Script:
    waiting = iter(replies)

    def reply(_messages: Sequence[Message], _sampling: Sampling) -> Reply:
        return next(waiting, ModelTrouble("The script has no more answers."))

    return reply


def _words(*texts: str) -> int:
    return sum(len(text.split()) for text in texts)
