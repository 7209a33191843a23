"""SIGKILL while specifications are built and candidates chosen: no finished call is repeated."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.models.chat import CALLS_AT_ONCE, ConstrainedSampling, Message, Sampling
from tests.core.models.server import Behaviour
from tests.scripted import Reply
from tests.tui.commands.choosing import helpful, make_shop, record, write_pool
from tests.tui.commands.test_bench import served
from tests.tui.experiments.life import benched
from tui.running import INTERRUPTED

KILLS = 3
QUESTIONS = 20


def written(messages: Sequence[Message], sampling: Sampling) -> Reply:
    """What the usual scripted model writes; every third specification holds only the second time."""
    text = messages[0].content
    if "You compare SQL queries" in text:
        return helpful(messages, sampling)
    if "thing 3" in text and not sampling.seed:
        return "nothing"
    return helpful(messages, ConstrainedSampling(seed=sampling.seed, answer_schema="{}"))


def training(root: Path) -> Path:
    path = root / "train.json"
    pairs = [
        {"db_id": "shop", "question": f"thing {n}", "query": f"SELECT name FROM item WHERE price > {n}"}
        for n in range(QUESTIONS)
    ]
    path.write_text(json.dumps(pairs), "utf-8")
    return path


def pool(root: Path) -> Path:
    sqls = ("SELECT name FROM item", "SELECT price FROM item", "SELECT count(*) FROM item")
    return write_pool(root, *(record(n, f"thing {n}", *sqls) for n in range(QUESTIONS)))


COMMANDS: dict[str, Callable[[Path], list[object]]] = {
    "specs build": lambda root: ["specs", "build", training(root), "--json"],
    "select": lambda root: [
        *("select", pool(root), "--root", root, "--json", "--method"),
        "map-sql-no-memory,pairwise,weighed-majority",
    ],
}


def _study(root: Path) -> list[object]:
    sqls = ("SELECT name FROM item", "SELECT price FROM item")
    golds = {"gold_sql": "SELECT name FROM item"}
    file = write_pool(root, *(record(n, f"thing {n}", *sqls, **golds) for n in range(QUESTIONS)))
    return ["bench", "select", file, "--root", root, "--methods", "mcs,majority"]


def finished(store: Path) -> int:
    """Calls whose answer is kept."""
    specs = store.with_name(f"{store.name}.specs")
    if not specs.exists():
        return 0
    with closing(sqlite3.connect(specs)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        if "answer" not in tables:
            return 0
        return int(connection.execute("SELECT count(*) FROM answer").fetchone()[0])


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
async def test_what_is_killed_goes_on_and_repeats_no_finished_call(
    tmp_path: Path, command: str
) -> None:
    lives = multiprocessing.get_context("forkserver")
    lives.set_forkserver_preload(["__main__", "tests.tui.experiments.life"])
    root = make_shop(tmp_path)
    words = COMMANDS[command](root)
    rng, asked, due = random.Random(3), asyncio.Event(), 0

    def counted(messages: Sequence[Message], sampling: Sampling) -> Reply:
        nonlocal due
        due -= 1
        if due == 0:
            asked.set()
        return written(messages, sampling)

    async with served(counted) as (server, model):

        def life(name: str) -> Any:
            line = [*map(str, words), "--model", model, "--store", str(root / name)]
            return lives.Process(target=benched, args=(line, str(root / f"{name}.out")))

        async def whole(name: str) -> int:
            before = len(server.chats)
            process = life(name)
            process.start()
            await asyncio.to_thread(process.join)
            return len(server.chats) - before

        calls = await whole("undisturbed")
        assert calls == finished(root / "undisturbed") >= QUESTIONS
        for _ in range(KILLS):
            kept, before = finished(root / "cut"), len(server.chats)
            asked.clear()
            due = rng.randint(4, 6)
            process = life("cut")
            process.start()
            await asyncio.wait_for(asked.wait(), 60)
            await asyncio.sleep(rng.uniform(0, 0.02))
            process.kill()
            await asyncio.to_thread(process.join)
            under_way = len(server.chats) - before - (finished(root / "cut") - kept)
            assert 0 <= under_way <= CALLS_AT_ONCE["openai"]
        kept = finished(root / "cut")
        assert 0 < kept < calls
        assert await whole("cut") == calls - kept
    told = [_told(root / f"{name}.out") for name in ("undisturbed", "cut")]
    if command == "select":
        assert told[0] == told[1]
        assert len(told[0]) == 3 * QUESTIONS
    else:
        specs = [_specifications(root / f"{name}.specs") for name in ("undisturbed", "cut")]
        assert specs[0] == specs[1]
        assert len(specs[0]) == QUESTIONS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "reports"),
    [(COMMANDS["specs build"], ""), (COMMANDS["select"], ""), (_study, "exact McNemar")],
    ids=["specs build", "select", "bench select"],
)
async def test_sigterm_ends_as_ctrl_c_does(
    tmp_path: Path, words: Callable[[Path], list[object]], reports: str
) -> None:
    """Quietly, with what is finished told: a terminal gets its cursor back that way, too."""
    root = make_shop(tmp_path)
    async with served(written) as (server, model):
        server.behaviours.extend([Behaviour.PROPER] * 4 + [Behaviour.SILENT] * 50)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "import sys; from tui.main import run; sys.exit(run(sys.argv[1:]))",
            *map(str, words(root)), "--model", model, "--store", str(root / "store"),
            stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        while len(server.chats) < 5:  # noqa: ASYNC110 - what the server saw is the condition
            await asyncio.sleep(0.01)
        process.terminate()
        out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == INTERRUPTED
    assert "Interrupted. What was finished is kept." in err.decode()
    assert "Traceback" not in err.decode()
    assert reports in (out + err).decode()


def _told(file: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def _specifications(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT id, body FROM specification ORDER BY id").fetchall()
    return [f"{name} {body}" for name, body in rows]
