"""`merito specs` as its user meets it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from core.models.call import PromptTooLong
from core.models.chat import Message, ModelTrouble, Sampling
from stores.store import Store
from tests.scripted import Reply
from tests.tui.commands.choosing import GOLDS, Stage, helpful, write_training


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, capsys, monkeypatch)


@pytest.fixture
def train(stage: Stage) -> Path:
    return write_training(stage.root)


def test_one_memory_a_pair_and_nothing_is_made_twice(stage: Stage, train: Path) -> None:
    assert stage("specs", "build", train) == 0
    assert "3 memories made (0 from the syntax tree alone), 0 were there" in stage.out
    assert stage("specs", "build", train) == 0
    assert "0 memories made" in stage.out
    assert "3 were there" in stage.out
    assert stage.calls == 3


def test_an_interrupted_building_repeats_no_finished_call(stage: Stage, train: Path) -> None:
    answered = 0

    def failing(messages: Sequence[Message], sampling: Sampling) -> Reply:
        nonlocal answered
        answered += 1
        return ModelTrouble("The server is gone.") if answered == 3 else helpful(messages, sampling)

    stage.script = failing
    assert stage("specs", "build", train) == 1
    assert "The server is gone" in stage.err
    stage.script = helpful
    assert stage("specs", "build", train) == 0
    assert "1 memory made" in stage.out
    assert len(stage.models[1].calls) == 1


def test_the_answers_that_were_rejected_are_not_asked_for_again(stage: Stage, train: Path) -> None:
    answers: list[Reply] = ["nonsense", ModelTrouble("gone")]
    stage.script = lambda _m, _s: answers.pop(0)
    assert stage("specs", "build", train, "--limit", 1) == 1
    stage.script = helpful
    assert stage("specs", "build", train, "--limit", 1) == 0
    assert len(stage.models[1].calls) == 1


def test_a_limit_draws_by_seed(stage: Stage, train: Path) -> None:
    assert stage("specs", "build", train, "--limit", 2, "--seed", 5, "--json") == 0
    first = {line["id"] for line in stage.lines}
    assert len(first) == 2
    assert stage("specs", "build", train, "--limit", 2, "--seed", 5, "--json") == 0
    assert stage.lines == []


def test_what_the_model_cannot_write_is_marked(stage: Stage, train: Path) -> None:
    stage.script = lambda _m, _s: "I would rather not."
    assert stage("specs", "build", train) == 0
    assert "3 from the syntax tree alone" in stage.out
    assert stage("specs", "list", "--rebuilt", "--json") == 0
    assert len(stage.lines) == 3


def test_list_show_and_search(stage: Stage, train: Path) -> None:
    stage("specs", "build", train)
    assert stage("specs", "list", "--json") == 0
    assert {line["question"] for line in stage.lines} == set(GOLDS)
    name = stage.lines[0]["id"]
    assert stage("specs", "show", name[:8], "--json") == 0
    assert stage.lines[0]["id"] == name
    assert "specification" in stage.lines[0]
    question = "How many items are there?"
    assert stage("specs", "search", question, "--json") == 0
    assert stage.lines[0]["question"] == question
    assert stage("specs", "search", question, "--database", "shop", "--json") == 0
    assert question not in {line["question"] for line in stage.lines}


def test_memories_travel(stage: Stage, train: Path, tmp_path: Path) -> None:
    stage("specs", "build", train)
    file = tmp_path / "bank.jsonl"
    assert stage("specs", "export", file) == 0
    stage.store = tmp_path / "other.sqlite"
    assert stage("specs", "import", file) == 0
    assert "3 new memories, 0 known" in stage.out
    assert stage("specs", "import", file) == 0
    assert "0 new memories, 3 known" in stage.out


def test_a_broken_line_imports_nothing(stage: Stage, train: Path, tmp_path: Path) -> None:
    stage("specs", "build", train)
    file = tmp_path / "bank.jsonl"
    stage("specs", "export", file)
    file.write_bytes(file.read_bytes() + b'{"id": 3}\n')
    stage.store = tmp_path / "other.sqlite"
    assert stage("specs", "import", file) == 1
    assert "line 4" in stage.err
    stage("specs", "list", "--json")
    assert stage.lines == []


def test_before_anything_was_built_the_way_there_is_shown(stage: Stage) -> None:
    assert stage("specs", "list") == 1
    assert "merito specs build" in stage.err


def test_an_export_is_a_whole_file_or_none(stage: Stage, train: Path, tmp_path: Path) -> None:
    stage("specs", "build", train)
    assert stage("specs", "export", tmp_path / "none" / "bank.jsonl") == 1
    assert "bank.jsonl cannot be written" in stage.err
    target = tmp_path / "real.jsonl"
    target.touch(mode=0o640)
    (tmp_path / "link.jsonl").symlink_to(target)
    assert stage("specs", "export", tmp_path / "link.jsonl") == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len(target.read_text().splitlines()) == 3


def test_a_broken_line_is_left_out_as_a_record_without_a_field_is(stage: Stage, train: Path) -> None:
    pairs = json.loads(train.read_text())
    lines = [json.dumps(pair) for pair in pairs]
    lines[1:1] = ['{"db_id": "shop", "question":', '{"db_id": "shop", "question": "Q"}', "[1]"]
    broken = train.with_name("broken.jsonl")
    broken.write_text("\n".join(lines))
    assert stage("specs", "build", broken) == 1
    assert "3 memories made" in stage.out
    for number, said in ((2, "broken JSON"), (3, "'query' is missing"), (4, "an object with fields")):
        assert f"record {number}: " in stage.err
        assert said in stage.err


def test_pairs_without_a_schema_are_named_and_the_rest_done(stage: Stage, train: Path) -> None:
    pairs = [*json.loads(train.read_text()), {"db_id": "gone", "question": "Q", "query": "SELECT 1"}]
    train.write_text(json.dumps(pairs))
    assert stage("specs", "build", train) == 1
    assert "gone" in stage.err
    assert "3 memories made" in stage.out


@pytest.mark.parametrize("target", ["store.sqlite", "store.sqlite.specs"])
def test_an_export_replaces_no_database(stage: Stage, train: Path, target: str) -> None:
    with Store.open(stage.store, create=True):
        pass
    stage("specs", "build", train)
    before = (stage.root / target).read_bytes()
    assert stage("specs", "export", stage.root / target) == 1
    assert "is a database and would be lost" in stage.err
    assert (stage.root / target).read_bytes() == before


def test_an_export_may_go_to_standard_output(stage: Stage, train: Path) -> None:
    stage("specs", "build", train)
    assert stage("specs", "export", "-") == 0
    assert {line["database"] for line in stage.lines} == {"shop"}
    assert len(stage.lines) == 3


def test_nothing_imported_reaches_the_terminal_raw(stage: Stage, train: Path) -> None:
    stage("specs", "build", train)
    stage("specs", "export", "-")
    memory = {**stage.lines[0], "id": "\x1b[31mred"}
    (stage.root / "evil.jsonl").write_text(json.dumps(memory))
    assert stage("specs", "import", stage.root / "evil.jsonl") == 0
    assert stage("specs", "list") == 0
    assert "\x1b" not in stage.out
    assert "\N{SYMBOL FOR ESCAPE}[31mred" in stage.out


def test_deep_nesting_is_a_broken_line(stage: Stage) -> None:
    (stage.root / "deep.jsonl").write_text('{"x":' + "[" * 200_000)
    assert stage("specs", "import", stage.root / "deep.jsonl") == 1
    assert "deep.jsonl, line 1: no specification memory" in stage.err


def test_a_broken_schema_record_is_named_and_the_rest_done(stage: Stage, train: Path) -> None:
    (stage.root / "tables.json").write_text('[{"db_id": "x"}]')
    assert stage("specs", "build", train, "--root", stage.root) == 1
    assert "tables.json: The schema record of database 'x'" in stage.err
    assert "3 memories made" in stage.out


def test_a_prompt_that_is_too_long_is_no_call(stage: Stage, train: Path) -> None:
    stage.script = lambda _m, _s: PromptTooLong(9_000, 4_096)
    assert stage("specs", "build", train, "--limit", 1, "--json") == 0
    assert stage.lines[0]["calls"] == 0
    assert stage.lines[0]["rebuilt"]
    assert "no valid specification" not in stage.err


def test_another_programs_database_is_no_store(stage: Stage, train: Path) -> None:
    stage("specs", "build", train)
    stage("specs", "export", stage.root / "bank.jsonl")
    stage.store = stage.root / "shop.sqlite"
    assert stage("specs", "import", stage.root / "bank.jsonl") == 1
    assert "shop.sqlite is no Merito store" in stage.err
    assert not stage.bank.exists()


def test_a_name_that_is_no_text_is_a_name(stage: Stage, train: Path) -> None:
    stage.store = stage.root / os.fsdecode(b"s\xff.sqlite")
    assert stage("specs", "build", train) == 0
    assert stage("specs", "list") == 0
    assert len(stage.out.splitlines()) == 3


def test_what_cannot_be_written_to_can_be_read(stage: Stage, train: Path) -> None:
    """A file of version 1, too, which writing would bring up to date."""
    stage("specs", "build", train)
    with closing(sqlite3.connect(stage.bank)) as connection:
        connection.execute("DROP TABLE selection")
        connection.execute("PRAGMA user_version = 1")
    before = stage.bank.read_bytes()
    assert stage("specs", "list") == 0
    assert len(stage.out.splitlines()) == 3
    assert stage.bank.read_bytes() == before


def test_a_server_that_stumbles_is_told_of(
    stage: Stage, train: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Reply] = [ModelTrouble("The server is busy.", "Wait.", passing=True)]
    stage.script = lambda m, s: answers.pop() if answers else helpful(m, s)
    monkeypatch.setattr("asyncio.sleep", _at_once)
    assert stage("specs", "build", train, "--limit", 1) == 0
    assert "engine trouble: The server is busy. Wait. (next try in 1 s)" in stage.err


async def _at_once(_seconds: float) -> None:
    """No wait."""
