"""Recorded answers come back to the calls they were given to, and to no others."""

from __future__ import annotations

import pytest

from core.models.chat import Answer, Message, ModelTrouble, Sampling, Usage
from core.models.replay import RecordedCall, ReplayModel, recorded_calls
from core.run.events import AnswerWritten, PromptSent
from tests.core.models.conftest import text_of

GREEDY = Sampling(max_tokens=16)


def call(
    position: int, attempt: int, prompt: str, text: str, sampling: Sampling = GREEDY
) -> RecordedCall:
    return RecordedCall(
        position=position,
        attempt=attempt,
        messages=(Message("user", prompt),),
        sampling=sampling,
        answer=Answer(text=text, usage=Usage(prompt_tokens=3, output_tokens=2)),
    )


async def ask(model: ReplayModel, prompt: str, sampling: Sampling = GREEDY) -> str:
    _, answer = await text_of(model.stream([Message("user", prompt)], sampling))
    return answer.text


async def test_it_is_labelled_as_a_replay() -> None:
    description = await ReplayModel([], name="run 7").describe()
    assert (description.engine, description.name) == ("replay", "run 7")


async def test_an_answer_is_found_by_messages_and_sampling() -> None:
    warm = Sampling(max_tokens=16, seed=3, temperature=0.8)
    model = ReplayModel([call(0, 0, "a", "A"), call(1, 0, "b", "B"), call(1, 1, "b", "warm", warm)])
    assert await ask(model, "b") == "B"
    assert await ask(model, "a") == "A"
    assert await ask(model, "b", warm) == "warm"


async def test_the_same_call_gets_its_answers_in_order_and_keeps_the_last() -> None:
    model = ReplayModel([call(1, 0, "a", "second"), call(0, 0, "a", "first")])
    assert [await ask(model, "a") for _ in range(3)] == ["first", "second", "second"]


async def test_no_answer_is_ever_made_up() -> None:
    model = ReplayModel([call(0, 0, "a", "A")])
    for prompt, sampling in (("b", GREEDY), ("a", Sampling(max_tokens=16, seed=1))):
        with pytest.raises(ModelTrouble, match="has no answer to this call") as caught:
            await ask(model, prompt, sampling)
        assert not caught.value.passing


async def test_in_order_the_prompts_are_not_compared() -> None:
    model = ReplayModel(
        [call(1, 0, "b", "2"), call(0, 1, "a", "1"), call(0, 0, "x", "0")], in_order=True
    )
    assert [await ask(model, "anything") for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(ModelTrouble):
        await ask(model, "anything")


async def test_a_stored_runs_events_are_a_recording() -> None:
    place = {"run": "r", "seq": 1, "at": 0.0, "position": 4, "attempt": 0}
    messages = (Message("user", "q"),)
    events = [
        PromptSent(**place, purpose="initial", template="t", messages=messages, sampling=GREEDY),
        AnswerWritten(
            **place, text="SELECT 1", sql="SELECT 1", usage=Usage(), seconds=2.0, finish="length"
        ),
        AnswerWritten(**place, text="shared", sql="", usage=Usage(), seconds=0.0, reused=True),
    ]
    calls = recorded_calls(events)
    assert [one.answer for one in calls] == [Answer(text="SELECT 1", finish="length", seconds=2.0)]
    assert await ask(ReplayModel(calls), "q") == "SELECT 1"
