"""`merito eval --run`: what gold says of runs that were judged by something else."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.models.chat import Message, Sampling
from stores.store import Store
from tests.core.run.stage import BROKEN, RIGHT, WRONG, wrapped
from tests.tui.commands.test_bench import served, told
from tests.tui.experiments.harbour_study import Script, questions_file


def by_number(messages: Sequence[Message], sampling: Sampling) -> str:
    """Right at once, runs and is wrong, fails and comes right, fails and comes wrong: by the
    question's number."""
    text = messages[-1].content
    number = int(re.findall(r"large \((\d+)\)", text)[-1]) % 4
    first, then = ((RIGHT, RIGHT), (WRONG, WRONG), (BROKEN, RIGHT), (BROKEN, WRONG))[number]
    return wrapped(then if BROKEN in text else first)


def misled(messages: Sequence[Message], sampling: Sampling) -> str:
    """The greedy answer is right; the samples agree on another, and a repair follows them."""
    text = messages[-1].content
    return wrapped(WRONG if sampling.temperature or RIGHT in text else RIGHT)


class Stage:
    """A store, a stream of four questions, and what a command printed last."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.store, self.stream = folder / "s.sqlite", questions_file(folder, 4)
        self._capsys = capsys
        self.out = self.err = ""

    async def ran(self, script: Script, *options: object) -> None:
        """A run over the stream; its answers may be wrong or not."""
        async with served(script) as (_, model):
            words = ("--model", model, "--strategy", "iterative", "--budget", 2, "--plain")
            code, _, err = await told(
                self._capsys, "run", self.stream, "--store", self.store, *words, *options
            )
        assert (code, err) == (0, "")

    def eval(self, *options: object) -> int:
        """Exit code of `merito eval` with these options."""
        from tui.main import run

        self._capsys.readouterr()
        code = run(["eval", *map(str, options)])
        self.out, self.err = self._capsys.readouterr()
        return code

    def records(self, table: str) -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in self.out.splitlines()]
        return [row for row in rows if row["table"] == table]


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Stage:
    return Stage(tmp_path, capsys)


async def test_execution_repairs_what_fails_and_calls_right_whatever_runs(stage: Stage) -> None:
    await stage.ran(by_number, "--regime", "execution")
    assert (
        await asyncio.to_thread(stage.eval, "--run", "last", "--store", stage.store, "--json") == 0
    ), stage.err
    answers = {row["question"]: row for row in stage.records("answers")}
    assert {name: row["change"] for name, row in answers.items()} == {
        "q0": "stayed right",
        "q1": "still wrong",
        "q2": "made right",
        "q3": "still wrong",
    }
    assert (answers["q2"]["first SQL"], answers["q2"]["last SQL"]) == (BROKEN, RIGHT)
    assert (answers["q2"]["first status"], answers["q2"]["last status"]) == (
        "EXECUTION_ERROR",
        "CORRECT",
    )
    (summary,) = stage.records("by-gold")
    assert (summary["strategy"], summary["judged by"]) == ("iterative", "execution")
    assert (summary["questions"], summary["left out"]) == (4, 0)
    assert (summary["first right"], summary["last right"]) == (1, 2)
    assert (summary["made right"], summary["made wrong"], summary["still wrong"]) == (1, 0, 2)
    assert (summary["called right"], summary["of these right"]) == (4, 2)
    assert summary["gain"] == pytest.approx(25.0)
    assert summary["gain low"] <= 25 <= summary["gain high"]
    assert summary["questions, gold not seen"] == 3, "q2 has the gold of q1"
    assert summary["gain, gold not seen"] == 0.0
    assert summary["McNemar p"] == 1.0


async def test_consensus_can_make_a_right_answer_wrong(stage: Stage) -> None:
    await stage.ran(misled, "--regime", "consensus", "--candidates", 4, "--selector", "majority")
    assert await asyncio.to_thread(stage.eval, "--run", "last", "--store", stage.store) == 0
    assert max(map(len, stage.out.split("Gain:")[0].splitlines())) <= 80
    lines = [re.split(r"\s{2,}", line.strip()) for line in stage.out.splitlines()]
    shown = {line[0]: line[1] for line in lines if len(line) == 2}
    assert (shown["judged by"], shown["made wrong"], shown["made right"]) == ("consensus", "4", "0")
    assert (shown["first right"], shown["last right"], shown["of these right"]) == ("4", "0", "0")
    assert shown["gain"] == "-100.00 [-100.00, -100.00]"
    assert shown["McNemar p"] == "0.125"
    assert "Questions left out" not in stage.out


async def test_what_gold_cannot_judge_is_left_out_by_name(stage: Stage) -> None:
    """A gold that fails, a question that says something else today, one that is gone, and one whose
    database is missing."""
    await stage.ran(by_number, "--regime", "execution")
    q0, q1, _, q3 = map(json.loads, stage.stream.read_text("utf-8").splitlines())
    again = [{**q0, "gold": "SELECT marker_x FROM gone"}, {**q1, "question": "How many?"}]
    lost = {**q3, "database": "nowhere"}
    stage.stream.write_text("\n".join(map(json.dumps, [*again, lost])), "utf-8")
    select = ("--run", "last", "--store", stage.store)
    assert await asyncio.to_thread(stage.eval, *select, "--json") == 1
    assert {row["question"]: row["left out"] for row in stage.records("answers")} == {
        "q0": "broken gold",
        "q1": "another question since the run",
        "q2": "no longer in the data set",
        "q3": "database missing",
    }
    differing = {row["difference"]: row for row in stage.records("on-purpose")}
    assert {row["protocol"] for row in differing.values()} == {"bird"}
    assert len(differing) == 5
    fails = differing["a question whose gold query fails is left out of every rate"]
    assert (fails["questions"], fails["the first"]) == (1, "q0")
    assert sum(row["questions"] for row in differing.values()) == 1
    (summary,) = stage.records("by-gold")
    assert (summary["questions"], summary["left out"]) == (0, 4)
    assert (summary["gain"], summary["McNemar p"]) == (None, None)
    assert await asyncio.to_thread(stage.eval, *select) == 1
    assert "cannot be judged: its gold" in stage.out
    assert "marker_x" not in stage.out + stage.err


async def test_a_data_set_that_moved_is_found_where_root_says(stage: Stage, tmp_path: Path) -> None:
    await stage.ran(by_number, "--regime", "execution")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("questions.jsonl", "harbour"):
        (tmp_path / name).rename(elsewhere / name)
    select = ("--run", "last", "--store", stage.store)
    assert await asyncio.to_thread(stage.eval, *select) == 2
    assert "is not at" in stage.err
    assert "questions.jsonl is now with --root" in stage.err
    assert await asyncio.to_thread(stage.eval, *select, "--root", elsewhere) == 0


async def test_a_recording_is_judged_too_and_a_redacted_one_is_refused(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await stage.ran(by_number, "--regime", "execution")
    whole, hidden = tmp_path / "whole.jsonl.gz", tmp_path / "hidden.jsonl.gz"
    for path, more in ((whole, ()), (hidden, ("--redact",))):
        code, _, err = await told(
            capsys, "replay", "last", "--store", stage.store, "--export", path, *more
        )
        assert code == 0, err
    assert await asyncio.to_thread(stage.eval, "--run", whole, "--run", whole) == 0
    assert stage.out.count("iterative") == 1
    assert await asyncio.to_thread(stage.eval, "--run", hidden) == 2
    assert stage.err.count("\n") == 1
    assert "is redacted" in stage.err


async def test_an_experiment_in_another_regime_points_to_gold(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its id is another, its report says who judged, and its runs are judged again together."""
    ids = []
    async with served(by_number) as (_, model):
        for regime in ("denotation", "execution"):
            code, out, err = await told(
                capsys, "bench", "repair", stage.stream, "--model", model, "--store", stage.store,
                "--strategies", "none,iterative", "--orders", "0", "--budget", 2, "--regime", regime,
            )  # fmt: skip
            assert (code, err) == (0, "")
            ids += re.findall(r"^Experiment (\w+):", out, re.MULTILINE)
            assert ("Not judged by gold but by execution" in out) == (regime == "execution")
            assert (f"eval --experiment {ids[-1]}" in out) == (regime == "execution")
    assert len(set(ids)) == 2
    select = ("--experiment", ids[1], "--store", stage.store, "--json")
    assert await asyncio.to_thread(stage.eval, *select) == 0, stage.err
    found = {row["strategy"]: (row["last right"], row["gain"]) for row in stage.records("by-gold")}
    assert found == {"none": (1, 0.0), "iterative": (2, 25.0)}


async def test_questions_without_gold_cannot_be_judged(stage: Stage) -> None:
    lines = [json.loads(line) for line in stage.stream.read_text("utf-8").splitlines()]
    bare = [{k: v for k, v in line.items() if k != "gold"} for line in lines]
    stage.stream.write_text("\n".join(map(json.dumps, bare)), "utf-8")
    await stage.ran(by_number)
    assert await asyncio.to_thread(stage.eval, "--run", "last", "--store", stage.store) == 2
    assert stage.err == (
        f"merito: No run in {stage.store} asked questions that have gold SQL, so nothing can be "
        "compared. Begin one over a data set with gold: merito run STREAM.\n"
    )
    with Store.open(stage.store, mode="read") as store:
        run = store.run("last").id
    assert await asyncio.to_thread(stage.eval, "--run", run, "--store", stage.store) == 2
    assert "no gold SQL" in stage.err
    assert "--run last is the newest of these" in stage.err


async def test_last_is_the_newest_run_that_gold_can_judge(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    await stage.ran(by_number, "--regime", "execution")
    with Store.open(stage.store, mode="read") as store:
        judged = store.run("last").id
    async with served(by_number) as (_, model):
        code, _, err = await told(
            capsys, "ask", stage.stream.parent / "harbour/harbour.sqlite", "Which are large (0)?",
            "--store", stage.store, "--model", model, "--strategy", "iterative", "--plain",
        )  # fmt: skip
    assert (code, err) == (0, "")
    select = ("--run", "last", "--store", stage.store)
    assert await asyncio.to_thread(stage.eval, *select, "--json") == 0
    assert {row["run"] for row in stage.records("by-gold")} == {judged}
    assert stage.err == f"The last run whose questions have gold is {judged}.\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--run", "last", "--dataset", "spider"), "--dataset does not go with --run"),
        (("--run", "last", "--deadline", "3"), "--deadline does not go with --run"),
        (("--run", "last", "--keep-distinct"), "--keep-distinct does not go with --run"),
        (("--dataset", "bird", "--store", "s"), "--store does not go with --gold and --pred"),
        (("--dataset", "bird"), "Missing option '--root'"),
        ((), "merito eval --run RUN"),
        (("--run", "last", "--store", "nowhere.sqlite"), "There is no store at nowhere.sqlite"),
    ],
)
def test_the_two_forms_exclude_each_other(stage: Stage, options: tuple[str, ...], says: str) -> None:
    assert stage.eval(*options) == 2
    assert says in stage.err
