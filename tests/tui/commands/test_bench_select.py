"""`merito bench select`: all methods from one pool, whatever interrupts it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.models.chat import Message, ModelTrouble, Sampling
from core.selection.method import METHODS
from stores.store import Store
from tests.core.run.stage import WRONG
from tests.scripted import Reply, Script
from tests.streams import run_events
from tests.tui.commands.choosing import Stage, helpful, record, write_pool, write_training
from tests.tui.commands.test_bench import served, told
from tests.tui.commands.test_report_figures import drafts
from tests.tui.commands.test_select import AGREED, HIGHEST, PAIR, SPLIT
from tests.tui.experiments.harbour_study import questions_file
from tui.commands.bench_select import command
from tui.selection.kept import open_specs


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, capsys, monkeypatch)


def bench(stage: Stage, *more: object) -> int:
    if not stage.bank.exists():
        stage("specs", "build", write_training(stage.root))
    pool = write_pool(stage.root, AGREED, SPLIT, PAIR)
    return stage("bench", "select", pool, "--root", stage.root, *more)


def rows(stage: Stage, table: str) -> list[dict[str, Any]]:
    return [line for line in stage.lines if line.get("table") == table]


def test_every_method_is_told_with_its_cost_and_its_difference(stage: Stage) -> None:
    assert bench(stage, "--json") == 0
    methods = {row["method"]: row for row in rows(stage, "methods")}
    assert set(methods) == {name for name, method in METHODS.items() if method.studied}
    assert methods["majority"]["accuracy"] == pytest.approx(2 / 3)
    assert methods["majority"]["consistency"] == 1.0
    assert methods["map-sql"]["tokens_written"] > 0
    assert {row["second"] for row in rows(stage, "differences")} == set(methods) - {"map-sql"}
    assert rows(stage, "pool")[0]["oracle"] == 1.0


def test_what_costs_compare_by_and_what_is_not_asked_is_said(stage: Stage) -> None:
    assert bench(stage, "--methods", "majority,pointwise,mcs,map-sql") == 0
    assert "tokens sent are the cost to compare by" in stage.out
    assert "The papers of pointwise, mcs ask then, too" in stage.out
    assert "where a method failed it was not" in stage.out
    assert bench(stage, "--methods", "majority", "--no-consistency") == 0
    assert "Costs" not in stage.out
    assert "papers" not in stage.out
    assert "failed" not in stage.out


def test_commas_name_no_method(stage: Stage) -> None:
    assert bench(stage, "--methods", ",") == 2
    assert "Name at least one method" in stage.err


def test_methods_share_calls_and_each_is_charged_its_own(stage: Stage) -> None:
    bench(
        stage, "--methods", "listwise-memory,map-sql,map-sql-no-tie-break", "--no-consistency", "--json"
    )
    choices = [line for line in stage.lines if "choice" in line]
    asked = len(stage.models[-1].calls)
    charged = {
        method: sum(line["calls"] for line in choices if line["method"] == method)
        for method in ("listwise-memory", "map-sql", "map-sql-no-tie-break")
    }
    assert 0 < charged["map-sql-no-tie-break"] <= charged["map-sql"] <= asked
    assert asked < sum(charged.values())


def test_a_study_that_is_cut_reports_what_it_has_and_goes_on(stage: Stage) -> None:
    answered = 0

    def failing(messages: Sequence[Message], sampling: Sampling) -> Reply:
        nonlocal answered
        answered += 1
        return ModelTrouble("The server is gone.") if answered == 12 else helpful(messages, sampling)

    bench(stage, "--methods", "majority", "--no-consistency")
    before = stage.calls
    stage.script = failing
    assert bench(stage) == 1
    assert "goes on where it was" in stage.err
    assert "map-sql" in stage.out
    stage.script = helpful
    assert bench(stage) == 0
    told, asked = stage.out, stage.calls
    assert bench(stage) == 0
    assert stage.out == told
    assert stage.calls == asked
    assert len(set(_answered(stage))) == asked - before - 1  # the failed one


def _answered(stage: Stage) -> list[str]:
    calls = [call for model in stage.models[1:] for call in model.calls]
    return [f"{messages}{sampling}" for messages, sampling in calls]


def test_a_bank_may_be_anothers(stage: Stage) -> None:
    bench(stage, "--methods", "majority")
    used = stage.store
    stage.store = stage.root / "other.sqlite"
    pool = write_pool(stage.root, SPLIT)
    command_line = ["bench", "select", pool, "--root", stage.root, "--methods", "listwise-memory"]
    assert stage(*command_line) == 1
    assert "merito specs build" in stage.err
    assert stage(*command_line, "--bank", f"{used}.specs") == 0


def test_choices_are_kept_for_the_console(stage: Stage) -> None:
    bench(stage, "--methods", "majority,map-sql")
    with open_specs(stage.store) as specs:
        (pool,) = specs.pools()
        kept = specs.selections(pool.pool)
    assert (pool.questions, set(pool.methods)) == (3, {"majority", "map-sql"})
    assert [each.question.id for each in kept] == ["7", "7", "8", "8", "9", "9"]
    split = next(each for each in kept if each.selection.runs)
    assert split.candidates.executed[split.selection.choice or 0].sql
    assert command.name == "select"


def test_several_seeds_are_repeats_with_a_deviation(stage: Stage) -> None:
    methods = ("--methods", "majority,listwise,map-sql-no-memory", "--memory-tokens", 0)
    assert bench(stage, *methods, "--seeds", "42,43,44", "--json") == 0
    single = [row for row in rows(stage, "methods") if row["method"] == "map-sql-no-memory"]
    assert [row["repeat"] for row in single] == [0, 1, 2]
    repeated = {row["method"]: row for row in rows(stage, "methods-over-repeats")}
    told = repeated["map-sql-no-memory"]
    assert (told["repeats"], told["questions"]) == (3, 9)
    for figure in ("accuracy", "consistency", "calls", "tokens_sent"):
        values = [row[figure] for row in single]
        assert told[figure]["mean"] == pytest.approx(statistics.mean(values))
        assert told[figure]["deviation"] == pytest.approx(statistics.stdev(values))
    assert repeated["majority"]["accuracy"]["deviation"] == 0
    (difference,) = [row for row in rows(stage, "differences") if row["second"] == "listwise"]
    assert (difference["interval"]["clusters"], difference["interval"]["outcomes"]) == (3, 9)
    choices = [line for line in stage.lines if "choice" in line]
    assert {line["seed"] for line in choices} == {42, 43, 44}
    assert bench(stage, *methods, "--seeds", "42,43,44") == 0
    assert "9 choices in 3 repeats" in stage.out
    assert "66.67 ± 0.00 %" in stage.out


def test_the_first_repeat_is_what_a_study_without_repeats_says(stage: Stage) -> None:
    methods = ("--methods", "listwise,map-sql-no-memory", "--memory-tokens", 0, "--json")
    assert bench(stage, *methods, "--seeds", "5,6") == 0
    first = [row for row in rows(stage, "methods") if row["repeat"] == 0]
    assert bench(stage, *methods, "--seed", 5) == 0
    assert rows(stage, "methods") == first


def test_several_pools_are_repeats(stage: Stage) -> None:
    better = write_pool(stage.root, AGREED, SPLIT, PAIR).rename(stage.root / "better.jsonl")
    wrong = {**PAIR, "candidates": PAIR["candidates"][1:]}
    worse = write_pool(stage.root, AGREED, SPLIT, wrong)
    words = ("--root", stage.root, "--methods", "majority", "--no-consistency", "--json")
    assert stage("bench", "select", better, worse, *words) == 0
    assert [row["accuracy"] for row in rows(stage, "methods")] == pytest.approx([2 / 3, 2 / 3])
    assert rows(stage, "pool")[0]["oracle"] == pytest.approx(5 / 6)
    assert {line["pool"] for line in stage.lines if "choice" in line} == {str(better), str(worse)}


OTHERWISE = record(9, HIGHEST, "SELECT max(price) FROM item", "SELECT price + 0 FROM item")
MAP_SQL = ("--methods", "majority,map-sql-no-memory", "--memory-tokens", 0, "--no-consistency")


def two_pools(stage: Stage, *second: dict[str, Any]) -> tuple[Path, Path]:
    first = write_pool(stage.root, AGREED, SPLIT, PAIR).rename(stage.root / "first.jsonl")
    return first, write_pool(stage.root, *second)


def gone_at(sql: str) -> Script:
    """A model that fails for good once it is shown this text."""

    def script(messages: Sequence[Message], sampling: Sampling) -> Reply:
        gone = sql in messages[0].content
        return ModelTrouble("The server is gone.") if gone else helpful(messages, sampling)

    return script


def test_an_unfinished_repeat_is_left_out_and_named(stage: Stage) -> None:
    first, second = two_pools(stage, AGREED, SPLIT, OTHERWISE)
    words = ("--root", stage.root, *MAP_SQL, "--json")
    assert stage("bench", "select", first, *words) == 0
    alone = [rows(stage, table) for table in ("pool", "methods", "differences")]
    stage.script = gone_at("price + 0")
    assert stage("bench", "select", first, second, *words) == 1
    assert len([line for line in stage.lines if "choice" in line]) == 2 * (3 + 2)
    assert [rows(stage, table) for table in ("pool", "methods", "differences")] == alone
    unfinished = {"repeat": 1, "chosen": 2, "questions": 3, "left_out": True}
    assert rows(stage, "unfinished") == [{"table": "unfinished", **unfinished}]
    assert "repeat 2: 2 of 3 questions, left out" in stage.err
    stage.script = helpful
    assert stage("bench", "select", first, second, *words) == 0
    assert (rows(stage, "pool")[0]["repeats"], rows(stage, "unfinished")) == (2, [])


def test_where_no_repeat_is_complete_one_stands_alone_and_says_so(stage: Stage) -> None:
    pools = two_pools(stage, AGREED, SPLIT, OTHERWISE)
    stage.script = gone_at("SELECT price FROM item")
    assert stage("bench", "select", *pools, "--root", stage.root, *MAP_SQL) == 1
    assert "No repeat is complete; the figures are of repeat 1 alone: 2 of 3 questions\n" in stage.out
    assert "repeat 2: 0 of 3 questions, left out" in stage.out
    assert stage("bench", "select", pools[0], "--root", stage.root, *MAP_SQL) == 1
    assert "Unfinished: 2 of 3 questions\n" in stage.out


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ((AGREED, PAIR), "pool.jsonl has no question 8 of the database 'shop', and "),
        ((AGREED, SPLIT, PAIR, {**PAIR, "question_id": 10}), "first.jsonl has no question 10 of "),
        ((AGREED, SPLIT, {**PAIR, "db_id": "yard"}), "pool.jsonl has no question 9 of "),
        ((AGREED, SPLIT, {**PAIR, "gold_sql": ""}), "pool.jsonl has no gold SQL for question 9 of "),
    ],
)
def test_pools_of_other_questions_are_refused_before_the_first_call(
    stage: Stage, second: tuple[dict[str, Any], ...], said: str
) -> None:
    pools = two_pools(stage, *second)
    assert stage("bench", "select", *pools, "--root", stage.root, *MAP_SQL) == 2
    assert said in stage.err
    assert (stage.models, stage.out) == ([], "")
    assert stage("bench", "select", *pools, "--root", stage.root, *MAP_SQL, "--limit", 1) == 0


def test_one_pool_under_two_spellings_is_one(stage: Stage) -> None:
    pool = write_pool(stage.root, AGREED)
    again = stage.root / "link.jsonl"
    again.symlink_to(pool)
    words = ("--root", stage.root, "--methods", "majority")
    assert stage("bench", "select", pool, again, *words) == 0
    assert f"{again} is {pool} again: it is taken once." in stage.err
    assert "\n1 question, equal by" in stage.out


def test_consistency_by_the_number_of_permutations(stage: Stage) -> None:
    methods = ("--methods", "majority,map-sql-no-memory", "--memory-tokens", 0)
    assert bench(stage, *methods, "--sweep", "1,2,8", "--json") == 0
    swept = rows(stage, "permutations")
    assert [(row["method"], row["permutations"]) for row in swept] == [
        ("map-sql-no-memory", number) for number in (1, 2, 4, 8)
    ]
    calls = [row["calls"]["mean"] for row in swept]
    assert calls == sorted(calls)
    assert calls[0] < calls[-1]
    assert all(row["consistency"]["n"] == 1 for row in swept)
    (usual,) = [row for row in rows(stage, "methods") if row["method"] == "map-sql-no-memory"]
    assert usual["calls"] == swept[2]["calls"]["mean"]
    asked = stage.calls
    assert bench(stage, *methods, "--sweep", "1,2,8") == 0
    assert stage.calls == asked
    assert "By the number of permutations" in stage.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seeds", "a,b"), "whole numbers"),
        (("--sweep", "0"), "at least 1"),
        (("--sweep", "65"), "at most 64"),
        (("--seeds", ""), "'--seeds': It names no number"),
        (("--seeds", ","), "'--seeds': It names no number"),
        (("--sweep", " "), "'--sweep': It names no number"),
    ],
)
def test_what_is_no_list_of_numbers_is_told(stage: Stage, words: tuple[str, ...], said: str) -> None:
    pool = write_pool(stage.root, AGREED)
    assert stage("bench", "select", pool, "--root", stage.root, *words) == 2
    assert said in stage.err


async def test_what_runs_have_drawn_makes_pools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERITO_STORE", str(tmp_path / "s.sqlite"))
    stream, pools = questions_file(tmp_path, 4), []
    run = ("run", stream, "--strategy", "none", "--initial", "select", "--selector", "majority")
    async with served(drafts) as (_, model):
        for seed in (42, 43):
            options = ("--candidates", 4, "--seed", seed, "--plain", "--model", model)
            code, _, err = await told(capsys, *run, *options)
            assert code == 0, err
            pools.append(tmp_path / f"pool-{seed}.jsonl")
            code, out, _ = await told(capsys, "bench", "pool", "last", pools[-1])
            assert (code, out.split(": ")[0]) == (0, "4 questions, 4 of them with gold")
    first, second = (
        [json.loads(line) for line in pool.read_text("utf-8").splitlines()] for pool in pools
    )
    assert [line["question_id"] for line in first] == ["q0", "q1", "q2", "q3"]
    assert [len(line["candidates"]) for line in first] == [4] * 4
    assert first[0]["candidates"][0] == {"source": "greedy", "sql": WRONG}
    assert first != second
    words = ("--root", tmp_path, "--methods", "greedy,majority", "--json")
    code, out, err = await told(capsys, "bench", "select", *pools, *words)
    assert code == 0, err
    (greedy,) = [
        row
        for line in out.splitlines()
        if (row := json.loads(line)).get("table") == "methods-over-repeats"
        and row["method"] == "greedy"
    ]
    assert (greedy["repeats"], greedy["questions"], greedy["accuracy"]["mean"]) == (2, 8, 0)


async def test_a_run_without_candidates_makes_no_pool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, file = tmp_path / "s.sqlite", tmp_path / "pool.jsonl"
    with Store.open(store, create=True, durability="OFF") as opened:
        opened.append(run_events(2))
    code, _, err = await told(capsys, "bench", "pool", "last", file, "--store", store)
    assert code == 1
    assert "has drawn no candidates" in err
    assert not file.exists()


def test_without_gold_there_is_nothing_to_compare(stage: Stage) -> None:
    pool = write_pool(stage.root, record(1, "thing", "SELECT 1", "SELECT 2"))
    assert stage("bench", "select", pool, "--root", stage.root, "--methods", "majority") == 2
    assert "has no gold SQL" in stage.err
