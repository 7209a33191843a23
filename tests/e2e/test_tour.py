"""The whole of it in a terminal: the real program and the embedded model in tmux, from the start to an
approved memory, its replay and the way out; and the terminal clean afterwards, however it ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

import sample_dbs
from core.memory.entry import ReviewState
from core.run.events import RunEnded
from stores.store import Store
from tests.core.models.server import Behaviour, FakeServer
from tests.core.run.stage import wrapped
from tests.e2e.tmux import PROJECT, Shell, merito
from tests.scripted import ScriptedModel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine"),
]

ASKED = (
    ("How many patients were born in 1958?", "SELECT COUNT(*) FROM PAT WHERE DOB LIKE '%/1958'"),
    ("How many female patients are registered?", "SELECT COUNT(*) FROM PAT WHERE SEX = 2"),
)
"""Of a sample database, and more than a small model gets right at once: something is learned."""


MODEL_SECONDS = 200.0
"""The longest wait for the model, which may have to share its machine."""


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """What the program sees of a user with nothing yet, whose name is Ana."""
    return {
        "PATH": os.environ["PATH"],
        "TERM": "screen-256color",
        "LANG": "C.UTF-8",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(PROJECT),
        "HF_HUB_OFFLINE": "1",
        "MERITO_WHO": "ana",
        "MERITO_OLLAMA_HOST": "127.0.0.1:9",
    }


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A stream of few questions about a sample database."""
    file = tmp_path / "city.jsonl"
    lines = [
        {"id": f"q{n}", "database": "city_clinic", "question": question, "gold": gold}
        for n, (question, gold) in enumerate(ASKED)
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


def running(stream: Path, model: str, *more: str) -> list[str]:
    """The command line of a small run; its memory works without an encoder, whose start would take
    most of the time."""
    return merito(
        "run", stream.name, "--root", str(sample_dbs.folder() / "database"), "--store", "m.sqlite",
        "--model", model, "--strategy", "merit-no-dense", "--budget", "1", "--review", "all", *more,
    )  # fmt: skip


@contextlib.asynccontextmanager
async def served() -> AsyncIterator[FakeServer]:
    """A model that is always wrong, behind a local OpenAI-compatible server."""
    async with FakeServer(ScriptedModel(lambda _m, _s: wrapped("SELECT 1"))).running() as server:
        yield server


def named(server: FakeServer) -> str:
    """How `--model` names it."""
    return f"openai:{server.address}/v1#scripted"


async def toured(shell: Shell, command: list[str]) -> None:
    """From the start to a memory that is approved while or after the run goes on, the run's replay,
    and the way out."""
    await shell.start(*command)
    await shell.until(re.compile("> running|finished"))
    await shell.until(re.compile(r"learned (\+[1-9]|\+\d+ -[1-9])"), MODEL_SECONDS)
    await shell.press("2")
    await shell.until(re.compile(r"▸.*\? pending"))
    await shell.press("a")
    await shell.until("1 memory: approved. u takes it back.")
    await shell.press("1")
    await shell.until(re.compile(r"2/2 .*finished"), MODEL_SECONDS)
    await shell.press("3")
    await shell.until(re.compile(r"event +1 of \d+"))
    await shell.press("Space")
    await shell.until(re.compile(r"event +([2-9]|\d{2,}) of \d+"))
    await shell.press("$")
    await shell.until(re.compile(r"event +(\d+) of \1\b"))
    await shell.press("q")


def approved(store_file: Path) -> None:
    """The run is stored to its end, and one decision of Ana's."""
    with Store.open(store_file, mode="read") as store:
        run = store.runs()[0].id
        assert isinstance(list(store.events(run))[-1], RunEnded)
        states = store.review_states()
        decided = [each for entry in store.entries() for each in store.history(entry.id)]
    (hers,) = [each for each in decided if each.who == "ana"]
    assert hers.state is ReviewState.APPROVED
    assert states[hers.memory] is ReviewState.APPROVED


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_the_tour_on_the_embedded_model(
    city: Path, small_weights: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    async with Shell.opened(tmp_path, environment) as shell:
        await toured(shell, running(city, f"embedded:{small_weights}"))
        code, shown = await shell.left()
    assert code == 0
    assert "Open it again: merito console" in shown
    approved(tmp_path / "m.sqlite")


async def test_the_tour_on_a_scripted_model(
    city: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    async with served() as server, Shell.opened(tmp_path, environment) as shell:
        await toured(shell, running(city, named(server)))
        code, shown = await shell.left()
    assert code == 0
    assert "Open it again: merito console" in shown
    approved(tmp_path / "m.sqlite")


@pytest.mark.model
@pytest.mark.timeout(600)
async def test_killing_the_models_process_within_a_call_is_told_and_the_run_goes_on(
    city: Path, small_weights: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    child = "core.models.embedded_server"
    async with Shell.opened(tmp_path, environment) as shell:
        await shell.start(*running(city, f"embedded:{small_weights}", "--limit", "1"))
        await shell.until("SELECT", MODEL_SECONDS)
        (model,) = shell.processes(child)
        model.suspend()  # This call, or if it had just ended the next one, now waits for its answer.
        await shell.until(re.compile("▶ .* writing"))
        model.kill()
        await shell.until("The embedded model's process ended (signal 9). It starts again with the")
        await shell.until(re.compile(r"1/1 .*finished"), MODEL_SECONDS)
        assert [each.pid for each in shell.processes(child)] != [model.pid]
        await shell.press("q")
        code, _ = await shell.left()
        assert not shell.processes(child)
    assert code == 0


async def test_told_to_end_within_a_call_it_says_how_to_go_on(
    city: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    async with served() as server, Shell.opened(tmp_path, environment) as shell:
        server.behaviours.append(Behaviour.FALLS_SILENT)
        await shell.start(*running(city, named(server)))
        await shell.until(re.compile("▶ first SQL .* writing"))
        await server.asked.wait()
        (program,) = shell.processes("tui.main run")
        program.terminate()
        code, shown = await shell.left()
    assert code == 130
    assert "Everything finished is kept. Go on with: merito run --resume" in shown
    assert "--store" in shown, "the run is not in the store that a shell finds unnamed"


BROKEN = """
import sys, tui.main
from tui.console.screens.run import RunScreen

def broken(self):
    raise RuntimeError("[/x] on purpose")

RunScreen.{method} = broken
tui.main.main(sys.argv[1:])
"""
"""The program with one method that raises."""


@pytest.mark.parametrize("method", ["action_follow", "refresh_view"])
async def test_an_exception_inside_leaves_one_line(
    method: str, city: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    launcher = tmp_path / "launcher.py"
    launcher.write_text(BROKEN.format(method=method), encoding="utf-8")
    async with served() as server, Shell.opened(tmp_path, environment) as shell:
        server.behaviours.append(Behaviour.FALLS_SILENT)
        words = running(city, named(server))
        await shell.start(words[0], str(launcher), *words[3:])
        if method == "action_follow":
            await shell.until(re.compile("▶ first SQL .* writing"))
            await shell.press("f")
        code, shown = await shell.left()
    assert code == 1
    assert "The console broke down; nothing that was finished is lost." in shown
    assert "on purpose" in logged(tmp_path)


def logged(home: Path) -> str:
    """What the program put into its log."""
    return "".join(file.read_text(encoding="utf-8") for file in home.rglob("merito.log"))
