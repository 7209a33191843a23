"""A small Spider folder with two test cases for its one database, and a sandbox to run in."""

from __future__ import annotations

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


@pytest.fixture
def folder(tmp_path: Path) -> DatabaseFolder:
    """database/shop/ with the named database and one more test case."""
    write_database(tmp_path / "database" / "shop" / "shop.sqlite", ITEMS)
    write_database(tmp_path / "database" / "shop" / "shop_v2.sqlite", MORE)
    return DatabaseFolder(tmp_path)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox with one worker, shared by a module's tests."""
    async with Sandbox() as running:
        yield running
