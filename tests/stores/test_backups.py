"""Migrations, backups and the way back: all or nothing, and checked before anything is replaced."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import MeritoError
from stores import schema
from stores.backups import restore
from stores.errors import StoreConflict, StoreInUse, StoreTrouble
from stores.store import Store
from tests.streams import run_events

Step = Callable[[Any], None]


def add_column(db: Any) -> None:
    """An artificial version 2."""
    db.execute("ALTER TABLE meta ADD COLUMN note TEXT")


def change_everything_and_fail(error: Exception) -> Step:
    def step(db: Any) -> None:
        db.execute("ALTER TABLE meta ADD COLUMN note TEXT")
        db.execute("DELETE FROM events")
        db.execute("DROP TABLE predictions")
        raise error

    return step


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets this program know further versions."""

    def know(*steps: Step) -> None:
        monkeypatch.setattr(schema, "MIGRATIONS", (schema.create_tables, *steps))

    return know


@pytest.fixture
def old(path: Path) -> Path:
    """A store of version 1 with a run in it."""
    with Store.open(path, create=True) as store:
        store.append(run_events(4))
    return path


def version_of(path: Path) -> int:
    conn = sqlite3.connect(path)
    try:
        return int(conn.execute("PRAGMA user_version").fetchone()[0])
    finally:
        conn.close()


def test_an_older_store_is_brought_up_to_date_after_a_backup(
    old: Path, newer: Callable[..., None]
) -> None:
    newer(add_column)
    with Store.open(old) as store:
        assert store.database["meta"].columns_dict.keys() == {"key", "value", "note"}
        assert list(store.events("run-1")) == run_events(4)
        assert store.check() == ()
    assert version_of(old) == 2
    backup = old.with_name(old.name + ".v1.backup")
    assert version_of(backup) == 1
    conn = sqlite3.connect(backup)
    assert conn.execute("SELECT count(*) FROM events").fetchone()[0] == len(run_events(4))
    conn.close()


def test_several_versions_are_climbed_in_one_step(old: Path, newer: Callable[..., None]) -> None:
    newer(add_column, lambda db: db.execute("ALTER TABLE meta ADD COLUMN further TEXT"))
    with Store.open(old) as store:
        assert "further" in store.database["meta"].columns_dict
    assert version_of(old) == 3


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("a defect"),
        StoreConflict("a contradiction"),
        sqlite3.OperationalError("no such table"),
    ],
)
def test_a_migration_that_fails_changes_nothing(
    old: Path, newer: Callable[..., None], error: Exception
) -> None:
    before = old.read_bytes()
    newer(change_everything_and_fail(error))
    with pytest.raises(StoreTrouble, match="could not be brought from version 1 to 2") as caught:
        Store.open(old)
    assert str(old) in caught.value.problem
    assert ".v1.backup" in caught.value.mend
    assert version_of(old) == 1
    assert old.read_bytes() == before
    newer()
    with Store.open(old) as store:
        assert list(store.events("run-1")) == run_events(4)
        assert store.check() == ()


def test_a_reader_does_not_migrate(old: Path, newer: Callable[..., None]) -> None:
    before = old.read_bytes()
    newer(add_column)
    with pytest.raises(StoreTrouble, match="has version 1, this Merito reads 2"):
        Store.open(old, mode="read")
    assert old.read_bytes() == before


def test_a_migrated_store_is_newer_for_the_older_program(old: Path, newer: Callable[..., None]) -> None:
    newer(add_column)
    Store.open(old).close()
    newer()
    with pytest.raises(StoreTrouble, match="has version 2; this Merito reads up to 1"):
        Store.open(old)


def test_projections_are_computed_anew_by_a_migration(old: Path, newer: Callable[..., None]) -> None:
    newer(lambda db: db.execute("UPDATE episodes SET note = 'of the old form'"))
    with Store.open(old) as store:
        assert store.check() == ()


def test_projections_that_do_not_fit_are_found_and_mended(store: Store) -> None:
    store.append(run_events(4))
    store.database.execute("UPDATE attempts SET status = 'CORRECT' WHERE position = 2 AND attempt = 3")
    store.database.execute("DELETE FROM retrieved")
    found = store.check()
    assert any(line.startswith("attempts: run=run-1 position=2 attempt=3") for line in found)
    assert any(line.startswith("retrieved: ") and line.endswith("missing or wrong") for line in found)
    store.rebuild()
    assert store.check() == ()


def test_a_gap_in_the_events_is_found(store: Store) -> None:
    store.append(run_events(4))
    store.database.execute("DELETE FROM events WHERE seq = 9")
    assert any(line.startswith("events: run 'run-1'") for line in store.check())


def test_an_event_that_cannot_be_read_is_named(store: Store) -> None:
    store.append(run_events(4))
    store.database.execute('UPDATE events SET body = \'{"event":"gone"}\' WHERE seq = 9')
    with pytest.raises(StoreTrouble, match="damaged"):
        list(store.events("run-1"))
    assert store.check()[0].startswith("events: ")


def test_events_that_contradict_one_another_are_found(store: Store) -> None:
    store.append(run_events(4))
    store.database.execute("DELETE FROM events WHERE seq = 1")
    assert store.check() == ("events: The run run-1 was never started, so nothing can be added to it.",)


def test_a_backup_is_a_whole_store(old: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "backup.sqlite"
    target.parent.mkdir()
    with Store.open(old) as store:
        assert store.backup(target) == target
        store.append(run_events(1, run="later"))
    assert [file.name for file in target.parent.iterdir()] == [target.name]
    with Store.open(target) as copy:
        assert [run.id for run in copy.runs()] == ["run-1"]
        assert list(copy.events("run-1")) == run_events(4)
        assert copy.check() == ()


def test_a_backup_replaces_an_older_one(old: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.sqlite"
    with Store.open(old) as store:
        store.backup(target)
        store.append(run_events(1, run="later"))
        store.backup(target)
    with Store.open(target, mode="read") as copy:
        assert len(copy.runs()) == 2


def test_a_backup_never_goes_over_the_store_or_a_store_in_use(old: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with Store.open(old) as store, Store.open(other, create=True) as busy:
        busy.append(run_events(1, run="busy"))
        with pytest.raises(StoreTrouble, match="is the store itself"):
            store.backup(old)
        with pytest.raises(StoreTrouble, match="work in progress"):
            store.backup(other)
        with pytest.raises(StoreTrouble, match=r"The backup .* cannot be opened"):
            store.backup(tmp_path / "no" / "such" / "folder.sqlite")
        assert list(busy.events("busy")) == run_events(1, run="busy")


def test_a_reader_can_make_a_backup_while_another_writes(old: Path, tmp_path: Path) -> None:
    with Store.open(old) as writer, Store.open(old, mode="read") as reader:
        writer.append(run_events(1, run="later"))
        reader.backup(tmp_path / "backup.sqlite")
    with Store.open(tmp_path / "backup.sqlite", mode="read") as copy:
        assert len(copy.runs()) == 2


def test_a_damaged_store_makes_no_backup(old: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.sqlite"
    with Store.open(old) as store:
        store.backup(target)
    sound = target.read_bytes()
    broken = bytearray(old.read_bytes())
    pages = [at for at in range(4096, len(broken), 4096) if broken[at] == 10]
    for page in pages[-3:]:
        broken[page + 8 : page + 60] = b"\xff" * 52
    old.write_bytes(bytes(broken))
    with Store.open(old, mode="read") as store:
        assert store.quick_check()
        with pytest.raises(StoreTrouble, match="damaged"):
            store.backup(target)
    assert target.read_bytes() == sound


def test_a_restored_backup_takes_the_store_s_place(old: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.sqlite"
    with Store.open(old) as store:
        store.backup(backup)
        store.append(run_events(1, run="later"))
    kept = restore(backup, old)
    with Store.open(old) as store:
        assert [run.id for run in store.runs()] == ["run-1"]
        store.append(run_events(1, run="after"))
    assert kept is not None
    with Store.open(kept, mode="read") as replaced:
        assert {run.id for run in replaced.runs()} == {"run-1", "later"}


def test_a_backup_replaces_a_damaged_store(old: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.sqlite"
    with Store.open(old) as store:
        store.backup(backup)
    old.write_bytes(b"rubbish")
    kept = restore(backup, old)
    assert kept is not None
    assert kept.read_bytes() == b"rubbish"
    with Store.open(old) as store:
        assert store.check() == ()


def test_a_backup_starts_a_store_where_there_is_none(old: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh" / "merito.sqlite"
    fresh.parent.mkdir()
    assert restore(old, fresh) is None
    with Store.open(fresh) as store:
        assert list(store.events("run-1")) == run_events(4)


def test_a_newer_program_s_backup_is_not_restored(
    old: Path, tmp_path: Path, newer: Callable[..., None]
) -> None:
    backup = tmp_path / "backup.sqlite"
    newer(add_column)
    with Store.open(backup, create=True) as store:
        store.append(run_events(1, run="newer"))
    newer()
    before = old.read_bytes()
    with pytest.raises(StoreTrouble, match="has version 2; this Merito reads up to 1"):
        restore(backup, old)
    assert old.read_bytes() == before


def test_nothing_is_restored_over_a_store_in_use_or_from_rubbish(old: Path, tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.sqlite"
    rubbish.write_bytes(old.read_bytes()[:5000])
    before = old.read_bytes()
    with pytest.raises(MeritoError):
        restore(rubbish, old)
    assert old.read_bytes() == before
    backup = tmp_path / "backup.sqlite"
    with Store.open(old) as store:
        store.backup(backup)
        with pytest.raises(StoreInUse):
            restore(backup, old)
        assert list(store.events("run-1")) == run_events(4)
