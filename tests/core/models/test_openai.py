"""What the OpenAI side finds out about its server, and what llama.cpp offers beyond the protocol."""

from __future__ import annotations

import json

import pytest

from core.models.call import PromptTooLong
from core.models.chat import Message, ModelDescription, ModelTrouble, Sampling, Usage
from core.models.openai import OpenAIModel
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
async def test_counts_come_from_usage_or_from_llama_cpps_timings(
    server: FakeServer, chunk: dict[str, object], usage: Usage
) -> None:
    last = {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}
    server.chunks = [json.dumps(last), json.dumps({"choices": [], **chunk})]
    model = OpenAIModel(server.address, deadlines=QUICK)
    _, answer = await text_of(model.stream(QUESTION, Sampling(max_tokens=8)))
    assert (answer.text, answer.usage) == ("yes", usage)
    await model.close()


@pytest.mark.parametrize(
    "chunk",
    [
        '{"choices": [null]}',
        '{"choices": {}}',
        '{"choices": 7}',
        '{"choices": [{"delta": "text"}]}',
        '{"choices": [{"delta": {"content": [{}]}}]}',
        '{"choices": [{"delta": {}, "finish_reason": 1}]}',
        '{"usage": "x"}',
        '{"usage": {"prompt_tokens": "many"}}',
        '{"usage": {"prompt_tokens_details": [1]}}',
        '{"timings": {"prompt_n": {}}}',
        "null",
    ],
)
async def test_an_odd_chunk_is_told_in_words(server: FakeServer, chunk: str) -> None:
    server.chunks = [chunk]
    model = OpenAIModel(server.address, deadlines=QUICK)
    with pytest.raises(ModelTrouble, match="does not know") as caught:
        await text_of(model.stream(QUESTION, Sampling(max_tokens=8)))
    assert server.address in caught.value.problem
    assert caught.value.mend
    await model.close()


@pytest.mark.parametrize(
    ("figures", "kind"),
    [
        ({"n_prompt_tokens": 9000, "n_ctx": 4096}, PromptTooLong),
        ({"n_prompt_tokens": "9000"}, ModelTrouble),
        ({}, ModelTrouble),
    ],
)
async def test_a_prompt_without_room_is_the_prompts_fault_whatever_figures_are_told(
    server: FakeServer, figures: dict[str, object], kind: type[ModelTrouble]
) -> None:
    server.refusal = {"type": "exceed_context_size_error", "message": "too large", **figures}
    model = OpenAIModel(server.address, deadlines=QUICK)
    with pytest.raises(ModelTrouble, match="does not fit") as caught:
        await text_of(model.stream(QUESTION, Sampling(max_tokens=8)))
    assert type(caught.value) is kind
    assert caught.value.concerns_prompt
    await model.close()


def test_servers_that_name_no_weights_share_no_answers() -> None:
    def fingerprint(digest: str, address: str) -> str:
        return ModelDescription(
            engine="openai", name="m", context_tokens=4096, digest=digest, address=address
        ).fingerprint

    assert fingerprint("", "http://a") != fingerprint("", "http://b")
    assert fingerprint("", "http://a") == fingerprint("", "http://a")
    assert fingerprint("d", "http://a") == fingerprint("d", "http://b") == "openai:m:d:4096"


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
