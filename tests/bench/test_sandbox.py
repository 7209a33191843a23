"""What a statement costs beside SQLite's own work (run with `pytest -m bench -s`)."""

from __future__ import annotations

import platform
import sqlite3
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.database.sandbox import COMPLETE, Sandbox
from core.database.schema import read_schema
from tests.core.database import hostile

pytestmark = pytest.mark.bench

ROUND_TRIPS = 2_000
STATEMENT = "SELECT name FROM customers WHERE id = 7"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return hostile.build(tmp_path / "shop.sqlite")


def report(what: str, figure: str) -> None:
    machine = (
        f"{platform.machine()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )
    print(f"\n{what}: {figure} ({machine})")


async def test_a_warm_round_trip_takes_well_under_a_millisecond(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        in_process = _median(lambda: connection.execute(STATEMENT).fetchall())
    async with Sandbox() as sandbox:
        await sandbox.execute(shop, STATEMENT)
        seconds = []
        for _ in range(ROUND_TRIPS):
            started = time.perf_counter()
            await sandbox.execute(shop, STATEMENT)
            seconds.append(time.perf_counter() - started)
    median = statistics.median(seconds)
    tail = statistics.quantiles(seconds, n=20)[-1]
    report(
        "round trip",
        f"median {median * 1e6:.0f} us, 95th percentile {tail * 1e6:.0f} us over {ROUND_TRIPS}; "
        f"in process {in_process * 1e6:.0f} us",
    )
    assert median < 0.001


def _median(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUND_TRIPS):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


async def test_a_cold_worker_starts_within_half_a_second(shop: Path) -> None:
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        async with Sandbox() as sandbox:
            await sandbox.execute(shop, STATEMENT)
        seconds.append(time.perf_counter() - started)
    report("start, one statement, end", f"median {statistics.median(seconds) * 1e3:.0f} ms over 5")
    assert statistics.median(seconds) < 0.5


async def test_a_large_result_streams(shop: Path) -> None:
    sql = "SELECT a.id, b.id, a.note, b.amount FROM orders a, orders b LIMIT 200000"
    async with Sandbox() as sandbox:
        await sandbox.execute(shop, STATEMENT)
        started = time.perf_counter()
        execution = await sandbox.execute(shop, sql, deadline=60, caps=COMPLETE)
        seconds = time.perf_counter() - started
    report("complete result", f"{len(execution.rows) / seconds:,.0f} rows of 4 a second over 200,000")
    assert len(execution.rows) == 200_000
    assert seconds < 10


def test_a_schema_of_three_hundred_tables(tmp_path: Path) -> None:
    path = tmp_path / "wide.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        tables = (
            f"CREATE TABLE t{n} (id INTEGER PRIMARY KEY, a, b REFERENCES t{n});" for n in range(300)
        )
        connection.executescript("BEGIN;" + "".join(tables) + "COMMIT;")
    started = time.perf_counter()
    read_schema(path)
    seconds = time.perf_counter() - started
    report("schema of 300 tables", f"{seconds * 1e3:.0f} ms")
    assert seconds < 0.5
