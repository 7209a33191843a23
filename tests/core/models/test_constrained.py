"""Engines that can hold an answer to a schema are told to."""

from __future__ import annotations

import json

import pytest

from core.models.chat import Answer, ConstrainedSampling, Message, Sampling
from core.models.ollama import OllamaModel
from core.models.openai import OpenAIModel
from tests.core.models.server import FakeServer
from tests.scripted import ScriptedModel

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CONSTRAINED = ConstrainedSampling(answer_schema=json.dumps(SCHEMA))


@pytest.mark.parametrize("engine", ["openai", "ollama"])
async def test_the_schema_goes_with_the_call_and_with_no_other(engine: str) -> None:
    server = FakeServer(ScriptedModel(lambda _m, _s: "{}"))
    async with server.running():
        model = (
            OpenAIModel(server.address)
            if engine == "openai"
            else OllamaModel("qwen2.5-coder:7b", host=server.address)
        )
        for sampling in (CONSTRAINED, Sampling()):
            pieces = [each async for each in model.stream([Message("user", "?")], sampling)]
            assert isinstance(pieces[-1], Answer)
        await model.close()
    held, free = server.chats
    if engine == "openai":
        assert held["response_format"]["json_schema"]["schema"] == SCHEMA
        assert "response_format" not in free
    else:
        assert held["format"] == SCHEMA
        assert not free.get("format")
