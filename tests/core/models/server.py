"""A real HTTP server that speaks Ollama's and OpenAI's protocols, and misbehaves when it is told to.

It answers from any ChatModel: a scripted one, or the embedded Qwen.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

from aiohttp import web

from core.models.call import closed
from core.models.chat import Answer, ChatModel, Delta, Message, Sampling


class Behaviour(StrEnum):
    """What the server does with the next chat."""

    PROPER = "proper"
    MISSING_MODEL = "missing model"
    QUEUE_FULL = "queue full"
    BROKEN = "internal error"
    BREAKS_OFF = "the connection breaks within the stream"
    NO_END = "the stream ends before the answer does"
    GARBAGE = "a line that is not JSON"
    WRONG_SHAPE = "JSON of another protocol"
    ERROR_INSIDE = "an error within the stream"
    CUT = "the answer is cut at its limit"
    SILENT = "no first token"
    FALLS_SILENT = "no further token"
    NO_COUNTS = "the token counts are missing"
    FILLS_WINDOW = "the prompt fills the window"


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FakeServer:
    """The server's state: what it will do, and what it saw."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.behaviours: deque[Behaviour] = deque()
        """One for each chat to come; PROPER once they are used up."""
        self.installed = {"qwen2.5-coder:7b": 4_700_000_000}
        """Name and size of the models that Ollama lists."""
        self.llama_cpp = False
        """Whether the OpenAI side also has llama.cpp's own endpoints."""
        self.constrains = True
        """Whether a call with a JSON schema is taken; else it is refused with the status below."""
        self.unconstrained_status = 400
        self.tells_probabilities = True
        """Whether it tells the probabilities that a call asks for; else it passes that over."""
        self.window = 4096
        self.pulls: deque[list[dict[str, Any]]] = deque()
        """The lines of each pull to come."""
        self.chunks: list[str] = []
        """Where there are any: what is streamed in place of the model's answer, chunk by chunk."""
        self.refusal: dict[str, Any] = {}
        """Where there is one: the error that every chat is refused with, status 400."""
        self.chats: list[dict[str, Any]] = []
        """The body of every chat."""
        self.keys: list[str] = []
        """The Authorization header of every call."""
        self.asked = asyncio.Event()
        """Set once a chat arrived."""
        self.hung_up = asyncio.Event()
        """Set once a client left within a stream."""
        self.address = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[FakeServer]:
        """Serve on a free port of the loopback."""
        app = web.Application(client_max_size=1 << 26)
        app.add_routes(
            [
                web.get("/api/tags", self._tags),
                web.post("/api/chat", self._chat(OllamaWords)),
                web.post("/api/pull", self._pull),
                web.get("/v1/models", self._models),
                web.post("/v1/chat/completions", self._chat(OpenAIWords)),
                web.get("/props", self._props),
                web.post("/apply-template", self._apply_template),
                web.post("/tokenize", self._tokenize),
            ]
        )
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server
        port = site._server.sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _tags(self, _request: web.Request) -> web.Response:
        rows = [
            {"name": name, "model": name, "size": size, "digest": f"digest of {name}"}
            for name, size in self.installed.items()
        ]
        return web.json_response({"models": rows})

    async def _models(self, request: web.Request) -> web.Response:
        self.keys.append(request.headers.get("Authorization", ""))
        return web.json_response({"data": [{"id": "served", "max_model_len": self.window}]})

    async def _props(self, _request: web.Request) -> web.Response:
        if not self.llama_cpp:
            raise web.HTTPNotFound
        return web.json_response({"default_generation_settings": {"n_ctx": self.window}})

    async def _apply_template(self, request: web.Request) -> web.Response:
        body = await request.json()
        return web.json_response({"prompt": " ".join(m["content"] for m in body["messages"])})

    async def _tokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"tokens": (await request.json())["content"].split()})

    async def _pull(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in self.pulls.popleft():
            await response.write(json.dumps(line).encode() + b"\n")
        return response

    def _chat(self, words: type[Words]) -> Handler:
        async def handler(request: web.Request) -> web.StreamResponse:
            body = await request.json()
            self.chats.append(body)
            self.asked.set()
            behaviour = self.behaviours.popleft() if self.behaviours else Behaviour.PROPER
            if words is OllamaWords and body["model"] not in self.installed:
                behaviour = Behaviour.MISSING_MODEL
            if not self.constrains and (body.get("response_format") or body.get("format")):
                said = "response_format type is not supported"
                return web.json_response(words.refusal(said), status=self.unconstrained_status)
            if self.refusal:
                return web.json_response({"error": self.refusal}, status=400)
            if behaviour in REFUSALS:
                status, said = REFUSALS[behaviour]
                return web.json_response(words.refusal(said), status=status)
            try:
                return await self._streamed(request, words(self, body), behaviour)
            except (asyncio.CancelledError, ConnectionResetError):
                self.hung_up.set()
                raise

        return handler

    async def _streamed(
        self, request: web.Request, words: Words, behaviour: Behaviour
    ) -> web.StreamResponse:
        if behaviour is Behaviour.SILENT:
            await asyncio.Event().wait()
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in self.chunks:
            await response.write(words.raw(chunk))
        if self.chunks:
            return response
        async with closed(self.model.stream(words.messages, words.sampling)) as stream:
            async for item in stream:
                if isinstance(item, Answer):
                    for line in words.end(item, behaviour):
                        await response.write(line)
                    continue
                await response.write(words.delta(item))
                if behaviour in BREAKS:
                    return await self._broken(request, response, words, behaviour)
        return response

    async def _broken(
        self,
        request: web.Request,
        response: web.StreamResponse,
        words: Words,
        behaviour: Behaviour,
    ) -> web.StreamResponse:
        match behaviour:
            case Behaviour.BREAKS_OFF:
                assert request.transport
                request.transport.abort()
            case Behaviour.FALLS_SILENT:
                await asyncio.Event().wait()
            case Behaviour.GARBAGE:
                await response.write(words.raw("<html>oops [/x]\x1b[31m"))
            case Behaviour.WRONG_SHAPE:
                await response.write(words.raw("[1, 2, 3]"))
            case Behaviour.ERROR_INSIDE:
                await response.write(words.raw(json.dumps(words.refusal("out of memory"))))
        return response


REFUSALS = {
    Behaviour.MISSING_MODEL: (404, 'model "absent" not found, try pulling it first'),
    Behaviour.QUEUE_FULL: (503, "server busy, please try again.  maximum pending requests exceeded"),
    Behaviour.BROKEN: (500, "llama runner process has terminated"),
}
BREAKS = frozenset(
    {
        Behaviour.BREAKS_OFF,
        Behaviour.NO_END,
        Behaviour.GARBAGE,
        Behaviour.WRONG_SHAPE,
        Behaviour.ERROR_INSIDE,
        Behaviour.FALLS_SILENT,
    }
)


class Words:
    """How one protocol says things."""

    def __init__(self, server: FakeServer, body: dict[str, Any]) -> None:
        self.server = server
        self.body = body
        self.messages = [Message(m["role"], m["content"]) for m in body["messages"]]

    @property
    def sampling(self) -> Sampling:
        raise NotImplementedError

    @staticmethod
    def refusal(said: str) -> dict[str, Any]:
        raise NotImplementedError

    def delta(self, delta: Delta) -> bytes:
        raise NotImplementedError

    def end(self, answer: Answer, behaviour: Behaviour) -> list[bytes]:
        raise NotImplementedError

    def raw(self, line: str) -> bytes:
        raise NotImplementedError

    def told(self, answer: Answer) -> list[dict[str, Any]]:
        """The probabilities of the answer's first token, where they are asked for."""
        if not (self.body.get("logprobs") and answer.first and self.server.tells_probabilities):
            return []
        tokens = [{"token": token, "logprob": value} for token, value in answer.first.items()]
        return [{**tokens[0], "top_logprobs": tokens[: self.body["top_logprobs"]]}]


class OllamaWords(Words):
    """Lines of JSON."""

    @property
    def sampling(self) -> Sampling:
        options = self.body["options"]
        return Sampling(
            temperature=options["temperature"],
            top_p=options["top_p"],
            seed=options["seed"],
            max_tokens=options["num_predict"],
        )

    @staticmethod
    def refusal(said: str) -> dict[str, Any]:
        return {"error": said}

    def delta(self, delta: Delta) -> bytes:
        return self._line(message={"role": "assistant", "content": delta.text}, done=False)

    def end(self, answer: Answer, behaviour: Behaviour) -> list[bytes]:
        counts: dict[str, Any] = {
            "prompt_eval_count": answer.usage.prompt_tokens,
            "eval_count": answer.usage.output_tokens,
        }
        if behaviour is Behaviour.NO_COUNTS:
            counts = {}
        if behaviour is Behaviour.FILLS_WINDOW:
            counts["prompt_eval_count"] = self.body["options"]["num_ctx"]
        reason = "length" if behaviour is Behaviour.CUT else answer.finish
        empty = {"role": "assistant", "content": ""}
        if told := self.told(answer):
            counts["logprobs"] = told
        return [self._line(message=empty, done=True, done_reason=reason, **counts)]

    def raw(self, line: str) -> bytes:
        return line.encode() + b"\n"

    def _line(self, **fields: Any) -> bytes:
        return self.raw(json.dumps({"model": self.body["model"], **fields}))


class OpenAIWords(Words):
    """Server-sent events."""

    @property
    def sampling(self) -> Sampling:
        return Sampling(
            temperature=self.body["temperature"],
            top_p=self.body["top_p"],
            seed=self.body["seed"],
            max_tokens=self.body["max_tokens"],
        )

    @staticmethod
    def refusal(said: str) -> dict[str, Any]:
        return {"error": {"message": said, "type": "server_error"}}

    def delta(self, delta: Delta) -> bytes:
        choice = {"index": 0, "delta": {"content": delta.text}, "finish_reason": None}
        return b": a comment\n\n" + self.raw(json.dumps({"choices": [choice]}))

    def end(self, answer: Answer, behaviour: Behaviour) -> list[bytes]:
        reason = "length" if behaviour is Behaviour.CUT else answer.finish
        choice: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": reason}
        if told := self.told(answer):
            choice["logprobs"] = {"content": told}
        last = {"choices": [choice]}
        usage = {
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": answer.usage.cached_tokens},
        }
        lines = [self.raw(json.dumps(last))]
        if behaviour is not Behaviour.NO_COUNTS:
            lines.append(self.raw(json.dumps({"choices": [], "usage": usage})))
        return [*lines, self.raw("[DONE]")]

    def raw(self, line: str) -> bytes:
        return f"data: {line}\n\n".encode()
