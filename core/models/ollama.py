"""A model behind an Ollama server, through Ollama's own client.

The server cuts a prompt that exceeds its window without a word, so the prompt is counted before
it is sent (carefully: there is no endpoint that counts), and an answer whose prompt filled the
window is an error. The window is one fixed size, since another size reloads the model.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx
import msgspec

from core.models.call import (
    CONTEXT_TOKENS,
    DRAWING,
    Deadlines,
    PromptTooLong,
    closed,
    estimated_tokens,
    paced,
    refuse_too_long,
)
from core.models.chat import (
    Answer,
    ConstrainedSampling,
    Delta,
    Message,
    ModelDescription,
    ModelTrouble,
    Sampling,
    Usage,
)
from core.models.progress import Progress
from core.models.wire import (
    asked_probabilities,
    client_settings,
    garbage,
    plain,
    refused,
    stopped_early,
    unreachable,
)

if TYPE_CHECKING:
    import ollama

USUAL_HOST = "127.0.0.1:11434"
KEEP_ALIVE = "30m"
"""How long the server keeps the model loaded after a call."""


class InstalledModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that the server has."""

    name: str
    size: int
    """Bytes on disk; 0 where the server does not say."""
    digest: str


class OllamaModel:
    """One model of one server. `host` is empty for OLLAMA_HOST or this machine's usual port."""

    def __init__(
        self,
        model: str,
        *,
        host: str = "",
        num_ctx: int = CONTEXT_TOKENS,
        deadlines: Deadlines | None = None,
    ) -> None:
        self.model = model
        self.server = OllamaServer(host, deadlines=deadlines)
        self._num_ctx = num_ctx

    async def describe(self) -> ModelDescription:
        """The model in force. Raises ModelTrouble where server or model is missing."""
        for installed in await self.server.list_models():
            if installed.name in {self.model, f"{self.model}:latest"}:
                return ModelDescription(
                    engine="ollama",
                    name=installed.name,
                    context_tokens=self._num_ctx,
                    digest=installed.digest,
                    address=self.server.host,
                )
        raise self.server.missing(self.model)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """A careful estimate (`call.estimated_tokens`)."""
        return estimated_tokens(messages)

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncGenerator[Delta | Answer, None]:
        """Deltas, then the Answer. Raises PromptTooLong and ModelTrouble.

        Closing the iterator closes the connection, and the server stops generating.
        """
        started = time.monotonic()
        refuse_too_long(estimated_tokens(messages), sampling.max_tokens, self._num_ctx)
        texts: list[str] = []
        first: dict[str, float] = {}
        last: ollama.ChatResponse | None = None
        parts = self._parts(await self.server.client(), messages, sampling)
        async with aclosing(paced(parts, self.server.deadlines, self.server.who)) as in_time:
            async for part in in_time:
                texts.append(part.message.content or "")
                first = first or _told(part)
                if part.message.content:
                    yield Delta(part.message.content)
                last = part
        if last is None or not last.done:
            raise stopped_early(self.server.who)
        if last.prompt_eval_count is not None and last.prompt_eval_count >= self._num_ctx:
            raise PromptTooLong(last.prompt_eval_count, self._num_ctx)
        yield Answer(
            text="".join(texts),
            usage=Usage(prompt_tokens=last.prompt_eval_count, output_tokens=last.eval_count),
            finish="length" if last.done_reason == "length" else "stop",
            seconds=time.monotonic() - started,
            first=first,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()

    async def _parts(
        self, client: ollama.AsyncClient, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncGenerator[ollama.ChatResponse, None]:
        options: dict[str, Any] = {
            "num_ctx": self._num_ctx,
            "num_predict": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            **DRAWING,
        }
        begun = False
        try:
            parts: AsyncIterator[ollama.ChatResponse] = await client.chat(
                model=self.model,
                messages=plain(messages),
                stream=True,
                options=options,
                format=_format(sampling),
                **asked_probabilities(sampling),
                keep_alive=KEEP_ALIVE,
            )
            async with closed(parts):
                async for part in parts:
                    begun = True
                    yield part
        except Exception as error:
            raise self.server.in_words(error, self.model, begun=begun) from error


def _format(sampling: Sampling) -> dict[str, Any] | None:
    """The JSON schema that the answer is held to, where there is one."""
    if not isinstance(sampling, ConstrainedSampling):
        return None
    schema: dict[str, Any] = msgspec.json.decode(sampling.answer_schema)
    return schema


def _told(part: ollama.ChatResponse) -> dict[str, float]:
    """What a part of the answer tells about its first token."""
    tokens = (part.logprobs and part.logprobs[0].top_logprobs) or ()
    return {each.token: each.logprob for each in tokens}


class OllamaServer:
    """The server itself: what it has, and how to get more."""

    def __init__(self, host: str = "", *, deadlines: Deadlines | None = None) -> None:
        self.host = host or os.environ.get("OLLAMA_HOST") or USUAL_HOST
        self.deadlines = deadlines or Deadlines()
        self._client: ollama.AsyncClient | None = None

    async def client(self) -> ollama.AsyncClient:
        """Ollama's client. Its import takes a third of a second, so it happens when it is needed
        and away from the event loop."""
        if self._client is None:
            module = await asyncio.to_thread(importlib.import_module, "ollama")
            self._client = module.AsyncClient(self.host, **client_settings(self.host, self.deadlines))
        return self._client

    @property
    def who(self) -> str:
        """The server's name in messages."""
        return f"The Ollama server at {self.host}"

    async def list_models(self) -> list[InstalledModel]:
        """Every model the server has. Raises ModelTrouble."""
        client = await self.client()
        try:
            async with asyncio.timeout(self.deadlines.control):
                listed = await client.list()
        except Exception as error:
            raise self.in_words(error) from error
        return [
            InstalledModel(name=one.model or "", size=int(one.size or 0), digest=one.digest or "")
            for one in listed.models
        ]

    async def pull(self, model: str) -> AsyncGenerator[Progress, None]:
        """Have the server fetch a model. Raises ModelTrouble, also where it ends too early."""
        status = ""
        client = await self.client()
        async with aclosing(paced(self._pulled(client, model), self.deadlines, self.who)) as states:
            async for state in states:
                status = state.step
                yield state
        if status != "success":
            raise ModelTrouble(
                f"{self.who} stopped fetching {model} before it had all of it.",
                f"What it has is kept. Run again: merito models pull ollama:{model}",
                passing=True,
            )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()  # type: ignore[no-untyped-call]

    def missing(self, model: str) -> ModelTrouble:
        """The server does not have this model."""
        return ModelTrouble(
            f"{self.who} has no model {model}.", f"Run: merito models pull ollama:{model}"
        )

    def in_words(self, error: Exception, model: str = "", *, begun: bool = False) -> ModelTrouble:
        """What the client raised, as trouble that says whether it can pass."""
        import ollama

        match error:
            case ModelTrouble():
                return error
            case ollama.ResponseError(status_code=404) if model:
                return self.missing(model)
            case ollama.ResponseError(status_code=-1):
                return refused(self.who, 500, f"(within the stream) {error.error}")
            case ollama.ResponseError():
                return refused(self.who, error.status_code, error.error)
            case httpx.HTTPError():
                return unreachable(self.who, error, self.deadlines)
            case ConnectionError():
                return unreachable(self.who, httpx.ConnectError(""), self.deadlines)
            case TimeoutError():
                return unreachable(self.who, httpx.ReadTimeout(""), self.deadlines)
            case _:
                # JSON that is none, or has another shape: the client raises what it stumbles over.
                return garbage(self.who, getattr(error, "doc", "") or str(error), begun=begun)

    async def _pulled(self, client: ollama.AsyncClient, model: str) -> AsyncGenerator[Progress, None]:
        try:
            async with closed(await client.pull(model, stream=True)) as states:
                async for state in states:
                    yield Progress(
                        step=state.status or "",
                        done=int(state.completed or 0),
                        total=int(state.total or 0),
                    )
        except Exception as error:
            raise self.in_words(error, model) from error
