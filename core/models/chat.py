"""The protocol between the method and an engine; another engine is one more file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal, Protocol

import msgspec

from core.errors import MeritoError


class Message(msgspec.Struct, frozen=True):
    """One turn of a chat."""

    role: Literal["user", "assistant"]
    content: str


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How tokens are drawn. Both temperature and seed are always sent: no engine's defaults are
    deterministic."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 512


class ConstrainedSampling(Sampling, frozen=True, kw_only=True):
    """Sampling of an answer that is JSON of a given schema, on engines that can hold it to that;
    others answer freely, so the answer is checked in any case."""

    answer_schema: str
    """A JSON schema, as JSON."""


class WeighedSampling(Sampling, frozen=True, kw_only=True):
    """Sampling of an answer of one word, with how probable each word was that might have stood there,
    on engines that tell it; whoever asks looks whether they did."""

    max_tokens: int = 1
    alternatives: int = 20
    """Tokens to tell about; more than 20 are told by few engines."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts of one call; None where the engine did not say (unknown is not 0)."""

    prompt_tokens: int | None = None
    """Tokens sent."""
    cached_tokens: int | None = None
    """Tokens of the prompt that the engine's cache served."""
    output_tokens: int | None = None

    @property
    def evaluated_tokens(self) -> int | None:
        """Prompt tokens that the engine really worked through."""
        if self.prompt_tokens is None:
            return None
        return self.prompt_tokens - (self.cached_tokens or 0)


CALLS_AT_ONCE = {"openai": 4}
"""Independent calls under way at once from which an engine gains, where it is not one. A served engine
lets them share its passes over the weights. Ollama serves one by one unless it is told otherwise. The
embedded engine has as many slots as it is asked to have: it gains from several where drafts are fresh,
and loses where a repair repeats its query, which one call alone guesses ahead."""


class ModelDescription(msgspec.Struct, frozen=True, kw_only=True):
    """Which model answers, on what; stored with every run."""

    engine: str
    """ollama, embedded, openai, replay, scripted."""
    name: str
    context_tokens: int
    """The context window in force, prompt and answer together."""
    digest: str = ""
    """What identifies the weights, where the engine can say."""
    address: str = ""

    @property
    def fingerprint(self) -> str:
        """Two calls with the same prompt and sampling may share an answer only under one of these.
        Where the engine cannot say what identifies its weights, its address has to: two servers may
        call different weights by one name."""
        return f"{self.engine}:{self.name}:{self.digest or self.address}:{self.context_tokens}"

    @property
    def calls_at_once(self) -> int:
        """How many calls it is asked at once where nobody said."""
        return CALLS_AT_ONCE.get(self.engine, 1)


class Delta(msgspec.Struct, frozen=True):
    """A piece of the answer, as it arrives."""

    text: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A finished answer; always the last item of a stream."""

    text: str
    usage: Usage = Usage()
    finish: Literal["stop", "length"] = "stop"
    seconds: float = 0.0
    first: dict[str, float] = {}
    """Natural logarithms of the probabilities of tokens that might have been the first, where they were
    asked for and the engine tells them."""


class ModelTrouble(MeritoError):
    """The engine failed. `passing` is True where waiting and trying again can help;
    `concerns_prompt` where only this prompt is at fault (too long), and the next may succeed;
    `concerns_form` where the engine may not know something that was asked of it, as a schema."""

    part = "model"
    """What failed, in a word."""

    def __init__(
        self,
        problem: str,
        mend: str = "",
        *,
        passing: bool = False,
        concerns_prompt: bool = False,
        concerns_form: bool = False,
    ) -> None:
        super().__init__(problem, mend)
        self.passing = passing
        self.concerns_prompt = concerns_prompt
        self.concerns_form = concerns_form


class ChatModel(Protocol):
    """One engine with one model."""

    async def describe(self) -> ModelDescription:
        """The model in force. Raises ModelTrouble where it cannot be reached."""
        ...

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the chat as the model's template renders it."""
        ...

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> AsyncIterator[Delta | Answer]:
        """Deltas while they arrive, then exactly one Answer. Raises ModelTrouble; closing the
        iterator cancels the call in the engine."""
        ...

    async def close(self) -> None:
        """Give back what the engine holds: processes, connections."""
        ...
