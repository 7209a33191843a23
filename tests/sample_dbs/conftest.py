"""The sample databases as they are committed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

import sample_dbs
from sample_dbs.build import names

NAMES = names(sample_dbs.folder())


@pytest.fixture(scope="session")
def root() -> Path:
    return sample_dbs.folder()


@pytest.fixture(scope="session")
def questions(root: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((root / "dev.json").read_text(encoding="utf-8"))
    return records


@pytest.fixture(scope="session")
def spider_tables(root: Path) -> dict[str, dict[str, Any]]:
    records = json.loads((root / "tables.json").read_text(encoding="utf-8"))
    return {record["db_id"]: record for record in records}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def database(root: Path, name: str) -> Iterator[sqlite3.Connection]:
    """One committed database after the other, read-only."""
    path = root / "database" / name / f"{name}.sqlite"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        yield connection


@pytest.fixture
def open_sample(root: Path) -> Iterator[Callable[[str], sqlite3.Connection]]:
    """Opens a committed database by its name, read-only, until the test ends."""
    with ExitStack() as opened:

        def connect(name: str) -> sqlite3.Connection:
            path = root / "database" / name / f"{name}.sqlite"
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            return opened.enter_context(closing(connection))

        yield connect
