"""`merito doctor`: what is wrong is told, once, with its mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.checkup import NOTE, OK, WRONG, Finding, findings
from tui.main import run


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a user without anything."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MERITO_OLLAMA_HOST", "127.0.0.1:9")
    return tmp_path


def named(what: str) -> Finding:
    return next(finding for finding in findings(None) if finding.what == what)


def test_a_broken_settings_file_is_told_once(nowhere: Path) -> None:
    (nowhere / "merito.toml").write_text("budget = [")
    found = [finding for finding in findings(None) if "merito.toml" in finding.found]
    assert [finding.state for finding in found] == [WRONG]
    assert found[0].mend


@pytest.mark.parametrize(
    ("setting", "mend"),
    [("strategy", "Did you mean 'merit'?"), ("theme", "There is no theme 'mreit'")],
)
def test_a_name_that_stands_for_nothing_is_wrong(nowhere: Path, setting: str, mend: str) -> None:
    (nowhere / "merito.toml").write_text(f'{setting} = "mreit"')
    finding = named(f"setting {setting}")
    assert finding.state == WRONG
    assert mend in finding.mend
    assert "merito.toml" in finding.found


def test_names_that_stand_for_something_are_not(nowhere: Path) -> None:
    (nowhere / "merito.toml").write_text('theme = "nord"\nstrategy = "merito"')
    assert named("setting theme").state == named("setting strategy").state == OK
    assert named("store").state == NOTE


@pytest.mark.parametrize("folder", ["file", "locked/deep"])
def test_a_log_that_cannot_be_written_is_told_and_stops_nothing(
    nowhere: Path, folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (nowhere / "file").write_text("")
    (nowhere / "locked").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(nowhere / folder))
    finding = named("log")
    assert finding.state == WRONG
    assert "merito.log cannot be written" in finding.found
    assert "XDG_STATE_HOME" in finding.mend

    def breaks(**_options: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("tui.main.cli.main", breaks)
    assert run(["doctor"]) == 1
    said = capsys.readouterr().err
    assert "RuntimeError: on purpose" in said
    assert "no log of the details" in said
    assert "Traceback" not in said


def test_an_encoder_that_is_nowhere_is_wrong_with_its_mend(nowhere: Path) -> None:
    (nowhere / "merito.toml").write_text('encoder = "nosuch"')
    finding = named("encoder")
    assert finding.state == WRONG
    assert "nosuch, from merito.toml" in finding.found
    assert "neither a folder nor among the models on this machine" in finding.mend
    (nowhere / "nosuch").mkdir()
    finding = named("encoder")
    assert finding.state == WRONG
    assert "a folder without an encoder" in finding.mend
    (nowhere / "nosuch" / "modules.json").write_text("[]")
    assert named("encoder") == Finding("encoder", "nosuch (a folder)")


@pytest.mark.parametrize(
    ("name", "folder"), [("mine", "models--sentence-transformers--mine"), ("me/e5", "models--me--e5")]
)
def test_an_encoder_of_the_local_cache_is_found_by_its_name(
    nowhere: Path, name: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(nowhere / "cache"))
    snapshot = nowhere / "cache" / folder / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("abc")
    monkeypatch.setenv("MERITO_ENCODER", name)
    assert named("encoder") == Finding("encoder", f"{name} (by name)")


def test_templates_that_are_not_there_are_wrong(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERITO_PROMPTS", str(nowhere / "gone"))
    finding = named("setting prompts")
    assert finding.state == WRONG
    assert "gone" in finding.mend
