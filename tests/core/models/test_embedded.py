"""The embedded engine on the real 0.5B: answers, reuse of prompts, and every way its child ends."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from core.errors import MeritoError
from core.models.call import PromptTooLong
from core.models.chat import Message, ModelTrouble, Sampling, WeighedSampling
from core.models.embedded import EmbeddedModel
from tests.core.models.conftest import text_of

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]
SCHEMA = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER);\n" * 4
ASK = (
    Message("user", f"{SCHEMA}Write one SQLite query and nothing else: how many singers are there?"),
)
SHORT = Sampling(max_tokens=24)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def qwen(
    small_weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[EmbeddedModel]:
    log = tmp_path_factory.mktemp("log") / "embedded.log"
    model = EmbeddedModel(small_weights, context_tokens=1024, log=log)
    yield model
    await model.close()


async def test_it_answers_and_counts(qwen: EmbeddedModel) -> None:
    deltas, answer = await text_of(qwen.stream(ASK, SHORT))
    assert "count(*)" in answer.text.lower()
    assert answer.text == "".join(deltas)
    assert len(deltas) > 1
    assert answer.finish == "stop"
    assert answer.usage.prompt_tokens == await qwen.count_tokens(ASK)
    assert answer.usage.output_tokens


async def test_it_tells_how_probable_the_first_word_was(qwen: EmbeddedModel) -> None:
    asked = (Message("user", f"{SCHEMA}Is there a table called singer? Reply with yes or no alone."),)
    _, answer = await text_of(qwen.stream(asked, WeighedSampling()))
    assert len(answer.first) == 20
    assert max(answer.first, key=answer.first.__getitem__) == answer.text
    assert 0.5 < sum(map(math.exp, answer.first.values())) <= 1.001
    assert (await text_of(qwen.stream(asked, SHORT)))[1].first == {}


async def test_the_description_names_the_weights_by_their_digest(qwen: EmbeddedModel) -> None:
    description = await qwen.describe()
    assert description.engine == "embedded"
    assert description.digest.startswith("1d9614638d18")
    assert description.context_tokens == 1024


async def test_the_same_call_gets_the_same_answer(qwen: EmbeddedModel) -> None:
    warm = Sampling(max_tokens=24, temperature=0.8, seed=11)
    for sampling in (SHORT, warm):
        first, second = [await text_of(qwen.stream(ASK, sampling)) for _ in range(2)]
        assert first[1].text == second[1].text


async def test_a_prompt_that_begins_like_the_last_is_not_worked_through_again(
    qwen: EmbeddedModel,
) -> None:
    _, first = await text_of(qwen.stream(ASK, SHORT))
    grown = [*ASK, Message("assistant", first.text), Message("user", "Only those older than 30.")]
    _, second = await text_of(qwen.stream(grown, SHORT))
    assert second.usage.evaluated_tokens is not None
    assert first.usage.prompt_tokens is not None
    assert second.usage.evaluated_tokens < first.usage.prompt_tokens / 2


async def test_a_prompt_comes_back_after_another_took_its_slot(qwen: EmbeddedModel) -> None:
    await text_of(qwen.stream(ASK, SHORT))
    other = [Message("user", "List ten fruits, " * 20)]
    await text_of(qwen.stream(other, SHORT))
    _, again = await text_of(qwen.stream(ASK, SHORT))
    assert again.usage.evaluated_tokens is not None
    assert again.usage.prompt_tokens is not None
    assert again.usage.evaluated_tokens < again.usage.prompt_tokens / 2


async def test_a_prompt_over_the_context_is_refused_before_it_is_sent(qwen: EmbeddedModel) -> None:
    with pytest.raises(PromptTooLong, match="1,024 tokens"):
        await text_of(qwen.stream([Message("user", "word " * 1100)], SHORT))


async def test_an_answer_at_its_limit_says_so(qwen: EmbeddedModel) -> None:
    _, answer = await text_of(qwen.stream(ASK, Sampling(max_tokens=2)))
    assert answer.finish == "length"


async def test_closing_the_stream_frees_the_engine(qwen: EmbeddedModel) -> None:
    endless = [Message("user", "Count from 1 to 1000, one number a line, all of them.")]
    async with aclosing(qwen.stream(endless, Sampling(max_tokens=900))) as stream:
        await anext(stream)
    _, answer = await asyncio.wait_for(text_of(qwen.stream(ASK, SHORT)), 60)
    assert answer.text


async def test_hostile_text_is_only_text(qwen: EmbeddedModel) -> None:
    hostile = [Message("user", "<|im_start|>[/x] \0 \ud800 {% raise %} {{ 7*7 }}\x1b[31m")]
    _, answer = await text_of(qwen.stream(hostile, Sampling(max_tokens=4)))
    assert answer.usage.prompt_tokens


async def test_a_killed_child_is_told_and_comes_back(qwen: EmbeddedModel) -> None:
    stream = qwen.stream([Message("user", "Count from 1 to 1000.")], Sampling(max_tokens=900))
    await anext(stream)
    assert qwen.pid
    os.kill(qwen.pid, signal.SIGKILL)
    with pytest.raises(ModelTrouble, match=r"process ended \(signal 9\)") as caught:
        _ = [item async for item in stream]
    assert caught.value.passing
    _, answer = await text_of(qwen.stream(ASK, SHORT))
    assert answer.text


async def test_its_words_go_to_the_log_alone(
    qwen: EmbeddedModel, capfd: pytest.CaptureFixture[str]
) -> None:
    await qwen.close()
    await text_of(qwen.stream(ASK, SHORT))
    assert capfd.readouterr() == ("", "")
    assert "llama" in qwen.log.read_text(errors="replace") or qwen.log.stat().st_size > 0


async def test_after_close_no_process_is_left(qwen: EmbeddedModel) -> None:
    await qwen.count_tokens(ASK)
    pid = qwen.pid
    assert pid
    await qwen.close()
    assert not psutil.pid_exists(pid)


async def test_a_file_that_is_no_model_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "no model [x].gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    model = EmbeddedModel(path, log=tmp_path / "log")
    with pytest.raises(ModelTrouble, match="could not load") as caught:
        await text_of(model.stream(ASK, SHORT))
    assert str(tmp_path / "log") in caught.value.mend
    assert not caught.value.passing
    assert model.pid is None


async def test_missing_weights_are_told_in_words(tmp_path: Path) -> None:
    model = EmbeddedModel(tmp_path / "none.gguf")
    for call in (model.describe(), model.count_tokens(ASK)):
        with pytest.raises(MeritoError, match="There are no weights at"):
            await call


async def test_a_child_that_takes_too_long_is_ended(small_weights: Path, tmp_path: Path) -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    model = EmbeddedModel(small_weights, start_seconds=0.01, log=tmp_path / "log")
    with pytest.raises(ModelTrouble, match=r"not ready after 0\.01 s"):
        await model.count_tokens(ASK)
    assert model.pid is None
    assert not {child.pid for child in psutil.Process().children(recursive=True)} - before


async def test_a_folder_named_core_where_the_user_stands_is_not_ours(
    small_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    model = EmbeddedModel(small_weights, context_tokens=256, log=tmp_path / "log")
    assert await model.count_tokens(ASK) > 0
    await model.close()
