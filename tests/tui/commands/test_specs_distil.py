"""`merito specs distil`: what reviewed repairs teach the selector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from core.memory.entry import MemoryEntry, Polarity
from core.models.chat import Message, ModelTrouble, Sampling
from stores.store import Store
from tests.scripted import Reply
from tests.streams import memory_entry
from tests.tui.commands.choosing import Stage, helpful, write_training

GOOD, MORE = memory_entry(1), memory_entry(2)
WAITING = memory_entry(3, confirmed=False)
FAILED = memory_entry(5, polarity=Polarity.NEGATIVE)


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, capsys, monkeypatch)


def remember(stage: Stage, *entries: MemoryEntry) -> None:
    with Store.open(stage.store, create=True, durability="OFF") as store:
        store.keep(entries, at=1.0)


def test_each_confirmed_and_approved_repair_becomes_one(stage: Stage) -> None:
    remember(stage, GOOD, MORE, WAITING, FAILED)
    assert stage("specs", "distil") == 0
    assert "2 memories made (0 from the syntax tree alone), 0 were there" in stage.out
    assert "1 not confirmed" in stage.err
    assert "1 no repair" in stage.err
    assert stage("specs", "list", "--json") == 0
    assert {line["repair"] for line in stage.lines} == {GOOD.id, MORE.id}
    assert stage("specs", "show", stage.lines[0]["id"], "--json") == 0
    assert stage.lines[0]["repair"]["provenance"]["run"] == GOOD.provenance.run
    assert stage("specs", "show", stage.lines[0]["id"]) == 0
    assert f"run {GOOD.provenance.run}, position" in stage.out
    assert stage("specs", "distil") == 0
    assert "0 memories made" in stage.out
    assert stage.calls == 2


def test_it_goes_on_where_it_was(stage: Stage) -> None:
    remember(stage, GOOD, MORE)
    asked = 0

    def failing(messages: Sequence[Message], sampling: Sampling) -> Reply:
        nonlocal asked
        asked += 1
        return ModelTrouble("The server is gone.") if asked == 2 else helpful(messages, sampling)

    stage.script = failing
    assert stage("specs", "distil") == 1
    assert "The server is gone" in stage.err
    stage.script = helpful
    assert stage("specs", "distil") == 0
    assert "1 memory made" in stage.out
    assert stage.calls == 3


def test_an_answer_that_does_not_hold_is_made_from_the_tree(stage: Stage) -> None:
    remember(stage, GOOD)
    stage.script = lambda _m, _s: "I would rather not."
    assert stage("specs", "distil") == 0
    assert "1 from the syntax tree alone" in stage.out


def test_one_that_teaches_nothing_is_told_by_name(stage: Stage) -> None:
    remember(stage, GOOD, WAITING)
    assert stage("specs", "distil", GOOD.id[:6]) == 0
    assert stage("specs", "distil", WAITING.id) == 1
    assert f"{WAITING.id}: it is not confirmed" in stage.err
    assert stage("memory", "reject", GOOD.id) == 0
    assert stage("specs", "distil", GOOD.id) == 1
    assert "it is rejected" in stage.err
    assert stage("specs", "distil", "nope") == 2
    assert stage("specs", "distil") == 0
    assert "no confirmed and approved repair" in stage.err


def test_what_reviewers_take_back_is_shown_to_nobody_any_more(stage: Stage) -> None:
    remember(stage, GOOD, MORE)
    stage("specs", "build", write_training(stage.root))
    stage("specs", "distil")

    def found() -> set[str]:
        assert stage("specs", "search", "How many stops?", "--json") == 0
        return {line["repair"] for line in stage.lines}

    assert found() == {None, GOOD.id, MORE.id}
    stage("memory", "reject", MORE.id)
    assert found() == {None, GOOD.id}
    stage("memory", "restore", MORE.id)
    assert found() == {None, GOOD.id, MORE.id}


def test_before_there_is_a_store_the_way_is_shown(stage: Stage) -> None:
    assert stage("specs", "distil") == 2
    assert "Traceback" not in stage.err
    assert str(stage.store) in stage.err
    assert stage.calls == 0
