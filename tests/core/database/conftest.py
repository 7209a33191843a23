"""Fixtures for tests that run SQL: a sandbox and a small shop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.database.sandbox import Sandbox
from tests.core.database import hostile


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Customers, orders, a view, an index and a trigger, alone in a folder."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return hostile.build(folder / "shop.sqlite")
