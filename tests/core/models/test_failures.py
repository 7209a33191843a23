"""Every way a server can fail, on both protocols: in words, and whether waiting can help."""

from __future__ import annotations

import asyncio
import socket
from contextlib import aclosing

import pytest

from core.models.call import Deadlines, PromptTooLong
from core.models.chat import Answer, ChatModel, Delta, Message, ModelTrouble, Sampling
from core.models.ollama import OllamaModel
from core.models.openai import OpenAIModel
from tests.core.models.conftest import QUESTION, QUICK, text_of
from tests.core.models.server import Behaviour, FakeServer

SAMPLING = Sampling(max_tokens=64, seed=7, temperature=0.5, top_p=0.9)


async def trouble_of(model: ChatModel, *, after: int = 0) -> ModelTrouble:
    """What the call raises, having told `after` deltas and never an answer."""
    seen: list[Delta | Answer] = []

    async def listen() -> None:
        async for item in model.stream(QUESTION, SAMPLING):
            seen.append(item)  # noqa: PERF401 - the exception must not lose what came before

    with pytest.raises(ModelTrouble) as caught:
        await listen()
    assert len(seen) == after
    assert not any(isinstance(item, Answer) for item in seen)
    return caught.value


async def test_an_answer_streams_and_ends_with_its_counts(model: ChatModel) -> None:
    deltas, answer = await text_of(model.stream(QUESTION, SAMPLING))
    assert deltas == ["SELECT ", "count(*) ", "FROM ", "singer "]
    assert answer.text == "".join(deltas)
    assert (answer.usage.prompt_tokens, answer.usage.output_tokens) == (5, 4)
    assert answer.finish == "stop"
    assert answer.seconds > 0


WORDS = {
    Behaviour.QUEUE_FULL: (0, True, "status 503: server busy"),
    Behaviour.BROKEN: (0, True, "status 500: llama runner process has terminated"),
    Behaviour.BREAKS_OFF: (1, True, "broke the connection"),
    Behaviour.NO_END: (1, True, "ended its stream before the answer's end"),
    Behaviour.GARBAGE: (1, True, "does not know"),
    Behaviour.WRONG_SHAPE: (1, True, "does not know"),
    Behaviour.ERROR_INSIDE: (1, True, "out of memory"),
    Behaviour.SILENT: (0, True, "a first token was due"),
    Behaviour.FALLS_SILENT: (1, True, "the next token was due"),
    Behaviour.MISSING_MODEL: (0, False, "model"),
}


@pytest.mark.parametrize("behaviour", WORDS)
async def test_a_failure_is_told_in_one_clear_line(
    model: ChatModel, server: FakeServer, behaviour: Behaviour
) -> None:
    deltas, passing, words = WORDS[behaviour]
    server.behaviours.append(behaviour)
    trouble = await trouble_of(model, after=deltas)
    assert words in trouble.problem
    assert server.address in trouble.problem
    assert str(trouble).isprintable()
    assert trouble.mend
    assert trouble.passing is passing
    _, answer = await text_of(model.stream(QUESTION, SAMPLING))
    assert answer.text, "the next call works again"


async def test_an_answer_cut_at_its_limit_says_so(model: ChatModel, server: FakeServer) -> None:
    server.behaviours.append(Behaviour.CUT)
    _, answer = await text_of(model.stream(QUESTION, SAMPLING))
    assert answer.finish == "length"


async def test_missing_counts_are_unknown_and_not_zero(model: ChatModel, server: FakeServer) -> None:
    server.behaviours.append(Behaviour.NO_COUNTS)
    _, answer = await text_of(model.stream(QUESTION, SAMPLING))
    assert answer.usage.prompt_tokens is None
    assert answer.usage.output_tokens is None
    assert answer.usage.evaluated_tokens is None


async def test_a_prompt_over_the_context_is_never_sent(model: ChatModel, server: FakeServer) -> None:
    long = [Message("user", "word " * 5000)]
    with pytest.raises(PromptTooLong) as caught:
        await text_of(model.stream(long, SAMPLING))
    assert caught.value.context_tokens == 4096
    assert caught.value.concerns_prompt
    assert not caught.value.passing
    assert server.chats == []


async def test_the_answer_needs_room_too(model: ChatModel, server: FakeServer) -> None:
    with pytest.raises(PromptTooLong, match=r"answer of up to 4,096 does not fit"):
        await text_of(model.stream(QUESTION, Sampling(max_tokens=4096)))
    assert server.chats == []


async def test_closing_the_stream_stops_the_server(model: ChatModel, server: FakeServer) -> None:
    server.behaviours.append(Behaviour.FALLS_SILENT)
    async with aclosing(model.stream(QUESTION, SAMPLING)) as stream:  # type: ignore[type-var]
        await anext(stream)
    await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_cancelling_the_task_stops_the_server(model: ChatModel, server: FakeServer) -> None:
    server.behaviours.append(Behaviour.SILENT)
    task = asyncio.create_task(text_of(model.stream(QUESTION, SAMPLING)))
    async with asyncio.timeout(5):
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.hung_up.wait()


async def test_temperature_and_seed_are_always_sent(model: ChatModel, server: FakeServer) -> None:
    await text_of(model.stream(QUESTION, SAMPLING))
    sent = server.chats[0]
    options = sent.get("options", sent)
    assert (options["temperature"], options["top_p"], options["seed"]) == (0.5, 0.9, 7)


@pytest.mark.parametrize("engine", ["ollama", "openai"])
async def test_a_refused_connection_can_pass(engine: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        model: ChatModel = (
            OllamaModel("qwen2.5-coder:7b", host=address, deadlines=QUICK)
            if engine == "ollama"
            else OpenAIModel(address, deadlines=QUICK)
        )
        trouble = await trouble_of(model)
        assert trouble.passing
        assert f"{address} cannot be reached" in trouble.problem
        with pytest.raises(ModelTrouble, match="cannot be reached"):
            await model.describe()
        await model.close()


@pytest.mark.parametrize("engine", ["ollama", "openai"])
async def test_a_server_that_takes_the_call_and_says_nothing(engine: str) -> None:
    async with asyncio.timeout(5):
        mute = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{mute.sockets[0].getsockname()[1]}"
        limits = Deadlines(connect=1, control=0.3, first_token=0.3)
        model: ChatModel = (
            OllamaModel("qwen2.5-coder:7b", host=address, deadlines=limits)
            if engine == "ollama"
            else OpenAIModel(address, deadlines=limits)
        )
        with pytest.raises(ModelTrouble, match=r"did not answer in 0\.3 s"):
            await model.describe()
        await model.close()
        mute.close()


async def test_a_call_has_an_end_however_steadily_it_drips(server: FakeServer) -> None:
    class Dripping:
        async def stream(self, _messages: object, _sampling: object):  # type: ignore[no-untyped-def]
            while True:
                yield Delta("drip ")
                await asyncio.sleep(0.02)

    server.model = Dripping()  # type: ignore[assignment]
    limits = Deadlines(connect=1, control=1, first_token=5, between_tokens=5, whole_call=0.3)
    model = OllamaModel("qwen2.5-coder:7b", host=server.address, deadlines=limits)
    with pytest.raises(ModelTrouble, match=r"not finished its answer after 0\.3 s"):
        await text_of(model.stream(QUESTION, SAMPLING))
    await asyncio.wait_for(server.hung_up.wait(), 5)
    await model.close()


@pytest.mark.parametrize("engine", ["ollama", "openai"])
async def test_a_web_page_is_no_model_server_and_waiting_makes_none_of_it(engine: str) -> None:
    page = b"<!DOCTYPE html><html><body>It works!</body></html>"
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head % len(page) + page)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        model: ChatModel = (
            OllamaModel("qwen2.5-coder:7b", host=address, deadlines=QUICK)
            if engine == "ollama"
            else OpenAIModel(address, "named", deadlines=QUICK)
        )
        for call in (model.describe(), text_of(model.stream(QUESTION, SAMPLING))):
            with pytest.raises(ModelTrouble, match="answers with a web page") as caught:
                await call
            assert not caught.value.passing
        await model.close()
