"""Lines for a terminal are broken between words, and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.streams import run_events
from tui.main import run
from tui.view.plain import PlainView
from tui.view.wrapping import lines_for, say, wrapped

ID = "20261130-095745-845e"


class Screen(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@given(
    st.lists(st.text("ab-/\u4e2d", min_size=1, max_size=30), min_size=1, max_size=20),
    st.integers(10, 40),
    st.sampled_from(["", "  "]),
)
def test_every_word_stays_whole_and_no_line_of_several_is_too_wide(
    words: list[str], width: int, indent: str
) -> None:
    pieces = wrapped(indent + " ".join(words), width)
    assert " ".join(pieces).split() == words
    assert all(piece.startswith(indent) for piece in pieces)
    assert all(cell_len(piece) <= width or len(piece.split()) == 1 for piece in pieces)


def test_a_pipe_gets_the_line_as_it_is() -> None:
    line = "word " * 60
    assert lines_for(line, io.StringIO()) == [line]


def test_a_run_is_told_within_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    screen, pipe = Screen(), io.StringIO()
    for out in (screen, pipe):
        view = PlainView(out)
        for event in run_events(3):
            view.show(event)
        view.summary()
    assert max(map(len, pipe.getvalue().splitlines())) > 40
    assert screen.getvalue().split() == pipe.getvalue().split()
    too_wide = [line for line in screen.getvalue().splitlines() if cell_len(line) > 40]
    assert all(len(line.split()) == 1 for line in too_wide)


@pytest.mark.parametrize(("columns", "lines"), [("100", 1), ("80", 2)])
def test_a_command_is_never_broken(
    columns: str, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tui.view.wrapping.width_of", lambda _out: int(columns))
    say("Everything finished is kept. Go on with:", command=f"merito run --resume {ID}")
    told = capsys.readouterr().out.splitlines()
    assert len(told) == lines
    assert told[-1].endswith(f"merito run --resume {ID}")


def test_a_mistake_is_told_within_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    assert (
        run(["replay", "last", "--store", "a-folder-that/is-not-there/and-has-a-long-name.sqlite"]) == 2
    )
    lines = screen.getvalue().splitlines()
    assert "a-folder-that/is-not-there/and-has-a-long-name.sqlite" in screen.getvalue()
    assert all(len(line) <= 40 or len(line.split()) == 1 for line in lines)
