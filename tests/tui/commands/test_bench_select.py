"""`merito bench select`: all methods from one pool, whatever interrupts it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.models.chat import Message, ModelTrouble, Sampling
from core.selection.method import METHODS
from tests.scripted import Reply
from tests.tui.commands.choosing import Stage, helpful, write_pool, write_training
from tests.tui.commands.test_select import AGREED, PAIR, SPLIT
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
