"""The Memory screen against its bars: filters answer at once, also in a large library.

Each figure is printed with what it was measured on: `pytest -m bench -s tests/bench/test_library.py`.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from stores.store import Store
from tests.bench.test_console import told
from tests.streams import memory_entry
from tests.tui.console.stage import settled, until
from tui.console.app import MeritoApp
from tui.console.stored_library import StoreLibrary
from tui.console.widgets.shelf import FILTERS, Shelf

pytestmark = [pytest.mark.bench, pytest.mark.slow, pytest.mark.timeout(300)]

MEMORIES = 10_000


def filled(path: Path) -> Store:
    store = Store.open(path, create=True, durability="OFF")
    one = [memory_entry(place, confirmed=place % 3 > 0, failure=place) for place in range(MEMORIES)]
    store.keep([msgspec.structs.replace(e, id=f"m-{i:012x}") for i, e in enumerate(one)], at=1.0)
    return store


async def test_filters_answer_below_100_ms_at_10_000(tmp_path: Path) -> None:
    with filled(tmp_path / "store.sqlite") as store:
        app = MeritoApp(library=StoreLibrary(store), room="memory")
        async with app.run_test(size=(120, 40)) as pilot:
            began = time.perf_counter()
            await until(pilot, lambda: app.screen.query_one(Shelf).row_count == MEMORIES, seconds=60)
            listed = time.perf_counter() - began
            shelf = app.screen.query_one(Shelf)
            await until(pilot, lambda: shelf.groups, seconds=120)
            grouped = time.perf_counter() - began
            await settled(pilot)
            worst = 0.0
            for each in FILTERS.values():
                began = time.perf_counter()
                shelf.cycle(each)
                worst = max(worst, time.perf_counter() - began)
            shelf.clear()
            began = time.perf_counter()
            hits = await app.screen.library.matching("stops")
            shelf.search("stops", hits)
            words = time.perf_counter() - began
        told(list_s=listed, grouped_s=grouped, filter_worst_ms=1e3 * worst, search_ms=1e3 * words)
        assert worst < 0.1
        assert words < 0.1
