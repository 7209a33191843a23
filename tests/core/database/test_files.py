"""Database files: what keeps one from being read, and where they are found."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.database import opening
from core.database.files import DatabaseFolder, check_database
from core.database.sandbox import Sandbox
from core.errors import MeritoError
from stores.schema import APPLICATION_ID


def trouble(path: Path) -> MeritoError:
    """What `check_database` says; it must name the file, in one line, with a way out."""
    with pytest.raises(MeritoError) as caught:
        check_database(path)
    error = caught.value
    assert str(path) in error.problem
    assert "\n" not in str(error)
    assert error.mend
    return error


def interrupt_a_write(path: Path) -> None:
    """Leave a hot journal: kill a process whose transaction has reached the file."""
    program = (
        "import os, signal, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('PRAGMA cache_spill = 1')\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.execute(\"UPDATE orders SET note = printf('%0500d', id)\")\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.with_name(path.name + "-journal").stat().st_size > 0


def test_a_good_database_passes(shop: Path) -> None:
    check_database(shop)


def test_missing(tmp_path: Path, shop: Path) -> None:
    assert "There is no database" in trouble(tmp_path / "gone.sqlite").problem
    assert "Did you mean shop.sqlite?" in trouble(shop.with_name("shup.sqlite")).mend
    assert "is missing too" in trouble(tmp_path / "no folder" / "gone.sqlite").mend


def test_a_folder(shop: Path) -> None:
    error = trouble(shop.parent)
    assert "is a folder" in error.problem
    assert "shop.sqlite" in error.mend


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_unreadable(shop: Path) -> None:
    shop.chmod(0)
    assert "Permission denied" in trouble(shop).problem


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_pipe_is_refused_at_once_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sqlite")
    assert "not a regular file" in trouble(tmp_path / "pipe.sqlite").problem


def test_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    path.touch()
    assert "0 bytes" in trouble(path).problem
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    assert "no tables" in trouble(path).problem


@pytest.mark.parametrize(
    "content",
    [b"x", b"SQLite format 3", pytest.param(os.urandom(5_000), id="noise"), b"id,name\n1,a\n"],
)
def test_not_sqlite(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    assert "is not an SQLite database" in trouble(path).problem


@pytest.mark.parametrize("kept", [16, 60, 100, 700])
def test_cut_off(shop: Path, kept: int) -> None:
    shop.write_bytes(shop.read_bytes()[:kept])
    trouble(shop)


def test_overwritten_in_the_middle(shop: Path) -> None:
    shop.write_bytes(shop.read_bytes()[:100] + b"\xff" * 8_000)
    assert "damaged" in trouble(shop).problem


@pytest.mark.slow
def test_locked(shop: Path) -> None:
    with closing(sqlite3.connect(shop, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "locked" in trouble(shop).problem


@pytest.mark.skipif(sys.platform == "win32", reason="kills with a POSIX signal")
async def test_a_hot_journal_is_refused_and_left_alone(shop: Path) -> None:
    interrupt_a_write(shop)
    before = {path.name: path.read_bytes() for path in shop.parent.iterdir()}
    assert "hot journal" in trouble(shop).problem
    async with Sandbox() as sandbox:
        with pytest.raises(MeritoError, match="hot journal"):
            await sandbox.execute(shop, "SELECT * FROM orders")
        assert {path.name: path.read_bytes() for path in shop.parent.iterdir()} == before
        with closing(sqlite3.connect(shop)) as owner:  # the way out that the message names
            owner.execute("PRAGMA quick_check").fetchall()
        execution = await sandbox.execute(shop, "SELECT note FROM orders LIMIT 1")
        assert execution.rows == (("order number 0",),)


def test_immutable_is_for_a_wal_file_without_its_log_alone(shop: Path) -> None:
    path = str(shop)
    assert not opening.opens_immutable(path, opening.read_header(path))
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO customers (name) VALUES ('x')")
        connection.commit()
        assert not opening.opens_immutable(path, opening.read_header(path)), "its log holds the truth"
        check_database(shop)
    assert opening.opens_immutable(path, opening.read_header(path))


# Folders of databases.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in (
        "plain/plain.sqlite",
        "database/spider/spider.sqlite",
        "database/spider/spider_variant.sqlite",
        "database/spider/notes.txt",
        "dev_databases/bird/bird.sqlite",
        "flat.sqlite",
        "other.db",
        "no_database/readme.txt",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def test_every_layout_is_found(folder: Path) -> None:
    databases = DatabaseFolder(folder)
    assert databases.names() == ("bird", "flat", "other", "plain", "spider")
    assert databases.path("plain") == folder / "plain/plain.sqlite"
    assert databases.path("spider") == folder / "database/spider/spider.sqlite"
    assert databases.path("bird") == folder / "dev_databases/bird/bird.sqlite"
    assert databases.path("flat") == folder / "flat.sqlite"
    assert databases.path("other") == folder / "other.db"


def test_test_cases_are_the_databases_beside_the_named_one(folder: Path) -> None:
    databases = DatabaseFolder(folder)
    beside = [path.name for path in databases.test_cases("spider")]
    assert beside == ["spider.sqlite", "spider_variant.sqlite"]
    assert databases.test_cases("flat") == (folder / "flat.sqlite",)


@pytest.mark.parametrize(
    "db_id", ["../root/flat", "plain/plain", "", ".", "..", "a\0b", "\\plain", "x" * 5_000]
)
def test_an_id_never_leads_out_of_the_folder(folder: Path, db_id: str) -> None:
    assert db_id not in DatabaseFolder(folder)
    with pytest.raises(MeritoError, match="There is no database"):
        DatabaseFolder(folder).path(db_id)


def test_an_unknown_id_names_the_nearest_databases(folder: Path) -> None:
    """Empty files, and Merito's own, bear such names too and are none."""
    with closing(sqlite3.connect(folder / "real.sqlite")) as connection:
        connection.execute("CREATE TABLE a (b)")
    with closing(sqlite3.connect(folder / "flat.sqlite")) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    assert DatabaseFolder(folder).others_than("spyder") == "There are: real."
    shutil.copy(folder / "real.sqlite", folder / "database/spider/spider.sqlite")
    with pytest.raises(MeritoError) as caught:
        DatabaseFolder(folder).path("spyder")
    assert "'spyder'" in caught.value.problem
    assert caught.value.mend == "Did you mean spider?"
    assert DatabaseFolder(folder).others_than("SPIDER") == "Did you mean spider?"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match="There is no folder"):
        DatabaseFolder(tmp_path / "gone")


@pytest.mark.data
def test_the_benchmarks_own_folders(data_folder: Path) -> None:
    assert "pets_1" in DatabaseFolder(data_folder / "spider")
    assert DatabaseFolder(data_folder / "bird").names() == ("superhero",)
    for name in DatabaseFolder(data_folder / "spider").names():
        check_database(DatabaseFolder(data_folder / "spider").path(name))


@pytest.mark.parametrize("db_id", ["x" * 300, "\u65e5" * 150, "\ud800" * 150])
def test_a_name_longer_than_any_file_is_that_of_no_database(folder: Path, db_id: str) -> None:
    assert db_id not in DatabaseFolder(folder)
