"""Engines that cannot hold an answer to a schema, or do not care: nothing is lost, and it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.models.chat import ConstrainedSampling, Message, Sampling
from tests.core.models.server import FakeServer
from tests.scripted import Reply, ScriptedModel
from tests.tui.commands.choosing import GOLDS, helpful, make_shop, write_pool, write_training
from tests.tui.commands.test_bench import told
from tests.tui.commands.test_select import AGREED, PAIR, SPLIT

GARBLED = "Sure! As for the candidates, both [Q] and [A] look fine to me. [A] > "


def prose(messages: Sequence[Message], _sampling: Sampling) -> str:
    """Never what was asked for."""
    return GARBLED if "You compare SQL queries" in messages[0].content else "The query counts rows."


def holding(messages: Sequence[Message], sampling: Sampling) -> Reply:
    """A model that writes a specification although nothing holds it to that."""
    return helpful(messages, ConstrainedSampling(seed=sampling.seed, answer_schema="{}"))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MERITO_STORE", str(tmp_path / "s.sqlite"))
    return make_shop(tmp_path)


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("protocol", ["openai", "ollama"])
async def test_a_server_that_refuses_schemas_is_asked_without(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
    status: int,
) -> None:
    server = FakeServer(ScriptedModel(holding))
    server.constrains, server.unconstrained_status = False, status
    async with server.running():
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        names = {"openai": f"openai:{server.address}/v1#m", "ollama": "ollama:qwen2.5-coder:7b"}
        model = names[protocol]
        code, out, err = await told(capsys, "specs", "build", write_training(root), "--model", model)
    assert code == 0, err
    assert "3 memories made (0 from the syntax tree alone)" in out
    assert "takes no JSON schema" in err
    refused = sum(bool(chat.get("response_format") or chat.get("format")) for chat in server.chats)
    assert refused <= 3, "those that were under way when the first was refused"
    assert len(server.chats) == refused + 3


async def test_a_server_that_ignores_schemas_costs_a_second_call_and_is_counted(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with FakeServer(ScriptedModel(prose)).running() as server:
        model = f"openai:{server.address}/v1#m"
        code, out, err = await told(capsys, "specs", "build", write_training(root), "--model", model)
        assert len(server.chats) == 2 * len(GOLDS)
    assert code == 0
    assert "3 memories made (3 from the syntax tree alone)" in out
    assert "6 answers were no valid specification" in err


async def selected(
    root: Path, capsys: pytest.CaptureFixture[str], methods: str
) -> tuple[tuple[int, str, str], tuple[int, str, str]]:
    """What `merito select` tells of a server that writes prose: as JSON, then in words."""
    pool = write_pool(root, AGREED, SPLIT, PAIR)
    words = ("select", pool, "--root", root, "--method", methods)
    async with FakeServer(ScriptedModel(prose)).running() as server:
        model = ("--model", f"openai:{server.address}/v1#m")
        return await told(capsys, *words, *model, "--json"), await told(capsys, *words, *model)


async def test_garbled_rankings_are_mended_and_counted(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code, out, err), again = await selected(root, capsys, "map-sql-no-memory,pairwise,pointwise,mcs")
    assert (code, again[0]) == (0, 0), err
    lines = [json.loads(line) for line in out.splitlines()]
    assert all(isinstance(line["choice"], int) for line in lines)
    garbled = {line["method"]: line["mended"] for line in lines if line["question_id"] == 8}
    assert garbled["map-sql-no-memory"] > 0
    assert garbled["pointwise"] == 4
    assert "mended" in again[1]


async def test_a_server_without_probabilities_is_named_and_the_rest_is_done(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (code, out, _err), again = await selected(root, capsys, "weighed-majority,mcs")
    assert (code, again[0]) == (1, 1)
    choices = {
        (line["question_id"], line["method"]): line["choice"]
        for line in map(json.loads, out.splitlines())
    }
    assert choices[8, "weighed-majority"] is None
    assert isinstance(choices[8, "mcs"], int)
    assert "weighed-majority: m tells no probabilities of its words" in again[2]
