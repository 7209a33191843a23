"""Trying again: what can pass, in the open, and never an answer that nobody gave."""

from __future__ import annotations

import pytest

from core.models.chat import Answer, ChatModel, Delta, ModelTrouble, Sampling
from core.models.retry import RetryPolicy, Stumble, stream_with_retries
from tests.core.models.conftest import QUESTION
from tests.core.models.server import Behaviour, FakeServer
from tests.scripted import ScriptedModel

AT_ONCE = RetryPolicy(waits=(0.0, 0.01, 0.0))
PASSING = ModelTrouble("The server is busy.", "Wait.", passing=True)
LASTING = ModelTrouble("There is no such model.", "Pull it.")
SAMPLING = Sampling(max_tokens=16)


async def kinds(model: ChatModel) -> list[str]:
    stream = stream_with_retries(model, QUESTION, SAMPLING, AT_ONCE)
    return [type(item).__name__ async for item in stream]


async def test_a_call_that_succeeds_is_passed_on_unchanged() -> None:
    items = [
        item async for item in stream_with_retries(ScriptedModel(["SELECT 1"]), QUESTION, SAMPLING)
    ]
    assert isinstance(items[0], Delta)
    assert isinstance(items[-1], Answer)
    assert items[-1].text == "SELECT 1"


async def test_each_stumble_is_told_with_its_wait() -> None:
    model = ScriptedModel([PASSING, PASSING, "SELECT 1"])
    items = [item async for item in stream_with_retries(model, QUESTION, SAMPLING, AT_ONCE)]
    assert items[:2] == [
        Stumble(problem="The server is busy.", mend="Wait.", retry_in=wait) for wait in (0.0, 0.01)
    ]
    assert isinstance(items[-1], Answer)


async def test_what_cannot_pass_is_not_tried_again() -> None:
    model = ScriptedModel([LASTING, "SELECT 1"])
    with pytest.raises(ModelTrouble, match="no such model"):
        await kinds(model)
    assert len(model.calls) == 1


async def test_the_last_trouble_is_raised_when_the_waits_are_used_up() -> None:
    model = ScriptedModel([PASSING] * 9)
    with pytest.raises(ModelTrouble, match="busy"):
        await kinds(model)
    assert len(model.calls) == 4


async def test_over_http_a_broken_stream_starts_again(model: ChatModel, server: FakeServer) -> None:
    server.behaviours.extend([Behaviour.BREAKS_OFF, Behaviour.QUEUE_FULL, Behaviour.PROPER])
    assert await kinds(model) == [
        *("Delta", "Stumble"),
        "Stumble",
        *(["Delta"] * 4 + ["Answer"]),
    ]
