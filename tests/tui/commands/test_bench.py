"""`merito bench repair`: an experiment by one command, whatever interrupts it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.repair.call import draw_seed
from core.run.events import EpisodeEnded
from stores.specs import Specs, specs_path
from stores.store import Store
from tests.core.models.server import FakeServer
from tests.core.run.stage import BROKEN, RIGHT, WRONG, wrapped
from tests.core.selection.test_retrieval import memory
from tests.scripted import ScriptedModel
from tests.tui.experiments.harbour_study import (
    STRATEGIES,
    Script,
    answers,
    questions_file,
    steady,
)
from tests.tui.experiments.life import benched
from tui.interruption import until_interrupted
from tui.main import run

Bench = Callable[..., Any]


@contextlib.asynccontextmanager
async def served(script: Script = answers) -> AsyncIterator[tuple[FakeServer, str]]:
    """A local server, and how `--model` names it."""
    async with FakeServer(ScriptedModel(script)).running() as server:
        yield server, f"openai:{server.address}/v1#scripted"


async def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Exit code, output and errors of one command."""
    capsys.readouterr()
    code = await asyncio.to_thread(run, [str(word) for word in words])
    return code, *capsys.readouterr()


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    return questions_file(tmp_path)


def words(stream: Path, model: str, store: str, *more: object) -> list[object]:
    """The command of the study."""
    return [
        "bench", "repair", stream, "--model", model, "--store", stream.parent / store,
        "--strategies", STRATEGIES, "--orders", "0,1", "--budget", 3, *more,
    ]  # fmt: skip


async def test_a_study_ends_with_its_report_and_a_second_start_asks_nothing(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (server, model):
        code, out, err = await told(capsys, *words(stream, model, "s.sqlite"))
        asked = len(server.chats)
        again, out_again, _ = await told(capsys, *words(stream, model, "s.sqlite"))
        assert len(server.chats) == asked
    assert (code, err, again) == (0, "", 0)
    assert "12 questions, 2 strategies, 2 orders; 0 of 4 runs are finished" in out
    assert "4 of 4 runs are finished" in out_again
    assert out[out.index("data set:") :] == out_again[out_again.index("data set:") :]
    assert "50.00 \N{PLUS-MINUS SIGN} 0.00" in out


async def test_initial_predictions_are_made_once(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (server, model):
        await told(capsys, *words(stream, model, "s.sqlite"))
    prompts = [json.dumps(chat["messages"]) for chat in server.chats]
    initial = [text for text in prompts if WRONG not in text and BROKEN not in text]
    assert len(initial) == len(set(initial)) == 12


async def test_a_wider_study_asks_only_for_what_is_new(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (server, model):
        await told(capsys, *words(stream, model, "s.sqlite"))
        asked = len(server.chats)
        code, out, _ = await told(
            capsys, *words(stream, model, "s.sqlite", "--strategies", f"none,{STRATEGIES}")
        )
        assert len(server.chats) == asked, "the first SQL of every question was there already"
    assert code == 0
    assert "4 of 6 runs are finished" in out


async def test_another_repair_loop_is_another_experiment_that_shares_its_answers(
    stream: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, asked = [], []
    async with served() as (server, model):
        for loop in (1, 2):
            monkeypatch.setattr("tui.order.LOOP", loop)
            memoryless = ("--strategies", "none,iterative")
            code, out, err = await told(capsys, *words(stream, model, "s.sqlite", *memoryless))
            assert (code, err) == (0, "")
            ids += re.findall(r"^Experiment (\w+):.*; 0 of 4 runs", out, re.MULTILINE)
            asked.append(len(server.chats))
    assert asked[0] == asked[1], "the prompts were the same, so their answers are shared"
    assert len(set(ids)) == 2


async def test_memories_that_come_while_an_experiment_runs_change_nothing_in_it(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = stream.parent / "s.sqlite"

    def remembering(messages: Any, sampling: Any) -> str:
        with contextlib.closing(Specs(specs_path(store))) as specs:
            if not specs.ids():
                specs.keep([memory("m", "Which boats are small?", "harbour")])
        return wrapped(RIGHT)

    wanted = ("--regime", "consensus", "--orders", "0", "--limit", 2, "--strategies", "none,iterative")
    async with served(remembering) as (server, model):
        code, out, err = await told(capsys, *words(stream, model, store.name, *wanted))
        assert (code, err) == (0, "")
        asked = len(server.chats)
        _, again, _ = await told(capsys, *words(stream, model, store.name, *wanted))
        assert len(server.chats) == asked
    assert "2 of 2 runs are finished" in again
    assert re.findall(r"Experiment x\w+", out)[0] == re.findall(r"Experiment x\w+", again)[0]
    with Store.open(store, mode="read") as opened:
        made = [standing.settings for standing in opened.standings()]
    assert [each.drafting.method for each in made] == ["map-sql-no-memory"] * 2  # type: ignore[union-attr]


async def test_repeats_tell_how_far_a_strategy_disagrees_with_itself(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is drawn follows its seed; the most likely answer to a prompt is another when it is asked
    for again, as an engine's may be that is not bit-stable."""
    asked = Counter[str]()

    def unsteady(messages: Any, sampling: Any) -> str:
        if sampling.temperature:
            return wrapped(RIGHT if sampling.seed % 2 else WRONG)
        prompt = messages[-1].content
        asked[prompt] += 1
        return wrapped(RIGHT if asked[prompt] > 1 else WRONG)

    more = ("--strategies", "none,iterative,resample", "--orders", "0", "--budget", 1)
    async with served(unsteady) as (_, model):
        await told(capsys, *words(stream, model, "s.sqlite", *more))
        code, out, err = await told(capsys, *words(stream, model, "s.sqlite", *more, "--repeat", 2))
        assert (code, err) == (0, "")
        assert "1 order, each 2 times; 3 of 6 runs are finished" in out
        again = (*more, "--repeat", 2, "--json")
        _, out, _ = await told(capsys, *words(stream, model, "s.sqlite", *again))
    lines = map(json.loads, out.splitlines())
    rows = {row["first"]: row for row in lines if row.get("table") == "noise"}
    assert [row["second"] for row in rows.values()] == [name.replace("0", "1") for name in rows]
    seeds = [[draw_seed(seed, f"q{n}", 1) % 2 for n in range(12)] for seed in (0, 1)]
    apart = sum(one != other for one, other in zip(*seeds, strict=True))
    assert 0 < apart < 12
    assert {
        name: (row["one alone right"], row["one alone right of"]) for name, row in rows.items()
    } == {
        "none, seed 0": (0, 12),
        "iterative, seed 0": (12, 12),
        "resample, seed 0": (apart, 12),
    }


async def test_neither_the_sequence_of_cells_nor_what_is_under_way_at_once_changes_anything(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turned = ",".join(reversed(STRATEGIES.split(",")))
    async with served() as (_, model):
        _, out, _ = await told(capsys, *words(stream, model, "a.sqlite", "--json", "--jobs", 1))
        changed = ("--json", "--jobs", 8, "--strategies", turned, "--orders", "1,0")
        _, other, _ = await told(capsys, *words(stream, model, "b.sqlite", *changed))
    assert steady(out) == steady(other)
    assert len(steady(out)) > 48


async def test_progress_in_json_counts_every_question(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (_, model):
        _, out, _ = await told(capsys, *words(stream, model, "s.sqlite", "--json"))
    lines = [json.loads(line) for line in out.splitlines()]
    steps = [line for line in lines if "outcome" in line and "table" not in line]
    assert [step["finished"] for step in steps] == list(range(1, 49))
    assert steps[-1]["seconds_left"] == 0


def damage(stream: Path) -> None:
    """One gold that fails, two questions whose database is missing, two malformed records."""
    lines = [json.loads(line) for line in stream.read_text("utf-8").splitlines()]
    lines[4]["gold"] = "SELECT * FROM gone"
    lines += [{**lines[0], "id": name, "database": "nowhere"} for name in ("lost", "lost too")]
    lines.append({**lines[0], "id": "mute", "question": None})
    stream.write_text("\n".join([*map(json.dumps, lines), '{"id": "cut", "dat']), "utf-8")


async def test_a_broken_question_is_named_counted_and_told_by_the_exit_code(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(stream)
    async with served() as (server, model):
        code, out, _ = await told(capsys, *words(stream, model, "s.sqlite"))
        asked = len(server.chats)
        code_again, again, _ = await told(capsys, *words(stream, model, "s.sqlite", "--json"))
        assert len(server.chats) == asked
    assert (code, code_again) == (1, 1)
    assert "2 of 14 questions left out: there is no database 'nowhere'" in out
    assert "2 of 16 records left out: malformed; the first: " in out
    report = out[out.index("data set:") : out.index("As a page:")]
    assert str(stream.parent) not in report
    rows = [json.loads(line) for line in again.splitlines()]
    listed = [row for row in rows if row.get("table") == "left-out"]
    assert [(row["question"], row["database"], row["why"], row["runs"]) for row in listed] == [
        ("", "", "malformed", 4),
        ("lost", "nowhere", "no database", 4),
        ("lost too", "nowhere", "no database", 4),
        ("mute", "harbour", "malformed", 4),
        ("q4", "harbour", "broken question", 4),
    ]
    assert "record 16: broken JSON" in listed[0]["note"]
    assert "record 15: the field 'question' is missing" in listed[3]["note"]
    assert "gone" in listed[4]["note"] or "gold" in listed[4]["note"]


async def test_how_much_was_under_way_at_once_is_told(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (_, model):
        _, out, _ = await told(capsys, *words(stream, model, "s.sqlite", "--jobs", 1))
        wider = ("--jobs", 3, "--strategies", "none")
        _, other, _ = await told(capsys, *words(stream, model, "s.sqlite", *wider))
    assert re.search(r"^at once: +1$", out, re.MULTILINE)
    assert "shared the machine" not in out
    assert re.search(r"^at once: +3$", other, re.MULTILINE)
    assert "shared the machine" in other


async def test_a_model_that_fails_leaves_what_was_finished(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (_, model):
        pass
    code, _, err = await told(capsys, *words(stream, model, "s.sqlite"))
    assert code == 1
    assert "127.0.0.1" in err
    assert "Traceback" not in err


MISTAKES: dict[str, tuple[list[object], int, str]] = {
    "no such strategy": (["--strategies", "merit,mreit"], 2, "'mreit'"),
    "no strategy": (["--strategies", ","], 2, "at least one"),
    "no such order": (["--orders", "0,x"], 2, "0,x"),
    "no question": (["--limit", "0"], 2, "--limit"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_clear_line(
    mistake: str, stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more, code, said = MISTAKES[mistake]
    command = words(stream, "openai:http://127.0.0.1:9/v1#x", "s.sqlite", *more)
    assert run([str(word) for word in command]) == code
    assert said in capsys.readouterr().err


def test_standard_input_cannot_be_read_for_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "repair", "-", "--root", "."]) == 2
    assert "standard input" in capsys.readouterr().err


KILLS = 50
QUESTIONS = 48
EARLY = frozenset(range(0, KILLS, 4))
"""Lives that are killed while they start: the store is made, opened or repaired, the study taken up."""


def last_event(store: Path, aside: Path) -> str:
    """The kind of the newest event that a killed life has left. Read from a copy: whoever opens the
    store itself repairs it, and that is for the next life to do."""
    if not store.exists():
        return "no store"
    for suffix in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(f"{store}{suffix}", f"{aside}{suffix}")
    with contextlib.closing(sqlite3.connect(aside)) as conn:
        found = conn.execute("SELECT kind FROM events ORDER BY number DESC LIMIT 1").fetchone()
    Path(f"{aside}-wal").unlink(missing_ok=True)
    return str(found[0]) if found else "nothing"


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_kill_9_anywhere_fifty_times_gives_the_report_of_the_undisturbed_study(
    tmp_path: Path,
) -> None:
    """The kill comes some moments after the model was asked for the nth time of a life, so it meets
    calls, executions, judgements and commits alike; or any moment between its start and its first
    question."""
    stream = questions_file(tmp_path, QUESTIONS)
    lives = multiprocessing.get_context("forkserver")
    lives.set_forkserver_preload(["__main__", "tests.tui.experiments.life"])
    rng, asked = random.Random(11), asyncio.Event()
    due = 0

    def counted(messages: Any, sampling: Any) -> str:
        nonlocal due
        due -= 1
        if due == 0:
            asked.set()
        return answers(messages, sampling)

    async with served(counted) as (_, model):

        def life(store: str, jobs: int = 1) -> Any:
            command = [str(word) for word in words(stream, model, store, "--json", "--jobs", jobs)]
            return lives.Process(target=benched, args=(command, str(tmp_path / f"{store}.out")))

        async def ended(process: Any) -> None:
            await asyncio.to_thread(process.join)

        whole = life("whole")
        whole.start()
        await ended(whole)
        met = set()
        for kill in range(KILLS):
            asked.clear()
            early = kill in EARLY
            # Calls that are asked at once say nothing about how far the first of them has come.
            jobs = rng.choice((1, 3))
            due = 1 if early else rng.randint(2, 4) + 2 * (jobs - 1)
            process = life("cut", jobs)
            process.start()
            ending, asking = asyncio.create_task(ended(process)), asyncio.create_task(asked.wait())
            patience = rng.uniform(0, 1) if early else None
            await asyncio.wait({ending, asking}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            assert not ending.done(), f"the study was over after {kill} kills"
            if not early:
                await asyncio.sleep(rng.uniform(0, 0.02))
            process.kill()
            await ending
            asking.cancel()
            met.add(last_event(tmp_path / "cut", tmp_path / "aside"))
        assert {"attempt_judged", "episode_ended"} < met, met
        due = 0
        last = life("cut")
        last.start()
        await ended(last)
    undisturbed, patched = ((tmp_path / f"{name}.out").read_text("utf-8") for name in ("whole", "cut"))
    assert steady(undisturbed)
    assert steady(patched) == steady(undisturbed)
    with Store.open(tmp_path / "cut", mode="read") as store:
        assert list(store.check()) == []
        runs = store.runs()
        assert sum(record.sessions > 1 for record in runs) >= 3, "the kills met most of the study"
        for record in runs:
            endings = [each.position for each in store.events(record.id) if type(each) is EpisodeEnded]
            assert sorted(endings) == list(range(QUESTIONS)), "each question is final once"


async def test_ctrl_c_gives_up_what_is_under_way() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    waiting = asyncio.create_task(until_interrupted(forever()))
    await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGINT)
    assert await asyncio.wait_for(waiting, 5) is False
