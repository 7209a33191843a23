"""`merito models` as it is typed."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.models import weights
from core.models.weights import files
from tests.core.models.index import CONTENT, WEIGHTS
from tests.core.models.server import FakeServer
from tests.scripted import ScriptedModel
from tui.main import run

NOBODY = "127.0.0.1:9"
Typed = tuple[int, str, str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models' folder of its own, no Ollama, and one small file that is known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MERITO_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("MERITO_OLLAMA_HOST", NOBODY)
    monkeypatch.delenv("MERITO_MODEL", raising=False)
    for module in (weights, files):
        monkeypatch.setattr(module, "KNOWN", [WEIGHTS])
    return tmp_path / "models"


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """An Ollama in a thread of its own: the command brings its own event loop."""
    server = FakeServer(ScriptedModel(lambda _messages, _sampling: "SELECT [/x] \x1b[31m name"))
    up, done = threading.Event(), threading.Event()

    async def serve() -> None:
        async with server.running():
            up.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    up.wait()
    monkeypatch.setenv("MERITO_OLLAMA_HOST", server.address)
    yield server
    done.set()
    thread.join()


@pytest.fixture
def merito(capsys: pytest.CaptureFixture[str]) -> Any:
    def typed(*words: str) -> Typed:
        code = run(["models", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return typed


def rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_list_tells_what_is_absent_here_damaged_and_verified(merito: Any, folder: Path) -> None:
    path = folder / WEIGHTS.file
    folder.mkdir()

    def state() -> str:
        (row,) = rows(merito("list", "--json")[1])
        assert (row["model"], row["size"], row["where"]) == ("embedded:tiny", WEIGHTS.size, str(path))
        return str(row["state"])

    assert state() == "absent"
    path.with_name(f"{WEIGHTS.file}.partial").write_bytes(b"")
    assert state() == "begun"
    path.write_bytes(CONTENT[:9])
    assert state() == "damaged: wrong size"
    path.write_bytes(CONTENT)
    assert state() == "here, not yet verified"
    weights.verify(WEIGHTS, path)
    assert state() == "verified"


def test_list_shows_ollamas_models_too(merito: Any, ollama: FakeServer) -> None:
    ollama.installed = {"qwen[/x]:7b": 4_700_000_000}
    code, out, _ = merito("list")
    assert code == 0
    assert "ollama:qwen[/x]:7b" in out
    assert rows(merito("list", "--json")[1])[-1] == {
        "model": "ollama:qwen[/x]:7b",
        "state": "installed",
        "size": 4_700_000_000,
        "where": ollama.address,
    }


def test_pull_from_a_path_tells_its_progress(merito: Any, tmp_path: Path, folder: Path) -> None:
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)
    code, out, err = merito("pull", "tiny", "--from", str(tmp_path))
    assert code == 0
    assert out == f"embedded:tiny is ready: {folder / WEIGHTS.file}\n"
    assert "copying" in err
    assert "100 %" in err


def test_pull_as_json_ends_with_the_result(merito: Any, tmp_path: Path, folder: Path) -> None:
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)
    code, out, _ = merito("pull", "embedded:tiny", "--from", str(tmp_path), "--json")
    *progress, result = rows(out)
    assert code == 0
    assert progress[0]["progress"].startswith("copying")
    assert result == {
        "model": "embedded:tiny",
        "state": "verified",
        "where": str(folder / WEIGHTS.file),
    }


def test_pull_has_ollama_fetch_a_model(merito: Any, ollama: FakeServer) -> None:
    ollama.pulls.append([{"status": "pulling x", "completed": 5, "total": 10}, {"status": "success"}])
    code, out, err = merito("pull", "ollama:qwen2.5-coder:7b")
    assert code == 0
    assert "ollama:qwen2.5-coder:7b is ready" in out
    assert "pulling x 50 %" in err


@pytest.mark.parametrize(
    ("words", "expected", "said"),
    [
        (("pull", "7b"), 2, "no known weights named '7b'"),
        (("pull", "tiny", "--from", "/nowhere"), 2, "There is no file /nowhere"),
        (("pull", "ollama:x"), 1, f"{NOBODY} cannot be reached"),
        (("check", "embedded:9b"), 2, "There is no file 9b"),
        (("check", "nonsense"), 2, "'nonsense' names no model"),
        (("check",), 1, "There is no model at hand"),
        (("check", "ollama:x"), 1, f"{NOBODY} cannot be reached"),
        (("check", "ollama:\x1b[31m"), 1, "cannot be reached"),
    ],
)
def test_bad_input_gives_one_clear_line(
    merito: Any, words: tuple[str, ...], expected: int, said: str
) -> None:
    code, out, err = merito(*words)
    assert code == expected
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()


def test_check_measures_one_answer(merito: Any, ollama: FakeServer) -> None:
    code, out, _ = merito("check", "--json")
    (result,) = rows(out)
    assert code == 0
    assert result["engine"] == "ollama"
    assert result["answer"] == "SELECT [/x] \x1b[31m name"
    assert result["output_tokens_per_second"] > 0
    assert "largest Qwen" in result["why"][0]
    assert [chat["options"]["num_predict"] for chat in ollama.chats] == [1, 96]


def test_check_in_words_shows_hostile_text_harmlessly(merito: Any, ollama: FakeServer) -> None:
    code, out, _ = merito("check", "ollama:qwen2.5-coder:7b")
    assert code == 0
    assert "it says: SELECT [/x] [31m name" in out
    assert "\x1b" not in out


@pytest.mark.model
@pytest.mark.slow
def test_check_runs_the_embedded_model(merito: Any, small_weights: Path) -> None:
    code, out, _ = merito("check", f"embedded:{small_weights}", "--json")
    (result,) = rows(out)
    assert code == 0
    assert "select" in result["answer"].lower()
    assert result["prompt_tokens_per_second"] > 0


def test_every_command_has_help_with_an_example(merito: Any) -> None:
    for words in ((), ("list",), ("pull",), ("check",)):
        code, out, _ = merito(*words, "--help")
        assert code == 0
        assert "merito models" in out.split("Example", 1)[1]


def test_a_bar_is_drawn_on_a_terminal_while_something_is_fetched_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)

    def drawn() -> str:
        screen = Screen()
        monkeypatch.setattr(sys, "stderr", screen)
        assert run(["models", "pull", "tiny", "--from", str(tmp_path)]) == 0
        return screen.getvalue()

    shown = drawn()
    assert "384.0/384.0 kB" in shown
    assert "/? bytes" not in shown
    assert drawn() == ""
