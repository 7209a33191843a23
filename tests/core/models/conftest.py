"""The misbehaving server, and the models that talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from core.models.call import Deadlines
from core.models.chat import Answer, ChatModel, Delta, Message, Sampling
from core.models.ollama import OllamaModel
from core.models.openai import OpenAIModel
from tests.core.models.server import FakeServer
from tests.scripted import ScriptedModel

QUICK = Deadlines(connect=2, control=2, first_token=1, between_tokens=1, whole_call=20)
QUESTION = (Message("user", "How many singers are there?"),)
MakeModel = Callable[..., ChatModel]


class WordByWord(ScriptedModel):
    """The scripted answer, one word a delta."""

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncIterator[Delta | Answer]:
        async for item in super().stream(messages, sampling):
            if isinstance(item, Delta):
                for word in item.text.split(" "):
                    yield Delta(f"{word} ")
            else:
                yield item


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    """A server that answers `SELECT count(*) FROM singer`, word by word."""
    model = WordByWord(lambda _messages, _sampling: "SELECT count(*) FROM singer")
    async with FakeServer(model).running() as running:
        yield running


@pytest.fixture(params=["ollama", "openai"])
async def model(request: pytest.FixtureRequest, server: FakeServer) -> AsyncIterator[ChatModel]:
    """A model of each protocol on that server, with short limits of time."""
    made: ChatModel = (
        OllamaModel("qwen2.5-coder:7b", host=server.address, num_ctx=4096, deadlines=QUICK)
        if request.param == "ollama"
        else OpenAIModel(f"{server.address}/v1", deadlines=QUICK)
    )
    yield made
    await made.close()


async def text_of(stream: AsyncIterator[Delta | Answer]) -> tuple[list[str], Answer]:
    """The deltas and the answer of a whole stream, which must end with the answer."""
    items = [item async for item in stream]
    answer = items.pop()
    assert isinstance(answer, Answer)
    assert all(isinstance(item, Delta) for item in items)
    return [item.text for item in items if isinstance(item, Delta)], answer
