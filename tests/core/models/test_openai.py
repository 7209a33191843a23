"""What the OpenAI side finds out about its server, and what llama.cpp offers beyond the protocol."""

from __future__ import annotations

import pytest

from core.models.chat import Message, Sampling, Usage
from core.models.openai import OpenAIModel, usage_of
from core.models.wire import is_loopback
from tests.core.models.conftest import QUESTION, QUICK, text_of
from tests.core.models.server import FakeServer


async def test_the_first_model_and_its_window_are_taken(server: FakeServer) -> None:
    model = OpenAIModel(f"{server.address}/v1/", deadlines=QUICK)
    description = await model.describe()
    assert (description.engine, description.name) == ("openai", "served")
    assert description.context_tokens == 4096
    assert description.address == server.address
    await model.close()


async def test_the_users_word_goes_before_the_servers(server: FakeServer) -> None:
    model = OpenAIModel(server.address, "mine", context_tokens=512, api_key="secret", deadlines=QUICK)
    description = await model.describe()
    assert (description.name, description.context_tokens) == ("mine", 512)
    assert server.keys == ["Bearer secret"]
    await model.close()


async def test_llama_cpp_counts_exactly_and_gets_its_own_options(server: FakeServer) -> None:
    server.llama_cpp = True
    server.window = 2048
    model = OpenAIModel(server.address, deadlines=QUICK)
    assert (await model.describe()).context_tokens == 2048
    assert await model.count_tokens([Message("user", "one two"), Message("user", "three")]) == 3
    await text_of(model.stream(QUESTION, Sampling(max_tokens=8)))
    assert server.chats[0]["cache_prompt"] is True
    assert server.chats[0]["top_k"] == 40
    await model.close()


async def test_another_server_gets_nothing_beyond_the_protocol(server: FakeServer) -> None:
    model = OpenAIModel(server.address, deadlines=QUICK)
    await text_of(model.stream(QUESTION, Sampling(max_tokens=8)))
    assert {"cache_prompt", "top_k", "min_p", "repeat_penalty"}.isdisjoint(server.chats[0])
    await model.close()


@pytest.mark.parametrize(
    ("chunk", "usage"),
    [
        (
            {
                "usage": {
                    "prompt_tokens": 36,
                    "completion_tokens": 9,
                    "prompt_tokens_details": {"cached_tokens": 30},
                }
            },
            Usage(prompt_tokens=36, cached_tokens=30, output_tokens=9),
        ),
        (
            {"usage": {"prompt_tokens": 36, "completion_tokens": 9}},
            Usage(prompt_tokens=36, cached_tokens=None, output_tokens=9),
        ),
        (
            {"timings": {"prompt_n": 6, "cache_n": 30, "predicted_n": 9}},
            Usage(prompt_tokens=36, cached_tokens=30, output_tokens=9),
        ),
        ({"usage": None}, Usage()),
    ],
)
def test_counts_come_from_usage_or_from_llama_cpps_timings(
    chunk: dict[str, object], usage: Usage
) -> None:
    assert usage_of(chunk) == usage


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("localhost:11434", True),
        ("http://[::1]:80", True),
        ("0.0.0.0", True),
        ("http://192.168.1.4", False),
        ("https://models.example", False),
    ],
)
def test_no_proxy_stands_before_this_machines_own_servers(address: str, own: bool) -> None:
    assert is_loopback(address) is own


async def test_a_proxy_of_the_environment_is_not_asked(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    model = OpenAIModel(server.address, deadlines=QUICK)
    assert (await model.describe()).name == "served"
    await model.close()
