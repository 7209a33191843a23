"""Settings: where a value comes from, and that one which makes no sense is named."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from core.errors import MeritoError
from tui import settings
from tui.options import SECONDS


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a user without settings of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "user_config", lambda: tmp_path / "user.toml")
    for setting in settings.SETTINGS:
        monkeypatch.delenv(f"MERITO_{setting.name.upper()}", raising=False)
    return tmp_path


def test_flags_come_before_variables_before_files(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings.resolve("budget") == settings.Value(7, "default")
    (nowhere / "user.toml").write_text("budget = 1")
    assert settings.value("budget") == 1
    (nowhere / "merito.toml").write_text("budget = 2")
    assert settings.resolve("budget") == settings.Value(2, "merito.toml")
    monkeypatch.setenv("MERITO_BUDGET", "3")
    assert settings.resolve("budget") == settings.Value(3, "$MERITO_BUDGET")
    assert settings.resolve("budget", 4) == settings.Value(4, "flag")


@pytest.mark.parametrize(
    "line",
    [
        "budget = 999",
        "budget = -1",
        "budget = 'many'",
        "budget = true",
        "deadline = -1",
        "deadline = nan",
        "deadline = inf",
        "strategy = 5",
        "model = ['a']",
    ],
)
def test_a_value_that_makes_no_sense_is_named_with_its_place(nowhere: Path, line: str) -> None:
    (nowhere / "merito.toml").write_text(line)
    name = line.partition(" ")[0]
    with pytest.raises(MeritoError, match=rf"merito\.toml: {name} = .* is not ") as wrong:
        settings.value(name)
    assert wrong.value.mend == settings.BY_NAME[name].about


@pytest.mark.parametrize("text", ["buget = 3", "budget = [", "\udcff"])
def test_a_file_that_makes_no_sense_is_named(nowhere: Path, text: str) -> None:
    (nowhere / "merito.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(MeritoError, match=r"merito\.toml"):
        settings.value("budget")


@pytest.mark.parametrize(("said", "code"), [("1.5", 0), ("nan", 2), ("inf", 2), ("-1", 2), ("x", 2)])
def test_seconds_are_real_and_in_range(said: str, code: int) -> None:
    @click.command()
    @click.option("--deadline", type=SECONDS)
    def command(deadline: float) -> None:
        click.echo(deadline)

    assert CliRunner().invoke(command, ["--deadline", said]).exit_code == code
