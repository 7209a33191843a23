"""Bookmarks: kept with the user's data, shared by consoles, never written over what makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from core.errors import MeritoError
from tui import bookmarks
from tui.bookmarks import Bookmark, Bookmarks


def mark(place: int, name: str = "here") -> Bookmark:
    return Bookmark(place=place, name=name)


def test_they_are_there_again_in_the_order_of_their_places(tmp_path: Path) -> None:
    path = tmp_path / "data" / "bookmarks.json"
    Bookmarks(path).put("run-1", mark(40))
    Bookmarks(path).put("run-1", mark(7, "[/x] \x1b \u202e"))
    Bookmarks(path).put("../../etc", mark(1))
    assert Bookmarks(path).of("run-1") == (mark(7, "[/x] \x1b \u202e"), mark(40))
    assert Bookmarks(path).of("../../etc") == (mark(1),)
    assert Bookmarks(path).of("run-2") == ()


def test_one_place_has_one_name(tmp_path: Path) -> None:
    shelf = Bookmarks(tmp_path / "b.json")
    shelf.put("run-1", mark(7, "first"))
    assert shelf.put("run-1", mark(7, "second")) == (mark(7, "second"),)
    assert shelf.remove("run-1", 7) == ()
    assert shelf.remove("run-1", 7) == ()


def test_two_consoles_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    one, other = Bookmarks(path), Bookmarks(path)
    one.put("run-1", mark(1))
    other.put("run-1", mark(2))
    assert one.put("run-2", mark(3)) == (mark(3),)
    assert one.of("run-1") == (mark(1), mark(2))


def test_with_no_file_they_last_as_long_as_the_console() -> None:
    shelf = Bookmarks()
    shelf.put("run-1", mark(1))
    assert shelf.of("run-1") == (mark(1),)


def test_read_only_takes_none(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    Bookmarks(path).put("run-1", mark(1))
    shelf = Bookmarks(path, read_only=True)
    assert shelf.of("run-1") == (mark(1),)
    for change in (lambda: shelf.put("run-1", mark(2)), lambda: shelf.remove("run-1", 1)):
        with pytest.raises(MeritoError, match="read-only"):
            change()
    assert Bookmarks(path).of("run-1") == (mark(1),)


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"run-1": [{"place": "x"}]}', b"\xff\xfe", b"[" * 99_999]
)
def test_what_makes_no_sense_is_named_and_not_written_over(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(content)
    for use in (lambda: Bookmarks(path).of("run-1"), lambda: Bookmarks(path).put("run-1", mark(1))):
        with pytest.raises(MeritoError, match="make no sense"):
            use()
    assert path.read_bytes() == content


def test_a_console_that_holds_the_file_is_not_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bookmarks, "_PATIENCE", 0.01)
    path = tmp_path / "b.json"
    with FileLock(tmp_path / "b.json.lock"), pytest.raises(MeritoError, match="Another console"):
        Bookmarks(path).put("run-1", mark(1))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MeritoError, match="cannot be"):
        Bookmarks(tmp_path / "file" / "b.json").put("run-1", mark(1))
