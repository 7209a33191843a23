"""The table of exit codes, held by every command: 0 done, 1 finished with failures, 2 usage, 130
interrupted. Usage is whatever cannot be meant: an option, a name, a path, a setting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.core.run.stage import harbour
from tests.streams import run_events
from tui.main import cli, run

NOBODY = "http://127.0.0.1:9/v1"


def leaves(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command that does something, as its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*words, name))
        else:
            yield (*words, name)


COMMANDS = list(leaves(cli))


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database, questions, a store and some files that are none of these."""
    from stores.store import Store

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("MERITO_OLLAMA_HOST", "127.0.0.1:9")
    harbour(tmp_path)
    Path("q.jsonl").write_text('{"database": "harbour", "question": "How many?"}', "utf-8")
    Path("broken.jsonl").write_text("{", "utf-8")
    Path("nothing").mkdir()
    with Store.open("s.sqlite", create=True) as store:
        store.append(run_events(4))
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and standard error of one command."""
    capsys.readouterr()
    code = run(list(words))
    return code, capsys.readouterr().err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_calls_an_unknown_option_usage(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = told(capsys, (*words, "--nonsense"))
    assert code == 2
    assert "--nonsense" in err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    assert "xample" in capsys.readouterr().out


STORE = ("--store", "s.sqlite")
MISSING = ("--store", "gone.sqlite")

USAGE: dict[str, tuple[str, ...]] = {
    "no such command": ("nonsense",),
    "a store that is not there: memory": ("memory", "list", *MISSING),
    "a store that is not there: audit": ("memory", "audit", "run-1", *MISSING),
    "a store that is not there: replay": ("replay", "run-1", "--plain", *MISSING),
    "a store that is not there: report": ("report", "run-1", *MISSING),
    "a store that is a folder": ("memory", "list", "--store", "nothing"),
    "a run that is not there: replay": ("replay", "gone", "--plain", *STORE),
    "a run that is not there: report": ("report", "gone", *STORE),
    "a run that is not there: resume": ("run", "q.jsonl", "--resume", "gone", *STORE),
    "a run that is not there: memory": ("memory", "list", "--run", "gone", *STORE),
    "a run that is finished: resume": ("run", "q.jsonl", "--resume", "run-1", *STORE),
    "an experiment that is not there": ("report", "--experiment", "x0", *STORE),
    "a memory that is not there: show": ("memory", "show", "gone", *STORE),
    "a memory that is not there: approve": ("memory", "approve", "gone", *STORE),
    "a strategy that is none: run": ("run", "q.jsonl", "--strategy", "mreit"),
    "a strategy that is none: ask": ("ask", "harbour/harbour.sqlite", "How?", "--strategy", "mreit"),
    "a strategy that is none: bench": ("bench", "repair", "q.jsonl", "--strategies", "mreit"),
    "a strategy that is none: search": (
        "memory", "search", "--question", "x", "--strategy", "mreit", *STORE,
    ),
    "a strategy without a name": ("run", "q.jsonl", "--strategy", ""),
    "a strategy without a memory": (
        "memory", "search", "--question", "x", "--strategy", "iterative", *STORE,
    ),
    "a model that is none: run": ("run", "q.jsonl", "--model", "gpt"),
    "a model that is none: ask": ("ask", "harbour/harbour.sqlite", "How?", "--model", "gpt"),
    "a model that is none: check": ("models", "check", "gpt"),
    "a model without a name": ("models", "check", ""),
    "a model of blanks": ("models", "check", "  "),
    "weights that are none": ("models", "pull", "9b"),
    "weights that are not there": ("models", "check", "embedded:gone.gguf"),
    "an address that is none": ("models", "check", "openai:nowhere"),
    "a file that is not there: run": ("run", "gone.jsonl"),
    "a file that is not there: bench": ("bench", "repair", "gone.jsonl"),
    "a file that is not there: eval": (
        "eval", "--dataset", "spider", "--root", ".", "--gold", "gone", "--pred", "gone",
    ),
    "a file that is not there: import": ("memory", "import", "gone.jsonl", *STORE),
    "a file that is not there: specs": ("specs", "import", "gone.jsonl", *STORE),
    "a file that is not there: labels": ("report", "run-1", "--labels", "gone.csv", *STORE),
    "a folder without questions": ("run", "nothing"),
    "a folder that is not there": ("run", "q.jsonl", "--root", "gone"),
    "a database that is not there: ask": ("ask", "gone.sqlite", "How many?"),
    "a database that is not there: sql": ("sql", "gone.sqlite", "SELECT 1"),
    "a database that is not there: root": ("ask", "gone", "How many?", "--root", "."),
    "a question of nothing": ("ask", "harbour/harbour.sqlite", "  "),
    "a number out of its range": ("run", "q.jsonl", "--budget", "-1"),
    "a word for a number": ("run", "q.jsonl", "--limit", "some"),
    "prompts that are not there": (
        "run", "q.jsonl", "--prompts", "gone", "--model", f"openai:{NOBODY}#x",
    ),
    "gold that is not there": ("run", "q.jsonl", "--regime", "denotation"),
    "standard input for every cell": ("bench", "repair", "-", "--root", "."),
}  # fmt: skip
"""What cannot be meant: nothing is begun."""

FAILURES: dict[str, tuple[str, ...]] = {
    "a statement that fails": ("sql", "harbour/harbour.sqlite", "SELECT nothing"),
    "a file that is no store": ("memory", "list", "--store", "q.jsonl"),
    "a file that is no database": ("sql", "q.jsonl", "SELECT 1"),
    "a file with a broken record": ("run", "broken.jsonl"),
    "no model at hand": ("run", "q.jsonl"),
    "a server that is not there": ("models", "check", f"openai:{NOBODY}#x"),
}
"""What was begun, or could have been, and did not come out well."""


@pytest.mark.parametrize("mistake", USAGE)
def test_what_cannot_be_meant_is_usage(mistake: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, err = told(capsys, USAGE[mistake])
    assert code == 2, err
    assert err.strip()
    assert "Traceback" not in err


@pytest.mark.parametrize("failure", FAILURES)
def test_what_fails_is_no_usage(failure: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, err = told(capsys, FAILURES[failure])
    assert code == 1, err
    assert "Traceback" not in err


@pytest.mark.parametrize("settings", ['strategy = "mreit"', "budget = 99", "nonsense = 1", "budget ="])
def test_a_setting_that_makes_no_sense_is_usage(
    settings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("merito.toml").write_text(settings, "utf-8")
    code, err = told(capsys, ("run", "q.jsonl", "--model", f"openai:{NOBODY}#x"))
    assert code == 2, err
    assert len(err.strip().splitlines()) == 1
