"""What a mistake is told as while another run holds the store: itself, not the lock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.store import Store
from tests.streams import run_events
from tests.tui.experiments.harbour_study import questions_file
from tui.main import run


@pytest.fixture(autouse=True)
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with questions, and a store that a run is recorded in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERITO_STORE", "s.sqlite")
    questions_file(tmp_path, 2)
    with Store.open("s.sqlite", create=True) as store:
        store.append(run_events(2))
        yield tmp_path


ASK = ("ask", "harbour/harbour.sqlite", "How many?")
RUN = ("run", "questions.jsonl")
NOBODY = "openai:http://127.0.0.1:9/v1#x"

MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "a model: ask": ((*ASK, "--model", "foo"), "'foo' names no model"),
    "a model: run": ((*RUN, "--model", "foo"), "'foo' names no model"),
    "a model: bench": (("bench", "repair", RUN[1], "--model", "foo"), "'foo' names no model"),
    "weights": ((*RUN, "--model", "embedded:gone.gguf"), "no file gone.gguf"),
    "an address": ((*RUN, "--model", "openai:nowhere"), "'nowhere' is not the address"),
    "templates": ((*RUN, "--model", NOBODY, "--prompts", "gone"), "gone"),
    "a strategy": ((*RUN, "--strategy", "mreit"), "'mreit'"),
    "a selector": ((*RUN, "--initial", "select", "--selector", "mpa"), "'mpa'"),
    "a stream": (("run", "gone.jsonl"), "gone.jsonl"),
    "a run": (("run", "--resume", "nope"), "There is no run 'nope'"),
    "a run that is finished": (("run", "--resume", "run-1"), "run-1 is finished"),
    "no run to go on with": (("run", "--resume"), "No run over a stream"),
    "a model: resume": (("run", "--resume", "run-1", "--model", "foo"), "'foo' names no model"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_though_the_store_is_in_use(
    mistake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, said = MISTAKES[mistake]
    assert run([*words, "--plain"] if "bench" not in words else [*words]) == 2, capsys.readouterr().err
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_what_is_sound_is_told_of_the_lock_and_of_the_way_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*RUN, "--model", NOBODY, "--plain"]) == 1
    err = capsys.readouterr().err
    assert "Another Merito is writing to" in err
    assert "Wait until it has ended, or name a store of your own: --store FILE." in err
