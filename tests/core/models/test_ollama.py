"""What is Ollama's own: the fixed window, silent cuts, missing models, and pulls."""

from __future__ import annotations

import pytest

from core.models.call import PromptTooLong
from core.models.chat import ModelTrouble, Sampling
from core.models.ollama import OllamaModel, OllamaServer
from core.models.progress import Progress
from tests.core.models.conftest import QUESTION, QUICK, text_of
from tests.core.models.server import Behaviour, FakeServer

LAYER = {"status": "pulling 8934d96d3f08", "digest": "sha256:8934", "total": 100}


async def test_the_description_carries_window_and_digest(server: FakeServer) -> None:
    model = OllamaModel("qwen2.5-coder:7b", host=server.address, num_ctx=4096, deadlines=QUICK)
    description = await model.describe()
    assert description.engine == "ollama"
    assert description.context_tokens == 4096
    assert description.digest == "digest of qwen2.5-coder:7b"
    await model.close()


async def test_the_tag_latest_may_be_left_out(server: FakeServer) -> None:
    server.installed = {"qwen:latest": 1}
    model = OllamaModel("qwen", host=server.address, deadlines=QUICK)
    assert (await model.describe()).name == "qwen:latest"
    await model.close()


async def test_one_window_for_every_call(server: FakeServer) -> None:
    model = OllamaModel("qwen2.5-coder:7b", host=server.address, num_ctx=2048, deadlines=QUICK)
    for max_tokens in (8, 512):
        await text_of(model.stream(QUESTION, Sampling(max_tokens=max_tokens)))
    assert [chat["options"]["num_ctx"] for chat in server.chats] == [2048, 2048]
    assert [chat["options"]["num_predict"] for chat in server.chats] == [8, 512]
    await model.close()


async def test_a_prompt_that_filled_the_window_was_cut(server: FakeServer) -> None:
    model = OllamaModel("qwen2.5-coder:7b", host=server.address, num_ctx=2048, deadlines=QUICK)
    server.behaviours.append(Behaviour.FILLS_WINDOW)
    with pytest.raises(PromptTooLong, match="2,048"):
        await text_of(model.stream(QUESTION, Sampling(max_tokens=8)))
    await model.close()


async def test_a_missing_model_says_how_to_get_it(server: FakeServer) -> None:
    model = OllamaModel("absent", host=server.address, deadlines=QUICK)
    for call in (model.describe(), text_of(model.stream(QUESTION, Sampling(max_tokens=8)))):
        with pytest.raises(ModelTrouble, match="has no model absent") as caught:
            await call
        assert "merito models pull ollama:absent" in caught.value.mend
        assert not caught.value.passing
    await model.close()


async def test_a_pull_tells_how_far_it_is(server: FakeServer) -> None:
    server.pulls.append(
        [
            {"status": "pulling manifest"},
            LAYER | {"completed": 10},
            LAYER | {"completed": 100},
            {"status": "success"},
        ]
    )
    ollama = OllamaServer(server.address, deadlines=QUICK)
    states = [state async for state in ollama.pull("qwen2.5-coder:7b")]
    assert states[1] == Progress(step="pulling 8934d96d3f08", done=10, total=100)
    assert states[-1].step == "success"
    await ollama.close()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([LAYER | {"completed": 10}], "stopped fetching"),
        ([{"error": "pull model manifest: file does not exist"}], "file does not exist"),
        ([["odd"]], "does not know"),
    ],
)
async def test_a_pull_that_fails_says_why(
    server: FakeServer, lines: list[dict[str, object]], words: str
) -> None:
    server.pulls.append(lines)
    ollama = OllamaServer(server.address, deadlines=QUICK)
    with pytest.raises(ModelTrouble, match=words):
        _ = [state async for state in ollama.pull("nothing")]
    await ollama.close()
