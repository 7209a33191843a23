"""`merito run --resume`: which run goes on, where nobody says which."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from core.repair.version import LOOP
from core.run.events import AnyEvent, RunEnded
from stores.store import Store
from tests.core.run.stage import RIGHT, wrapped
from tests.streams import run_events
from tests.tui.commands.test_bench import served, told
from tests.tui.experiments.harbour_study import questions_file
from tui.main import run

INTERRUPTED = "20260901-101500-aaaa"


def right(_messages: object, _sampling: object) -> str:
    return wrapped(RIGHT)


async def _left_in_the_middle(
    stream: Path, store: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run over the stream that has everything but its last question."""
    whole = store.with_name("whole.sqlite")
    words = ("--model", model, "--strategy", "none", "--plain", "--store", whole)
    code, _, err = await told(capsys, "run", stream, *words)
    assert (code, err) == (0, "")
    with Store.open(whole, mode="read") as opened:
        events = list(opened.events(opened.run("last").id))
    last = max(index for index, each in enumerate(events) if type(each).__name__ == "EpisodeStarted")
    _keep(store, events[:last], INTERRUPTED, at=100.0)


def _keep(store: Path, events: list[AnyEvent], name: str, at: float, **settings: object) -> None:
    """Store a run that begins at `at` seconds, under another name."""
    named = [msgspec.structs.replace(each, run=name, at=at) for each in events]
    begun = named[0]
    if settings:
        changed = msgspec.structs.replace(begun.settings, **settings)  # type: ignore[union-attr]
        named[0] = msgspec.structs.replace(begun, settings=changed)
    with Store.open(store, create=True) as opened:
        opened.append(named)


def _unfinished(count: int) -> list[AnyEvent]:
    return [each for each in run_events(count) if not isinstance(each, RunEnded)]


async def test_it_is_the_newest_unfinished_run_over_a_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What began later is finished, a question of `ask`, or a cell of an experiment."""
    stream, store = questions_file(tmp_path, 3), tmp_path / "s.sqlite"
    async with served(right) as (server, model):
        await _left_in_the_middle(stream, store, model, capsys)
        _keep(store, _unfinished(1), "20260902-101500-bbbb", 200.0, dataset="/x/shop.sqlite")
        _keep(store, _unfinished(2), "x0123abcd-merit-file-00ff", 300.0)
        _keep(store, run_events(2), "20260903-101500-cccc", 400.0)
        asked = len(server.chats)
        code, out, err = await told(capsys, "run", "--resume", "--plain", "--store", store)
        assert (code, err) == (0, "")
        assert len(server.chats) == asked + 1
        first, *rest = out.splitlines()
        assert (
            first == f"The run {INTERRUPTED} was left unfinished and goes on (2 of 3 questions done)."
        )
        assert any(line.startswith("Question 3 of 3") for line in rest)
        code, out, err = await told(capsys, "run", "--resume", "--plain", "--store", store)
    assert (code, out) == (2, "")
    assert err == (
        f"merito: No run over a stream was left unfinished in {store}. Start one: merito run STREAM.\n"
    )


async def test_in_json_it_is_said_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream, store = questions_file(tmp_path, 3), tmp_path / "s.sqlite"
    async with served(right) as (_, model):
        await _left_in_the_middle(stream, store, model, capsys)
        code, out, err = await told(capsys, "run", "--resume", "--json", "--store", store)
    assert code == 0
    assert out.startswith('{"event":"run_resumed"')
    assert err.startswith(f"The run {INTERRUPTED} was left unfinished")


@pytest.mark.parametrize(("loop", "began"), [(msgspec.UNSET, "an older Merito"), (1, "version 1")])
def test_a_run_does_not_go_on_with_other_rules_of_repair(
    loop: object, began: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "s.sqlite"
    _keep(store, _unfinished(2), INTERRUPTED, 100.0, loop=loop)
    assert run(["run", "--resume", "--plain", "--store", str(store)]) == 1
    assert capsys.readouterr().err == (
        f"merito: The run {INTERRUPTED} was begun with the repair loop of {began}; this is version"
        f" {LOOP}, so its figures would be of two programs. Begin a new run.\n"
    )


def test_a_run_does_not_go_on_with_other_prompts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "s.sqlite"
    begun, *rest = _unfinished(2)
    earlier = msgspec.structs.replace(begun, versions={"prompts": "0" * 12})  # type: ignore[call-arg]
    _keep(store, [earlier, *rest], INTERRUPTED, 100.0, loop=LOOP)
    assert run(["run", "--resume", "--plain", "--store", str(store)]) == 1
    assert capsys.readouterr().err == (
        f"merito: The prompts have changed since the run {INTERRUPTED} was begun, so its figures would"
        " be of two programs. Begin a new run.\n"
    )


def test_where_there_is_no_store_yet_one_line_says_how_to_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "--resume", "--plain", "--store", str(tmp_path / "none.sqlite")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
