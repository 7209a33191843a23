"""Any local server that speaks the OpenAI chat protocol, llama.cpp's above all."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Literal, TypeVar

import httpx
import msgspec

from core.models.call import (
    DRAWING,
    Deadlines,
    PromptTooLong,
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
from core.models.wire import (
    asked_probabilities,
    client_settings,
    garbage,
    plain,
    refused,
    stopped_early,
    too_long_for,
    unreachable,
)

Shape = TypeVar("Shape", bound=msgspec.Struct)

USUAL_CONTEXT = 8192
"""Assumed where neither the user nor the server says."""


class _Word(msgspec.Struct, frozen=True):
    """A part of what the protocol says; further fields are passed over."""


class _Delta(_Word, frozen=True):
    content: str | None = None


class _Token(_Word, frozen=True):
    token: str
    logprob: float


class _Place(_Word, frozen=True):
    top_logprobs: tuple[_Token, ...] | None = None


class _Probabilities(_Word, frozen=True):
    content: tuple[_Place, ...] | None = None


class _Choice(_Word, frozen=True):
    delta: _Delta | None = None
    finish_reason: str | None = None
    logprobs: _Probabilities | None = None


class _Details(_Word, frozen=True):
    cached_tokens: int | None = None


class _Usage(_Word, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Timings(_Word, frozen=True):
    cache_n: int | None = None
    prompt_n: int | None = None
    predicted_n: int | None = None


class _Chunk(_Word, frozen=True):
    """One event of a streamed answer."""

    choices: tuple[_Choice, ...] | None = None
    usage: _Usage | None = None
    timings: _Timings | None = None


class _Listed(_Word, frozen=True):
    """One model of the server's list."""

    id: str = ""
    max_model_len: int | None = None


class _Models(_Word, frozen=True):
    data: tuple[_Listed, ...] | None = None


class _Rendered(_Word, frozen=True):
    prompt: str


class _Tokens(_Word, frozen=True):
    tokens: tuple[Any, ...]


class _Excess(_Word, frozen=True):
    """llama.cpp's figures for a prompt that it has no room for."""

    n_prompt_tokens: int
    n_ctx: int


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the server says about itself."""

    model: str
    context_tokens: int
    llama_cpp: bool
    """It has llama.cpp's own endpoints: an exact tokenizer, the prompt cache, more samplers."""


class OpenAIModel:
    """A chat model behind `base_url` (with or without the closing `/v1`).

    `model` may be empty: then it is the first model the server lists. `context_tokens` is the
    window to keep to, where the server's own word is missing or too generous.
    """

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        context_tokens: int | None = None,
        api_key: str = "",
        deadlines: Deadlines | None = None,
        who: str = "",
    ) -> None:
        """`who` is the server's name in messages, where its address says nothing to the user."""
        self.root = base_url.rstrip("/").removesuffix("/v1")
        self._model = model
        self._context_tokens = context_tokens
        self._deadlines = deadlines or Deadlines()
        self._who = who
        self._facts: ServerFacts | None = None
        self._client = httpx.AsyncClient(
            base_url=self.root,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
            **client_settings(self.root, self._deadlines),
        )

    async def describe(self) -> ModelDescription:
        """The model in force. Raises ModelTrouble where the server cannot be reached."""
        facts = await self.facts()
        return ModelDescription(
            engine="openai",
            name=facts.model,
            context_tokens=facts.context_tokens,
            address=self.root,
        )

    async def facts(self) -> ServerFacts:
        """What the server says about itself, asked once. Raises ModelTrouble."""
        if self._facts is None:
            listed = await self._ask("GET", "/v1/models", _Models)
            window, llama_cpp = await self._window()
            first = (listed.data or (_Listed(),))[0]
            self._facts = ServerFacts(
                model=self._model or first.id,
                context_tokens=self._context_tokens or window or first.max_model_len or USUAL_CONTEXT,
                llama_cpp=llama_cpp,
            )
        return self._facts

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the chat: exact on llama.cpp, elsewhere a careful estimate (`call.py`)."""
        if not (await self.facts()).llama_cpp:
            return estimated_tokens(messages)
        chat = {"messages": plain(messages)}
        rendered = await self._ask("POST", "/apply-template", _Rendered, chat)
        content = {"content": rendered.prompt, "add_special": True, "parse_special": True}
        return len((await self._ask("POST", "/tokenize", _Tokens, content)).tokens)

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncGenerator[Delta | Answer, None]:
        """Deltas, then the Answer. Raises PromptTooLong before anything is sent, and ModelTrouble.

        Closing the iterator closes the connection, and the server stops generating.
        """
        started = time.monotonic()
        facts = await self.facts()
        tokens = await self.count_tokens(messages)
        refuse_too_long(tokens, sampling.max_tokens, facts.context_tokens)
        written = _Written()
        chunks = self._chunks(self._body(facts, messages, sampling))
        async with aclosing(paced(chunks, self._deadlines, self.who)) as in_time:
            async for chunk in in_time:
                text = written.take(chunk)
                if text:
                    yield Delta(text)
        if not written.finish:
            raise stopped_early(self.who)
        yield written.answer(time.monotonic() - started)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @property
    def who(self) -> str:
        """The server's name in messages."""
        return self._who or f"The model server at {self.root}"

    def _body(
        self, facts: ServerFacts, messages: Sequence[Message], sampling: Sampling
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": facts.model,
            "messages": plain(messages),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "max_tokens": sampling.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if facts.llama_cpp:
            body |= {"cache_prompt": True, **DRAWING}
        if isinstance(sampling, ConstrainedSampling):
            schema = msgspec.json.decode(sampling.answer_schema)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": True},
            }
        return body | asked_probabilities(sampling)

    async def _chunks(self, body: dict[str, Any]) -> AsyncGenerator[_Chunk, None]:
        """The stream's events, decoded. Their pace is the caller's to watch."""
        try:
            async with self._client.stream("POST", "/v1/chat/completions", json=body) as response:
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    raise self._refusal(response)
                if "html" in response.headers.get("content-type", ""):
                    await response.aread()
                    raise garbage(self.who, response.text)
                async for line in response.aiter_lines():
                    field, _, value = line.partition(":")
                    if field != "data":
                        continue
                    if value.strip() == "[DONE]":
                        return
                    yield self._decoded(value, _Chunk, within=True)
        except httpx.HTTPError as error:
            raise unreachable(self.who, error, self._deadlines) from error

    def _decoded(self, value: str, shape: type[Shape], *, within: bool = False) -> Shape:
        """What the server said, in the protocol's shape. Raises ModelTrouble for its errors, and for
        whatever the protocol does not know."""
        try:
            said = msgspec.json.decode(value, type=dict[str, Any])
            if said.get("error"):
                raise self._trouble(500, said["error"])
            return msgspec.convert(said, shape)
        except (msgspec.DecodeError, UnicodeError) as error:
            raise garbage(self.who, value, begun=within) from error

    async def _window(self) -> tuple[int, bool]:
        """The context window by llama.cpp's own word, and whether this is llama.cpp."""
        response = await self._response("GET", "/props")
        try:
            props = msgspec.json.decode(response.content)
            return int(props["default_generation_settings"]["n_ctx"]), True
        except (KeyError, TypeError, ValueError, msgspec.DecodeError):
            return 0, False

    async def _ask(self, method: str, path: str, shape: type[Shape], body: object = None) -> Shape:
        response = await self._response(method, path, body)
        if response.status_code != httpx.codes.OK:
            raise self._refusal(response)
        return self._decoded(response.text, shape)

    async def _response(self, method: str, path: str, body: object = None) -> httpx.Response:
        try:
            return await self._client.request(method, path, json=body, timeout=self._deadlines.control)
        except httpx.HTTPError as error:
            raise unreachable(self.who, error, self._deadlines) from error

    def _refusal(self, response: httpx.Response) -> ModelTrouble:
        try:
            told = msgspec.json.decode(response.content, type=dict[str, Any]).get("error")
        except msgspec.DecodeError:
            told = response.text
        return self._trouble(response.status_code, told)

    def _trouble(self, status: int, told: object) -> ModelTrouble:
        """What the server told about its refusal, in our words."""
        fields: dict[str, Any] = told if isinstance(told, dict) else {"message": told}
        said = str(fields.get("message") or "")
        if fields.get("type") == "exceed_context_size_error":
            try:
                excess = msgspec.convert(fields, _Excess)
            except msgspec.ValidationError:
                return too_long_for(self.who, said)
            return PromptTooLong(excess.n_prompt_tokens, excess.n_ctx)
        return refused(self.who, status, said)


class _Written:
    """The answer so far."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._first: dict[str, float] = {}
        self._usage = Usage()
        self.finish: Literal["", "stop", "length"] = ""

    def take(self, chunk: _Chunk) -> str:
        """The text that a chunk adds; its usage and end are noted."""
        if chunk.usage or chunk.timings:
            self._usage = _counted(chunk.usage or _Usage(), chunk.timings or _Timings())
        text = ""
        for choice in (chunk.choices or ())[:1]:
            text = (choice.delta and choice.delta.content) or ""
            self._first = self._first or _told(choice.logprobs)
            if choice.finish_reason:
                self.finish = "length" if choice.finish_reason == "length" else "stop"
        self._texts.append(text)
        return text

    def answer(self, seconds: float) -> Answer:
        return Answer(
            text="".join(self._texts),
            usage=self._usage,
            finish=self.finish or "stop",
            seconds=seconds,
            first=self._first,
        )


def _told(probabilities: _Probabilities | None) -> dict[str, float]:
    """What a chunk tells about its first token."""
    places = (probabilities and probabilities.content) or ()
    tokens = (places and places[0].top_logprobs) or ()
    return {each.token: each.logprob for each in tokens}


def _counted(usage: _Usage, timings: _Timings) -> Usage:
    """Token counts from the protocol's `usage`, or from llama.cpp's `timings` where it is absent."""
    details = usage.prompt_tokens_details or _Details()
    cached = timings.cache_n if details.cached_tokens is None else details.cached_tokens
    timed = None if timings.prompt_n is None else timings.prompt_n + (cached or 0)
    return Usage(
        prompt_tokens=timed if usage.prompt_tokens is None else usage.prompt_tokens,
        cached_tokens=cached,
        output_tokens=(
            timings.predicted_n if usage.completion_tokens is None else usage.completion_tokens
        ),
    )
