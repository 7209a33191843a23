"""`merito select` as its user meets it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.models.chat import Message, ModelTrouble, Sampling
from tests.scripted import Reply
from tests.tui.commands.choosing import Stage, helpful, record, write_pool, write_training

COUNT, DEAR, HIGHEST = (
    "How many items are there?",
    "Which items cost more than 2?",
    "What is the highest price?",
)
AGREED = record(7, COUNT, "SELECT count(*) FROM item", "SELECT count(name) FROM item")
SPLIT = record(
    8,
    DEAR,
    "SELECT name FROM item WHERE price > 3",
    "SELECT name FROM item WHERE price > 2",
    "SELECT name FROM item WHERE price > 2.1",
    "SELECT nom FROM item",
)
PAIR = record(9, HIGHEST, "SELECT max(price) FROM item", "SELECT price FROM item")
KEYS = {
    "question_id",
    "choice",
    "sql",
    "correct",
    "groups",
    "calls",
    "tokens_sent",
    "tokens_evaluated",
}


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, capsys, monkeypatch)


def select(stage: Stage, *records: Any, **options: object) -> int:
    pool = write_pool(stage.root, *records)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return stage("select", pool, "--root", stage.root, "--json", *flags)


def test_one_object_a_question(stage: Stage) -> None:
    assert select(stage, AGREED, SPLIT, method="majority") == 0
    first, second = stage.lines
    assert set(first) >= KEYS
    assert (first["question_id"], first["choice"], first["correct"]) == (7, 0, True)
    assert second["groups"] == [[1, 2], [0], [3]]
    assert second["choice"] in (1, 2)
    assert second["sql"] == SPLIT["candidates"][second["choice"]]["sql"]
    assert stage.models == []


def test_no_call_where_all_agree(stage: Stage) -> None:
    assert select(stage, AGREED, method="map-sql-no-memory") == 0
    assert (stage.lines[0]["calls"], stage.calls) == (0, 0)


def test_memories_stand_in_the_prompt_but_never_the_questions_own(stage: Stage) -> None:
    stage("specs", "build", write_training(stage.root))
    assert select(stage, SPLIT, method="map-sql") == 0
    assert len(stage.lines[0]["memories"]) == 2
    prompt = stage.models[-1].calls[0][0][0].content
    assert f"Question: {COUNT}" in prompt
    assert prompt.count(DEAR) == 1


def test_memory_tokens_are_a_limit(stage: Stage) -> None:
    stage("specs", "build", write_training(stage.root))
    assert select(stage, SPLIT, method="map-sql", memory_tokens=1) == 0
    assert stage.lines[0]["memories"] == []


def test_without_memories_the_way_to_them_is_shown(stage: Stage) -> None:
    assert select(stage, SPLIT, method="map-sql") == 1
    assert "merito specs build" in stage.err
    assert select(stage, SPLIT, method="map-sql", memory_tokens=0) == 0


def test_an_interrupted_selection_repeats_no_finished_call(stage: Stage) -> None:
    answered = 0

    def failing(messages: Sequence[Message], sampling: Sampling) -> Reply:
        nonlocal answered
        answered += 1
        return ModelTrouble("The server is gone.") if answered == 2 else helpful(messages, sampling)

    stage.script = failing
    options = {"method": "map-sql-no-memory", "permutations": 4}
    assert select(stage, SPLIT, PAIR, **options) == 1
    assert "goes on where it was" in stage.err
    stage.script = helpful
    assert select(stage, SPLIT, PAIR, **options) == 0
    resumed, asked = stage.lines, stage.calls - 1  # the failed one has no answer
    assert select(stage, SPLIT, PAIR, **options) == 0
    assert stage.lines == resumed
    assert stage.calls - 1 == asked == sum(line["calls"] for line in resumed)


def test_what_is_wrong_with_a_record_is_one_line_and_the_rest_is_done(stage: Stage) -> None:
    records = [
        AGREED,
        {"question_id": 1, "db_id": "shop"},
        record(2, COUNT),
        record(3, COUNT, "SELECT 1", db_id="nowhere"),
        record(4, COUNT, "SELECT 1", gold_sql="SELECT nom FROM item"),
        record(5, "Q", "SELECT 1", gold_sql="", mood="unknown"),
        PAIR,
    ]
    assert select(stage, *records, method="majority") == 1
    assert [line["question_id"] for line in stage.lines] == [7, 2, 3, 4, 5, 9]
    for said in ("record 2", "Question 2: it has no candidates", "Question 3", "Question 4: its gold"):
        assert sum(said in line for line in stage.err.splitlines()) == 1
    assert [line["correct"] for line in stage.lines[1:5]] == [None] * 4
    assert "Traceback" not in stage.err


def test_methods_are_compared_on_the_same_candidates(stage: Stage) -> None:
    pool = write_pool(stage.root, AGREED, SPLIT, PAIR)
    methods = ["--method", "majority", "--method", "greedy", "--method", "listwise"]
    assert stage("select", pool, "--root", stage.root, *methods) == 0
    for said in ("majority - greedy", "McNemar p", "oracle over the pool: 100.00 %", "bird's rule"):
        assert said in stage.out


def test_greedy_is_not_applicable_where_a_pool_has_none(stage: Stage) -> None:
    without = {**AGREED, "candidates": [{"source": "x", "sql": "SELECT 1"}]}
    assert select(stage, without, method="greedy") == 0
    assert (stage.lines[0]["choice"], stage.lines[0]["correct"]) == (None, None)
    assert "n/a" in stage.err


def test_consistency_compares_two_presentations(stage: Stage) -> None:
    pool = write_pool(stage.root, SPLIT)
    arguments = ["select", pool, "--root", stage.root, "--json", "--consistency", "--method"]
    assert stage(*arguments, "majority") == 0
    assert stage.lines[0]["consistent"] is True
    assert stage(*arguments, "listwise") == 0
    line = stage.lines[0]
    assert line["sql"] == SPLIT["candidates"][line["choice"]]["sql"]


def test_the_methods_can_be_listed(stage: Stage) -> None:
    pool = write_pool(stage.root, AGREED)
    assert stage("select", pool, "--root", stage.root, "--method", "list") == 0
    assert "listwise-memory" in stage.out


def test_an_unknown_method_is_one_line(stage: Stage) -> None:
    assert select(stage, AGREED, method="majorty") == 2
    assert "Did you mean 'majority'" in stage.err


def test_a_pool_without_gold_is_said_once(stage: Stage) -> None:
    records = [record(n, f"thing {n}", "SELECT 1", "SELECT 2") for n in range(3)]
    assert select(stage, *records, method="majority") == 0
    assert stage.err.count("gold") == 1
    assert [line["problems"] for line in stage.lines] == [[], [], []]


def test_a_database_that_is_not_there_has_its_way_out(stage: Stage) -> None:
    assert select(stage, record(1, "x", "SELECT 1", db_id="SHOP"), method="majority") == 1
    assert "Did you mean shop?" in stage.err


def test_a_pool_whose_name_is_no_text_can_be_chosen_from(stage: Stage) -> None:
    pool = write_pool(stage.root, record(1, "How many items are there?", "SELECT 1", "SELECT 2"))
    named = pool.rename(stage.root / os.fsdecode(b"p\xff.jsonl"))
    assert stage("select", named, "--root", stage.root, "--method", "majority") == 0


def test_in_words_each_choice_is_a_line(stage: Stage) -> None:
    pool = write_pool(stage.root, AGREED, SPLIT)
    assert stage("select", pool, "--root", stage.root, "--method", "majority") == 0
    first, second = (line for line in stage.out.splitlines() if line.startswith("Question"))
    assert first == "Question 7, majority: candidate 1, SELECT count(*) FROM item"
    assert second.startswith("Question 8, majority: candidate ")
