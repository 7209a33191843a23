"""Engines that tell how probable words were are asked to, where somebody wants to know."""

from __future__ import annotations

import math

import pytest

from core.models.chat import Answer, ChatModel, Message, Sampling, WeighedSampling
from core.models.ollama import OllamaModel
from core.models.openai import OpenAIModel
from tests.core.models.server import FakeServer
from tests.scripted import ScriptedModel

FIRST = {"yes": math.log(0.7), "no": math.log(0.2), "Yes": math.log(0.05)}


def client(engine: str, server: FakeServer) -> ChatModel:
    if engine == "openai":
        return OpenAIModel(server.address)
    return OllamaModel("qwen2.5-coder:7b", host=server.address)


async def answered(model: ChatModel, sampling: Sampling) -> Answer:
    pieces = [each async for each in model.stream([Message("user", "?")], sampling)]
    assert isinstance(pieces[-1], Answer)
    return pieces[-1]


@pytest.mark.parametrize("engine", ["openai", "ollama"])
async def test_probabilities_come_with_the_call_that_wants_them_and_with_no_other(engine: str) -> None:
    server = FakeServer(ScriptedModel(lambda _m, _s: Answer(text="yes", first=FIRST)))
    async with server.running():
        model = client(engine, server)
        weighed = await answered(model, WeighedSampling(alternatives=3))
        free = await answered(model, Sampling())
        await model.close()
    assert weighed.first == pytest.approx(FIRST)
    assert free.first == {}
    assert [chat.get("logprobs") for chat in server.chats] in ([True, None], [True, False])
    assert server.chats[0]["top_logprobs"] == 3


@pytest.mark.parametrize("engine", ["openai", "ollama"])
async def test_a_server_that_passes_it_over_leaves_nothing(engine: str) -> None:
    server = FakeServer(ScriptedModel(lambda _m, _s: Answer(text="yes", first=FIRST)))
    server.tells_probabilities = False
    async with server.running():
        model = client(engine, server)
        assert (await answered(model, WeighedSampling())).first == {}
        await model.close()
