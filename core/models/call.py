"""What every call of an engine has in common: limits of time and length, how tokens are drawn."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

import msgspec

from core.models.chat import Message, ModelTrouble, Sampling

Item = TypeVar("Item")

CONTEXT_TOKENS = 16384
"""The window asked of an engine that lets us choose it: twice what the largest prompts seen so
far need; 470 MB of memory with the 1.5B weights."""

DRAWING: dict[str, float] = {"top_k": 40, "min_p": 0.0, "repeat_penalty": 1.0}
"""Sent with every call, so that the same Sampling means the same on every engine: their defaults
differ from engine to engine and from release to release."""


class Deadlines(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one call, in seconds. None of them is infinite."""

    connect: float = 5.0
    control: float = 60.0
    """Short calls: counting, listing, describing."""
    first_token: float = 600.0
    """The prompt's evaluation, and the wait for a busy server."""
    between_tokens: float = 120.0
    whole_call: float = 1800.0


class PromptTooLong(ModelTrouble):
    """The prompt and its answer do not fit the context. Sending it again cannot help."""

    def __init__(self, prompt_tokens: int, context_tokens: int, max_tokens: int = 0) -> None:
        room = f" and an answer of up to {max_tokens:,}" if max_tokens else ""
        super().__init__(
            f"The prompt of {prompt_tokens:,} tokens{room} does not fit the model's context of "
            f"{context_tokens:,} tokens.",
            "Use a larger context, or a smaller schema, fewer memories or a shorter answer.",
            concerns_prompt=True,
        )
        self.prompt_tokens = prompt_tokens
        self.context_tokens = context_tokens


def refuse_too_long(prompt_tokens: int, max_tokens: int, context_tokens: int) -> None:
    """Raises PromptTooLong where prompt and longest answer together exceed the context."""
    if prompt_tokens + max_tokens > context_tokens:
        raise PromptTooLong(prompt_tokens, context_tokens, max_tokens)


@asynccontextmanager
async def closed(stream: AsyncIterator[Item]) -> AsyncIterator[AsyncIterator[Item]]:
    """A model's stream for one `async for`, closed at once when the block is left: a loop that is
    merely broken out of leaves the engine generating until the garbage collector comes by."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


async def paced(
    items: AsyncGenerator[Item, None], deadlines: Deadlines, who: str
) -> AsyncGenerator[Item, None]:
    """The same items under the call's limits of time; the source is closed in every case.

    Raises ModelTrouble (passing) where one of the limits is exceeded.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + deadlines.whole_call
    wait, waiting_for = deadlines.first_token, "a first token"
    async with aclosing(items):
        while True:
            left = end - clock()
            try:
                async with asyncio.timeout(min(wait, left)):
                    item = await anext(items)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise _too_slow(deadlines, who, wait, waiting_for, overall=left < wait) from None
            yield item
            wait, waiting_for = deadlines.between_tokens, "the next token"


def _too_slow(
    deadlines: Deadlines, who: str, wait: float, waiting_for: str, *, overall: bool
) -> ModelTrouble:
    problem = (
        f"{who} had not finished its answer after {deadlines.whole_call:g} s."
        if overall
        else f"{who} kept silent for {wait:g} s; {waiting_for} was due."
    )
    return ModelTrouble(problem, "Look whether the server is busy or stuck.", passing=True)


_PIECES = re.compile(
    r"(?P<word>[A-Z]{2,}|[A-Z]?[a-z]+|[A-Z])"
    r"|(?P<one>[0-9]|\n+|[^\S\n]+(?=[0-9]))"
    r"|(?P<blank>[^\S\n]+)"
    r"|(?P<signs>[!-/:-@\[-`{-~]+)"
    r"|(?P<beyond>.)"
)
_COSTS: dict[str, Callable[[str], int]] = {
    "word": lambda word: math.ceil(len(word) / 3),
    "one": lambda _: 1,
    "blank": lambda blank: int(len(blank) > 1),
    "signs": lambda signs: math.ceil(len(signs) * 2 / 3),
    "beyond": lambda sign: 3 if ord(sign) > 0xFFFF else 2,
}
_TOKENS_A_CHAT = 24
_TOKENS_A_MESSAGE = 5


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Tokens that the chat needs at most, in all likelihood, where no tokenizer can be asked.

    Words count one token for each three letters begun, digits one each and so does a blank before
    one, runs of punctuation two for each three signs, line breaks one, and what is beyond ASCII
    two or three. Other blanks are part of the word that follows, but for runs of them. On schemas,
    rows, SQL and questions this is a tenth to two thirds above what Qwen's tokenizer says: to
    refuse a prompt that would have fitted is better than to have it cut in silence.
    """
    return _TOKENS_A_CHAT + sum(
        _TOKENS_A_MESSAGE
        + sum(
            _COSTS[piece.lastgroup or "beyond"](piece[0]) for piece in _PIECES.finditer(message.content)
        )
        for message in messages
    )


def sound(text: str) -> str:
    """The text as an engine can be sent it: half characters (lone surrogates) become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(said: str, limit: int = 200) -> str:
    """A server's words, on one line, without control characters, cut where they are long."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in said).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def call_key(messages: Sequence[Message], sampling: Sampling) -> str:
    """What makes two calls the same: the SHA-256 of messages and sampling."""
    chat = [(message.role, sound(message.content)) for message in messages]
    return hashlib.sha256(msgspec.json.encode((chat, sampling))).hexdigest()
