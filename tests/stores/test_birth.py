"""A new store begins empty, whatever an earlier one has left where it is made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stores.backups import restore
from stores.errors import StoreTrouble
from stores.opening import beside
from stores.store import Store
from tests.streams import run_events


@pytest.fixture
def orphan(path: Path, tmp_path: Path) -> Path:
    """The path of a store that was killed, and whose file alone was then moved away to what is
    returned; its log stayed."""
    killed = tmp_path / "killed"
    killed.mkdir()
    with Store.open(path, create=True) as store:
        store.append(run_events(3))
        for ending in ("", "-wal"):
            shutil.copy(beside(path, ending), killed)
    path.unlink()
    shutil.move(killed / f"{path.name}-wal", beside(path, "-wal"))
    return killed / path.name


def test_the_log_of_a_store_that_is_gone_is_no_part_of_a_new_one(path: Path, orphan: Path) -> None:
    log = beside(path, "-wal").read_bytes()
    with pytest.raises(StoreTrouble) as caught:
        Store.open(path, create=True)
    assert f"{path.name}-wal" in caught.value.problem
    assert str(path) in caught.value.problem
    assert "delete both" in caught.value.mend
    assert not path.exists()
    assert beside(path, "-wal").read_bytes() == log


def test_moved_to_its_store_the_log_is_whole_again(path: Path, orphan: Path) -> None:
    beside(path, "-wal").replace(beside(orphan, "-wal"))
    with Store.open(orphan) as store:
        assert list(store.events("run-1")) == run_events(3)
    with Store.open(path, create=True) as store:
        assert store.runs() == []


def test_empty_side_files_are_in_nobody_s_way(path: Path) -> None:
    beside(path, "-wal").touch()
    beside(path, "-shm").write_bytes(bytes(32_768))
    with Store.open(path, create=True) as store:
        assert store.runs() == []
        assert store.quick_check() == ()


def test_a_restored_backup_is_what_was_backed_up(path: Path, orphan: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.sqlite"
    with Store.open(tmp_path / "other.sqlite", create=True) as other:
        other.append(run_events(2, run="other"))
        other.backup(backup)
    assert restore(backup, path) is None
    with Store.open(path, mode="read") as store:
        assert [run.id for run in store.runs()] == ["other"]
        assert store.check() == ()
    assert [file.stat().st_size > 0 for file in path.parent.glob("*.replaced-*-wal")] == [True]
