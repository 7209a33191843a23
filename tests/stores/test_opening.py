"""A store is looked at before it is touched, and what is wrong with it is said in one line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import MeritoError
from stores.errors import StoreInUse, StoreTrouble
from stores.schema import APPLICATION_ID
from stores.store import Store
from tests.streams import run_events


def content(folder: Path) -> dict[str, bytes]:
    """What the folder holds, apart from locks and shared memory."""
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if not file.name.endswith((".lock", "-shm")) and file.stat().st_size
    }


def one_line(error: MeritoError) -> str:
    assert "\n" not in str(error)
    assert error.mend, "says what to do next"
    return str(error)


def test_a_new_store_is_empty_and_whole(path: Path) -> None:
    with Store.open(path, create=True) as store:
        assert not store.read_only
        assert store.runs() == []
        assert store.entries() == []
        assert store.check() == ()
        assert store.quick_check() == ()
    assert set(content(path.parent)) == {path.name}


def test_its_durability_is_what_was_promised(path: Path) -> None:
    with Store.open(path, create=True) as store:
        pragmas = {
            name: store.database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                "journal_mode",
                "synchronous",
                "foreign_keys",
                "application_id",
                "user_version",
            )
        }
        strict = store.database.execute("PRAGMA table_list").fetchall()
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "application_id": APPLICATION_ID,
        "user_version": 1,
    }
    ours = [row for row in strict if row[2] == "table" and not row[1].startswith("sqlite_")]
    assert ours
    assert all(row[5] == 1 for row in ours), "every table is STRICT"


def test_the_folder_is_made_with_the_store(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "store.sqlite"
    Store.open(path, create=True).close()
    assert path.exists()


def test_a_typo_creates_nothing(tmp_path: Path) -> None:
    for mode in ("write", "read", "prefer-write"):
        with pytest.raises(StoreTrouble, match="There is no store at") as caught:
            Store.open(tmp_path / "typo" / "merito.sqlite", mode=mode)
        one_line(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_create_never_replaces(path: Path) -> None:
    Store.create(path).close()
    before = content(path.parent)
    with pytest.raises(StoreTrouble, match="exists already"):
        Store.create(path)
    assert content(path.parent) == before


def test_opening_with_create_keeps_what_is_there(path: Path) -> None:
    with Store.open(path, create=True) as store:
        store.append(run_events(2))
    with Store.open(path, create=True) as store:
        assert [run.id for run in store.runs()] == ["run-1"]


def test_closing_twice_does_nothing(path: Path) -> None:
    store = Store.open(path, create=True)
    store.close()
    store.close()


def test_one_writer_at_a_time(path: Path) -> None:
    with Store.open(path, create=True) as writer:
        with pytest.raises(StoreInUse, match="Another Merito is writing to") as caught:
            Store.open(path)
        assert str(path) in one_line(caught.value)
        with Store.open(path, mode="prefer-write") as second:
            assert not second.records_runs
            assert "Another Merito is writing" in second.notice
            writer.append(run_events(2))
            assert [run.id for run in second.runs()] == ["run-1"]
            with pytest.raises(StoreTrouble, match="open for reviewing, not for recording runs"):
                second.append(run_events(2, run="run-2"))
    with Store.open(path, mode="prefer-write") as alone:
        assert alone.records_runs
        assert alone.notice == ""


def test_a_reader_changes_nothing(path: Path) -> None:
    with Store.open(path, create=True) as store:
        store.append(run_events(2))
    before = content(path.parent)
    with Store.open(path, mode="read") as reader:
        assert list(reader.events("run-1")) == run_events(2)
        with pytest.raises(StoreTrouble, match="read-only"):
            reader.rebuild()
        with pytest.raises(sqlite3.OperationalError):
            reader.database.conn.execute("DELETE FROM events")
    assert content(path.parent) == before


@pytest.mark.parametrize("mode", ["write", "read", "prefer-write"])
@pytest.mark.parametrize("waiting", [False, True], ids=["checkpointed", "with work in its WAL"])
def test_a_newer_store_is_refused_untouched(path: Path, mode: str, waiting: bool) -> None:
    with Store.open(path, create=True) as store:
        store.append(run_events(2))
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA user_version = 99")
    if not waiting:
        conn.close()
    before = content(path.parent)
    with pytest.raises(StoreTrouble, match="has version 99; this Merito reads up to 1") as caught:
        Store.open(path, mode=mode)  # type: ignore[arg-type]
    assert str(path) in one_line(caught.value)
    assert content(path.parent) == before
    conn.close()


GARBAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _whole: b"",
    "text": lambda _whole: b"This is not a database. " * 500,
    "zeros": lambda whole: bytes(len(whole)),
    "a short beginning": lambda whole: whole[:60],
    "cut in a page": lambda whole: whole[: len(whole) // 2 + 17],
    "cut after the first page": lambda whole: whole[:4096],
    "random bytes after the header": lambda whole: (
        whole[:100] + bytes(i * 7 % 251 for i in range(len(whole)))
    ),
}


@pytest.mark.parametrize("mode", ["write", "read"])
@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("create", [False, True])
def test_garbage_is_refused_untouched(path: Path, kind: str, mode: str, create: bool) -> None:
    with Store.open(path, create=True) as store:
        store.append(run_events(8))
    path.write_bytes(GARBAGE[kind](path.read_bytes()))
    before = content(path.parent)
    with pytest.raises(StoreTrouble) as caught:
        Store.open(path, mode=mode, create=create)  # type: ignore[arg-type]
    assert str(path) in one_line(caught.value)
    assert ("cut short" in caught.value.problem) == kind.startswith("cut")
    assert content(path.parent) == before


def test_a_damaged_page_is_named_and_not_written_over(path: Path) -> None:
    with Store.open(path, create=True) as store:
        store.append(run_events(8))
    whole = bytearray(path.read_bytes())
    pages = [start for start in range(0, len(whole), 4096) if whole[start] == 13]
    events = [start for start in pages if b'"event":"run_started"' in whole[start : start + 4096]]
    assert events, "the page of the table of events that holds the first one"
    for start in events:
        whole[start : start + 200] = b"\xa5" * 200
    path.write_bytes(bytes(whole))
    with Store.open(path, mode="read") as store:
        assert store.quick_check()
        with pytest.raises(StoreTrouble, match="damaged") as caught:
            list(store.events("run-1"))
        assert str(path) in one_line(caught.value)
    assert path.read_bytes() == bytes(whole)


def test_another_program_s_database_is_no_store(path: Path) -> None:
    conn = sqlite3.connect(path)
    conn.execute("CREATE TABLE notes (text)")
    conn.close()
    before = content(path.parent)
    with pytest.raises(StoreTrouble, match="no Merito store"):
        Store.open(path)
    assert content(path.parent) == before


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreTrouble, match="is a folder"):
        Store.open(tmp_path)


def test_a_path_through_a_file_is_refused(path: Path) -> None:
    path.write_text("a file")
    with pytest.raises(StoreTrouble) as caught:
        Store.open(path / "store.sqlite", create=True)
    one_line(caught.value)


def test_odd_names_are_only_names(tmp_path: Path) -> None:
    path = tmp_path / "100% [x]?mode=memory#é .sqlite"
    with Store.open(path, create=True) as store:
        store.append(run_events(1))
    assert path.exists()
    with Store.open(path, mode="read") as store:
        assert len(store.runs()) == 1
