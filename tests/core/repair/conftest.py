"""What tests of hints and mends stand on."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.database.sandbox import Sandbox
from core.database.schema import Schema, read_schema


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file of the module's own TABLES."""
    path = tmp_path_factory.mktemp("repair") / "database.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(request.module.TABLES)
    connection.close()
    return path


@pytest.fixture(scope="module")
def schema(database: Path) -> Schema:
    return read_schema(database)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox() as opened:
        yield opened
