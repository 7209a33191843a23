"""Commands that are printed work as they stand: the program's path, the store, quotes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tui import settings
from tui.shell_words import program, typed


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, in a folder that the shell does not search, started from there."""
    path = tmp_path / "my env" / "merito"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("MERITO_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return path


def test_a_program_that_the_shell_does_not_find_is_called_by_its_path(started: Path) -> None:
    assert program() == f"'{started}'"


def test_one_that_it_finds_is_called_by_its_name(
    started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.devnull}:{started.parent}")
    assert program() == "merito"


def test_a_module_that_was_started_is_called_by_the_program_s_name(
    started: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/tui/main.py"])
    assert program() == "merito"


def test_a_store_is_named_unless_a_bare_shell_finds_it(
    started: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "my store.sqlite"
    default = settings.default_store()
    assert typed("replay", "r", store=default).endswith("replay r")
    assert typed("replay", "r", store=Path(own.name)).endswith(f"replay r --store '{own}'")
    monkeypatch.setenv("MERITO_STORE", str(own))
    assert typed("replay", "r", store=own).endswith(f"--store '{own}'")
    assert typed("replay", "r", store=default).endswith(f"--store {default}")
