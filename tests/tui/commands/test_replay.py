"""`merito replay`: stored runs and recorded files, told alike; recordings, pages, redaction; and
`merito demo --record`."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import MeritoError
from core.run.events import TokenDelta, to_json
from stores.recording import Recording
from stores.store import Store
from tests.core.redaction.test_redacting import MARKER, a_full_run
from tests.streams import run_events
from tests.tui.view.test_playback import numbered
from tui.demo import recording_of
from tui.main import run
from tui.replaying import means_file


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two runs, and a working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.sqlite"
    with Store.open(path, create=True) as opened:
        opened.append(run_events(3, run="run-0"))
        opened.append(run_events(8))
    monkeypatch.setenv("MERITO_STORE", str(path))
    return path


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What the command printed."""
    assert run(["replay", *words]) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_a_file_is_told_as_the_store_tells_the_run(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = told(capsys, "run-1", "--plain")
    printed = told(capsys, "run-1", "--json")
    told(capsys, "run-1", "--export", "r.jsonl")
    told(capsys, "run-1", "--export", "r.jsonl.gz")
    Path("printed.jsonl").write_text(printed)
    store.unlink()
    for file in ("r.jsonl", "r.jsonl.gz", "printed.jsonl"):
        assert told(capsys, file, "--plain") == plain
        assert told(capsys, file, "--json") == printed


def test_plain_ends_with_the_figures_as_a_run_does(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = told(capsys, "run-1", "--plain")
    assert plain.index("The run is over: finished.") < plain.index("Summary of run run-1")
    assert "right now:       83.3 % (5 of 6)" in plain


def test_json_is_the_stored_events_and_nothing_else(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(capsys, "run-1", "--json").splitlines()
    assert lines == [to_json(event).decode() for event in run_events(8)]


@pytest.mark.parametrize(("words", "wanted"), [(["run-0"], 3), (["last"], 8), (["run-1"], 8)])
def test_runs_are_named_as_everywhere(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str], wanted: int
) -> None:
    first = json.loads(told(capsys, *words, "--json").splitlines()[0])
    assert len(first["questions"]) == wanted


def test_what_is_written_is_said_in_words_and_in_json(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = len(run_events(8))
    out = told(capsys, "run-1", "--export", "r.jsonl", "--html", "p.html")
    assert out.splitlines() == [
        f"Wrote r.jsonl: a recording of run run-1, {count} events.",
        f"Wrote p.html: a page of run run-1, {count} events.",
    ]
    out = told(capsys, "run-1", "--export", "r.jsonl", "--html", "p.html", "--redact", "--json")
    written = [json.loads(line) for line in out.splitlines()]
    assert [each["kind"] for each in written] == ["recording", "page"]
    assert all(each["redacted"] and each["events"] == count for each in written)


def test_nothing_redacted_leaves_by_any_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    full = [event for event in a_full_run() if not isinstance(event, TokenDelta)]
    lines = b"\n".join(to_json(event) for event in numbered(full))
    Path("full.jsonl").write_bytes(lines)
    assert MARKER.encode() in lines
    for file in ("r.jsonl", "p.html"):
        option = "--html" if file.endswith("html") else "--export"
        told(capsys, "full.jsonl", option, file, "--redact")
        assert MARKER.casefold() not in Path(file).read_text().casefold()
    for face in ("--plain", "--json"):
        assert MARKER.casefold() not in told(capsys, "full.jsonl", face, "--redact").casefold()
    with Recording.open("r.jsonl") as recording:
        assert recording.heading.redacted
    page = told(capsys, "r.jsonl", "--html", "q.html")
    assert "redacted" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.jsonl"], "The recording nowhere.jsonl cannot be read: No such file"),
        (["some/where"], "The recording some/where cannot be read"),
        (["run-9"], "There is no run 'run-9'"),
        (["run-1", "--html", "none/p.html"], "none/p.html cannot be written: No such file"),
        (["run-1", "--export", "."], "cannot be written: Is a directory"),
        (["s.sqlite"], "s.sqlite is no recorded run"),
        (["run-1", "--store", "none.sqlite"], "There is no store at none.sqlite"),
    ],
)
def test_a_mistake_gets_one_clear_line(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(["replay", *words, "--plain"]) in (1, 2)
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert "Traceback" not in err


def test_a_mistake_in_a_file_is_named_with_its_line(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "run-1", "--export", "r.jsonl")
    lines = Path("r.jsonl").read_bytes().split(b"\n")
    lines[9] = b"{}"
    Path("r.jsonl").write_bytes(b"\n".join(lines))
    assert run(["replay", "r.jsonl", "--plain"]) == 1
    _, err = capsys.readouterr()
    assert "r.jsonl, line 10: this is no event" in err


def test_a_run_is_not_taken_for_a_file_nor_a_file_for_a_run(store: Path) -> None:
    assert means_file("s.sqlite")
    assert means_file("x.jsonl")
    assert means_file("a/b")
    assert not means_file("20261130-031801-41f1")
    assert not means_file("last")


class Begun:
    """What a run's session says of itself, as far as recording needs it."""

    def __init__(self, path: Path) -> None:
        self.run, self.store = "run-1", type("Held", (), {"path": path})


def test_a_demonstration_is_recorded_also_where_it_was_interrupted(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session: Any = Begun(store)
    with contextlib.suppress(KeyboardInterrupt), recording_of(Path("demo.jsonl.gz")) as began:
        began(session)
        raise KeyboardInterrupt
    assert "Play them again: merito replay demo.jsonl.gz" in capsys.readouterr().out
    assert "Question 8 of 8" in told(capsys, "demo.jsonl.gz", "--plain")


@pytest.mark.parametrize("path", ["none/demo.gz", "."])
def test_a_recording_that_cannot_be_written_is_refused_before_the_model_is_loaded(
    store: Path, path: str
) -> None:
    with pytest.raises(MeritoError, match="No recording can be written"), recording_of(Path(path)):
        raise AssertionError("nothing may begin")


def test_nothing_is_recorded_where_nothing_began(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording_of(Path("demo.gz")):
        pass
    with recording_of(None) as began:
        began(Begun(store))  # type: ignore[arg-type]
    assert not Path("demo.gz").exists()
    assert capsys.readouterr().out == ""
