"""A recorded run as one file: the same events back, little memory, one clear line for a bad file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.run.events import TokenDelta, to_json
from stores.recording import Recording, write
from stores.reel import StoredReel
from stores.store import Store
from tests.streams import HOSTILE, run_events, settings


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_what_was_written_is_read_back(tmp_path: Path, name: str) -> None:
    events = run_events(12, deltas=True, reflections=True)
    stored = [event for event in events if not isinstance(event, TokenDelta)]
    assert write(tmp_path / name, events) == len(stored)
    with Recording.open(tmp_path / name) as recording:
        assert recording.run == "run-1"
        assert len(recording) == len(stored)
        assert list(recording.events()) == stored
        assert recording.read(7, 9) == stored[7:9]
        assert recording.read(len(stored) - 1, len(stored) + 9) == stored[-1:]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write(tmp_path / name, run_events(3))
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_compressed_recording_is_much_smaller(tmp_path: Path) -> None:
    for name in ("a", "a.gz"):
        write(tmp_path / name, run_events(30))
    assert (tmp_path / "a.gz").stat().st_size < (tmp_path / "a").stat().st_size / 8


def test_lines_that_the_json_face_printed_can_be_played(tmp_path: Path) -> None:
    events = run_events(3)
    path = tmp_path / "printed.jsonl"
    path.write_bytes(b"\n".join(to_json(event) for event in events) + b"\n\n")
    with Recording.open(path) as recording:
        assert list(recording.events()) == events


def test_it_says_whether_it_was_redacted(tmp_path: Path) -> None:
    write(tmp_path / "r", run_events(1), redacted=True)
    with Recording.open(tmp_path / "r") as recording:
        assert recording.heading.redacted


def test_hostile_text_comes_back_as_it_was(tmp_path: Path) -> None:
    events = run_events(1, run_settings=settings(dataset=HOSTILE))
    write(tmp_path / "r", events)
    with Recording.open(tmp_path / "r") as recording:
        assert recording.opening == events[0]


def no_file(path: Path) -> None:
    pass


def a_folder(path: Path) -> None:
    path.mkdir()


def empty(path: Path) -> None:
    path.touch()


def something_else(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")


def another_json(path: Path) -> None:
    path.write_text('{"entry": {"id": 1}}\n')


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def cut_short(path: Path) -> None:
    write(path, run_events(3))
    path.write_bytes(path.read_bytes()[:-40])


def cut_short_and_folded(path: Path) -> None:
    whole = b"\n".join(to_json(event) for event in run_events(3))
    path.write_bytes(gzip.compress(whole)[:-40])


def folded_garbage(path: Path) -> None:
    path.write_bytes(b"\x1f\x8b\x08\x00" + b"\x77" * 400)


def newer(path: Path) -> None:
    write(path, run_events(1))
    heading, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(heading) | {"recording": 99}) + "\n" + rest)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (no_file, "cannot be read: No such file"),
        (a_folder, "cannot be read: Is a directory"),
        (empty, "is no recorded run"),
        (something_else, "is no recorded run"),
        (another_json, "is no recorded run"),
        (deep, "is no recorded run"),
        (cut_short, "is cut short"),
        (cut_short_and_folded, "cannot be unfolded"),
        (folded_garbage, "cannot be unfolded"),
        (newer, "has format 99; this Merito reads up to 1"),
    ],
)
def test_a_bad_file_gets_one_clear_line(
    tmp_path: Path, made: Callable[[Path], None], words: str
) -> None:
    path = tmp_path / "bad"
    made(path)
    with pytest.raises(MeritoError, match=words) as caught:
        Recording.open(path)
    assert str(path) in caught.value.problem


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{}", "line 5: this is no event"),
        (to_json(run_events(1)[0]), "line 5: event 4 of the run run-1 should stand here"),
        (to_json(run_events(1, run="other")[3]), "line 5: event 4 of the run run-1"),
    ],
)
def test_a_mistake_in_the_middle_is_named_with_its_line(
    tmp_path: Path, line: bytes, words: str
) -> None:
    path = tmp_path / "r"
    write(path, run_events(2))
    lines = path.read_bytes().split(b"\n")
    lines[4] = line
    path.write_bytes(b"\n".join(lines))
    with Recording.open(path) as recording, pytest.raises(MeritoError, match=words):
        list(recording.events())


def test_a_stored_run_is_read_by_place(tmp_path: Path) -> None:
    events = run_events(6)
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        store.append(run_events(2, run="run-0"))
        store.append(events[:-1])
        reel = StoredReel(store, "run-1")
        store.append(events[-1:])
        assert len(reel) == len(events) - 1
        assert list(reel.read(0, len(reel))) == events[:-1]
        assert list(reel.read(3, 5)) == events[3:5]
        assert list(reel.read(len(reel) - 1, 10**6)) == events[-2:-1]
