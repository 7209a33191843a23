"""A file is complete or not there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.whole_file import whole_file


def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old and longer")
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old and longer"
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.writelines([b"new", None])  # type: ignore[list-item]
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_permissions_are_those_of_any_file_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with whole_file(tmp_path / "f") as file:
        file.write(b"x")
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with whole_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_device_is_written_as_it_is() -> None:
    with whole_file(Path("/dev/null")) as file:
        file.write(b"x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("place", ["none/f", "."])
def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MeritoError, match="cannot be written"), whole_file(Path(place)):
        pass


def test_a_database_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE item (name)")
        for file in (path, tmp_path / "shop.sqlite-wal"):
            before = file.read_bytes()
            with (
                pytest.raises(MeritoError, match="is a database and would be lost"),
                whole_file(file) as written,
            ):
                written.write(b"x")
            assert file.read_bytes() == before
