"""A small Spider folder with two test cases for its one database, and a sandbox to run in."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from core.database.files import DatabaseFolder
from core.database.sandbox import Sandbox

SHOP = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, kind TEXT);
CREATE TABLE empty_shelf (id INTEGER, name TEXT);
"""
ITEMS = [(1, "apple", 1.0, "fruit"), (2, "pear", 2.5, "fruit"), (3, "soap", 3.0, None)]
MORE = [*ITEMS, (4, "apple", 9.0, "toy")]


def write_database(path: Path, rows: list[tuple[int, str, float, str | None]]) -> None:
    """The shop with these items. One shelf holds a name that is not UTF-8."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP)
        connection.executemany("INSERT INTO item VALUES (?, ?, ?, ?)", rows)
        connection.execute("CREATE TABLE bad (name TEXT)")
        connection.execute("INSERT INTO bad VALUES (CAST(x'4a6fff73' AS TEXT))")
        connection.commit()


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """database/shop/ with the named database and one more test case, written once."""
    root = tmp_path_factory.mktemp("shop")
    write_database(root / "database" / "shop" / "shop.sqlite", ITEMS)
    write_database(root / "database" / "shop" / "shop_v2.sqlite", MORE)
    return root


@pytest.fixture
def folder(shop: Path, tmp_path: Path) -> DatabaseFolder:
    """A copy of the shop that a test may spoil."""
    shutil.copytree(shop, tmp_path, dirs_exist_ok=True)
    return DatabaseFolder(tmp_path)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox with one worker, shared by a module's tests."""
    async with Sandbox() as running:
        yield running
