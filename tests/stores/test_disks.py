"""Full disks and folders that cannot be written to: one clear line, and nothing stored is lost."""

from __future__ import annotations

import multiprocessing
import resource
import shutil
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from core.errors import MeritoError
from stores.errors import StoreTrouble
from stores.store import Store
from tests.streams import batches, run_events


def fill(store: Store, runs: int = 400) -> tuple[int, StoreTrouble]:
    """Append whole runs until the disk refuses; how many batches were acknowledged, and the error."""
    acknowledged = 0
    for number in range(runs):
        for batch in batches(run_events(8, run=f"run-{number:03}")):
            try:
                store.append(batch)
            except StoreTrouble as trouble:
                return acknowledged, trouble
            acknowledged += 1
    pytest.fail("the disk never filled up")


def all_batches(store: Store) -> int:
    return sum(len(list(batches(list(store.events(run.id))))) for run in store.runs())


def test_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "merito.sqlite"
    with Store.open(path, create=True) as store:
        acknowledged, trouble = fill(store)
        assert trouble.problem.startswith(f"The store {path}: ")
        assert "space" in trouble.problem or "disk" in trouble.problem
        assert trouble.mend
        assert all_batches(store) == acknowledged
    with Store.open(path, mode="read") as store:
        assert all_batches(store) == acknowledged
        assert store.check() == ()
        assert store.quick_check() == ()


def test_a_store_grows_again_once_there_is_space(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(500_000))
    with Store.open(small_disk / "merito.sqlite", create=True) as store:
        acknowledged, _ = fill(store)
        ballast.unlink()
        store.append(run_events(8, run="after"))
        assert all_batches(store) == acknowledged + len(list(batches(run_events(8))))
        assert store.check() == ()


def test_no_space_for_a_new_store(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(1_000_000))
    path = small_disk / "merito.sqlite"
    with pytest.raises(StoreTrouble, match=r"cannot be created|space|disk") as caught:
        Store.open(path, create=True)
    assert str(path) in caught.value.problem
    assert caught.value.mend
    assert not path.exists()


@pytest.mark.slow
def test_no_space_for_a_backup_keeps_the_older_one(small_disk: Path, tmp_path: Path) -> None:
    target = small_disk / "backup.sqlite"
    with Store.open(tmp_path / "merito.sqlite", create=True) as store:
        store.append(run_events(8))
        store.backup(target)
        older = target.read_bytes()
        for number in range(60):
            store.append(run_events(8, run=f"run-{number + 2}"))
        with pytest.raises(StoreTrouble):
            store.backup(target)
    assert target.read_bytes() == older
    assert [file.name for file in small_disk.iterdir()] == [target.name]


def test_a_page_limit_of_sqlite_reads_as_a_full_disk(path: Path) -> None:
    with Store.open(path, create=True) as store:
        pages = store.database.execute("PRAGMA page_count").fetchone()[0]
        store.database.execute(f"PRAGMA max_page_count = {pages + 20}")
        acknowledged, trouble = fill(store)
        assert "no space is left for it" in trouble.problem
        assert all_batches(store) == acknowledged
        assert store.check() == ()


def _fill_with_limited_files(path: str, answer: Connection) -> None:
    """Runs in a child: no file may grow beyond 400 kB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    with Store.open(path, create=True) as store:
        acknowledged, trouble = fill(store)
        answer.send((acknowledged, str(trouble)))


def test_a_quota_on_files(path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    here, there = context.Pipe()
    child = context.Process(target=_fill_with_limited_files, args=(str(path), there))
    child.start()
    there.close()
    acknowledged, trouble = here.recv()
    child.join()
    assert child.exitcode == 0
    assert str(path) in trouble
    assert "\n" not in trouble
    with Store.open(path) as store:
        assert all_batches(store) == acknowledged > 0
        assert store.check() == ()


def test_a_store_in_a_read_only_folder_can_be_read(
    tmp_path: Path, make_read_only: Callable[[Path], None]
) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    path = folder / "merito.sqlite"
    with Store.open(path, create=True) as store:
        store.append(run_events(3))
    make_read_only(folder)
    with Store.open(path, mode="read") as store:
        assert list(store.events("run-1")) == run_events(3)
    with pytest.raises(StoreTrouble, match="cannot be written") as caught:
        Store.open(path)
    assert str(path) in str(caught.value)
    assert caught.value.mend


def test_no_store_is_made_in_a_read_only_folder(
    tmp_path: Path, make_read_only: Callable[[Path], None]
) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    make_read_only(folder)
    for path in (folder / "merito.sqlite", folder / "deeper" / "merito.sqlite"):
        with pytest.raises(MeritoError) as caught:
            Store.open(path, create=True)
        assert str(folder) in caught.value.problem
        assert caught.value.mend


def test_a_store_whose_work_waits_in_its_wal_reads_whole_after_a_copy(
    path: Path, tmp_path: Path
) -> None:
    with Store.open(path, create=True) as store:
        store.append(run_events(3))
        copy = tmp_path / "copy"
        copy.mkdir()
        for file in path.parent.glob("merito.sqlite*"):
            if not file.name.endswith((".lock", "-shm")):
                shutil.copy(file, copy)
    with Store.open(copy / path.name, mode="read") as store:
        assert list(store.events("run-1")) == run_events(3)
