"""Ollama's path from end to end: the protocol's server answers from the real 0.5B."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from core.models.chat import Message, ModelTrouble, Sampling
from core.models.choosing import Terms, choose
from core.models.embedded import EmbeddedModel
from core.models.ollama import OllamaModel, OllamaServer
from tests.core.models.conftest import text_of
from tests.core.models.server import FakeServer

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]
SCHEMA = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);\n"
ASK = [Message("user", f"{SCHEMA}Write one SQLite query and nothing else: the oldest singer's name.")]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def qwen_server(
    small_weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FakeServer]:
    log = tmp_path_factory.mktemp("log") / "embedded.log"
    model = EmbeddedModel(small_weights, context_tokens=2048, log=log)
    await model.count_tokens(ASK)
    async with FakeServer(model).running() as running:
        yield running
    await model.close()


@pytest_asyncio.fixture(loop_scope="module")
async def qwen(qwen_server: FakeServer) -> AsyncIterator[OllamaModel]:
    choice = await choose(None, Terms(ollama_host=qwen_server.address, context_tokens=2048))
    assert isinstance(choice.model, OllamaModel)
    yield choice.model
    await choice.model.close()


async def test_it_is_chosen_streams_and_counts(qwen: OllamaModel, qwen_server: FakeServer) -> None:
    deltas, answer = await text_of(qwen.stream(ASK, Sampling(max_tokens=48)))
    assert len(deltas) > 3
    assert "from singer" in answer.text.lower()
    assert answer.usage.prompt_tokens == await qwen_server.model.count_tokens(ASK)
    assert answer.usage.output_tokens
    assert answer.usage.cached_tokens is None
    assert answer.finish == "stop"


async def test_its_estimate_is_above_the_real_count(qwen: OllamaModel, qwen_server: FakeServer) -> None:
    rows = "Ann Müller | 1987-03-02 | 41.5 | NULL\n" * 20
    for text in (SCHEMA * 10, rows, "How many singers are older than 30? " * 10, "歌手は何人いますか"):
        chat = [Message("user", text)]
        assert await qwen.count_tokens(chat) >= await qwen_server.model.count_tokens(chat)


async def test_an_answer_at_its_limit_says_so(qwen: OllamaModel) -> None:
    _, answer = await text_of(qwen.stream(ASK, Sampling(max_tokens=2)))
    assert answer.finish == "length"


async def test_cancellation_reaches_the_engine(qwen: OllamaModel, qwen_server: FakeServer) -> None:
    qwen_server.hung_up.clear()
    endless = [Message("user", "Count from 1 to 1000, one number a line, all of them.")]
    async with aclosing(qwen.stream(endless, Sampling(max_tokens=1500))) as stream:
        await anext(stream)
    await asyncio.wait_for(qwen_server.hung_up.wait(), 10)
    _, answer = await asyncio.wait_for(text_of(qwen.stream(ASK, Sampling(max_tokens=8))), 60)
    assert answer.text


async def test_a_missing_model_is_pulled_and_then_answers(qwen_server: FakeServer) -> None:
    name = "qwen2.5-coder:0.5b"
    model = OllamaModel(name, host=qwen_server.address, num_ctx=2048)
    with pytest.raises(ModelTrouble, match="has no model") as caught:
        await text_of(model.stream(ASK, Sampling(max_tokens=8)))
    assert f"ollama:{name}" in caught.value.mend
    layer = {"status": "pulling 1d9614638d18", "total": 491_400_064}
    qwen_server.pulls.append(
        [layer | {"completed": done} for done in (1, 2, 491_400_064)] + [{"status": "success"}]
    )
    server = OllamaServer(qwen_server.address)
    states = [state async for state in server.pull(name)]
    await server.close()
    assert [state.done for state in states] == [1, 2, 491_400_064, 0]
    qwen_server.installed[name] = 491_400_064
    _, answer = await text_of(model.stream(ASK, Sampling(max_tokens=8)))
    assert answer.text
    await model.close()
