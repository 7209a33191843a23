"""The sandbox: what comes back, what is cut, and what it survives."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from core.database.files import DatabaseFolder
from core.database.rows import Outcome
from core.database.sandbox import COMPLETE, DISPLAY, Caps, Sandbox
from core.errors import MeritoError
from tests.core.database.hostile_bombs import ENDLESS, ONE_LONG_STEP

# What comes back.


async def test_rows_columns_and_time(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(shop, "SELECT id, name AS called FROM customers LIMIT 2")
    assert execution.outcome is Outcome.OK
    assert execution.columns == ("id", "called")
    assert execution.rows == ((1, "Customer 0"), (2, "Customer 1"))
    assert not execution.truncated
    assert 0 < execution.seconds < 5


async def test_every_kind_of_value_survives(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(
        shop,
        "SELECT NULL, 9223372036854775807, -9223372036854775808, 1.5, 1e999, -1e999,"
        " x'00ff00', 'é\U0001f600', char(0) || 'after NUL', CAST(x'61ff62' AS TEXT), ''",
    )
    assert execution.rows == (
        (
            None,
            2**63 - 1,
            -(2**63),
            1.5,
            math.inf,
            -math.inf,
            b"\x00\xff\x00",
            "é\U0001f600",
            "\x00after NUL",
            "a\udcffb",
            "",
        ),
    )


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT x FROM customers", "no such column: x"),
        ("SELECT * FROM nowhere", "no such table: nowhere"),
        ("SELEC 1", 'near "SELEC": syntax error'),
        ("SELECT (1", "incomplete input"),
        ("SELECT id FROM customers c, orders o", "ambiguous column name: id"),
        ("SELECT sum(count(*)) FROM customers", "misuse of aggregate function count()"),
        ("SELECT absent(1)", "no such function: absent"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT load_extension('x')", "not authorized to use function: load_extension"),
        ("DELETE FROM customers", "not authorized: DELETE customers"),
    ],
)
async def test_the_message_is_sqlites_own(sandbox: Sandbox, shop: Path, sql: str, message: str) -> None:
    execution = await sandbox.execute(shop, sql)
    assert (execution.outcome, execution.error) == (Outcome.ERROR, message)
    assert execution.rows == ()


async def test_a_message_is_bounded(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(shop, f"SELECT [{'x' * 50_000}] FROM customers")
    assert execution.outcome is Outcome.ERROR
    assert len(execution.error) <= 2_000


async def test_full_text_and_spatial_tables_can_be_read(sandbox: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "papers.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE paper USING fts5(title)")
        connection.execute("INSERT INTO paper VALUES ('causal memory'), ('other')")
        connection.execute("CREATE VIRTUAL TABLE place USING rtree(id, low, high)")
        connection.execute("INSERT INTO place VALUES (1, 2, 3)")
    found = await sandbox.execute(path, "SELECT title FROM paper WHERE paper MATCH 'memory'")
    assert found.rows == (("causal memory",),), found.error
    assert (await sandbox.execute(path, "SELECT id FROM place")).rows == ((1,),)


# Deadlines and caps.


async def test_a_statement_that_listens_is_stopped_at_its_deadline(
    sandbox: Sandbox, shop: Path
) -> None:
    await sandbox.execute(shop, "SELECT 1")
    workers = sandbox.processes
    execution = await sandbox.execute(shop, ENDLESS, deadline=0.2)
    assert (execution.outcome, execution.error) == (Outcome.TIMEOUT, "stopped at the deadline of 0.2 s")
    assert sandbox.processes == workers, "a soft stop keeps the worker"


@pytest.mark.slow
async def test_a_statement_that_does_not_listen_is_killed(sandbox: Sandbox, shop: Path) -> None:
    started = time.monotonic()
    execution = await sandbox.execute(shop, ONE_LONG_STEP, deadline=0.2)
    assert execution.outcome is Outcome.TIMEOUT
    assert time.monotonic() - started < 1.2
    assert (await sandbox.execute(shop, "SELECT 7")).rows == ((7,),)


async def test_rows_are_cut_at_the_display_cap(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(shop, "SELECT a.id FROM orders a, orders b")
    assert (execution.outcome, len(execution.rows), execution.truncated) == (Outcome.OK, 1_000, True)


async def test_exactly_as_many_rows_as_the_cap_are_not_cut(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(shop, "SELECT id FROM orders")
    assert (len(execution.rows), execution.truncated) == (1_000, False)


async def test_rows_are_cut_at_the_byte_cap(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(shop, "SELECT hex(zeroblob(30000)) FROM orders")
    assert execution.truncated
    assert 50 < len(execution.rows) < 70


async def test_a_long_cell_is_cut_and_says_so(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(shop, "SELECT hex(zeroblob(5000000)), zeroblob(200000), 1")
    text, blob, number = execution.rows[0]
    assert isinstance(text, str)
    assert len(text) == DISPLAY.cell + 1
    assert text.endswith("…")
    assert isinstance(blob, bytes)
    assert len(blob) == DISPLAY.cell
    assert (number, execution.truncated) == (1, True)


async def test_a_complete_result_is_complete(sandbox: Sandbox, shop: Path) -> None:
    execution = await sandbox.execute(
        shop, "SELECT a.id, b.id FROM orders a, orders b LIMIT 30000", caps=COMPLETE
    )
    assert (len(execution.rows), execution.truncated) == (30_000, False)
    assert execution.rows[0] == (1, 1)
    assert len(set(execution.rows)) == 30_000


@pytest.mark.parametrize(
    ("caps", "says"),
    [
        (msgspec.structs.replace(COMPLETE, rows=100), "more than 100 rows"),
        (msgspec.structs.replace(COMPLETE, bytes=2_000), "more than 2,000 bytes"),
        (msgspec.structs.replace(COMPLETE, cell=3), "longer than 3 characters"),
    ],
)
async def test_a_complete_result_over_its_cap_is_none(
    sandbox: Sandbox, shop: Path, caps: Caps, says: str
) -> None:
    execution = await sandbox.execute(shop, "SELECT note FROM orders", caps=caps)
    assert execution.outcome is Outcome.LIMIT
    assert execution.rows == ()
    assert says in execution.error


# The file changes, or is no use.


async def test_what_others_write_is_seen(sandbox: Sandbox, shop: Path) -> None:
    for journal in ("DELETE", "WAL", "DELETE"):
        with closing(sqlite3.connect(shop)) as writer:
            writer.execute(f"PRAGMA journal_mode = {journal}")
            for _ in range(3):
                writer.execute("INSERT INTO customers (name) VALUES ('new')")
                writer.commit()
                count = writer.execute("SELECT count(*) FROM customers").fetchone()
                assert (await sandbox.execute(shop, "SELECT count(*) FROM customers")).rows == (count,)
        assert (await sandbox.execute(shop, "SELECT count(*) FROM customers")).rows == (count,)


async def test_a_replaced_file_is_noticed(sandbox: Sandbox, shop: Path, tmp_path: Path) -> None:
    assert (await sandbox.execute(shop, "SELECT count(*) FROM customers")).rows == ((50,),)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE customers (id)")
    other.replace(shop)
    assert (await sandbox.execute(shop, "SELECT count(*) FROM customers")).rows == ((0,),)


async def test_a_wal_file_is_read_without_leaving_files(sandbox: Sandbox, shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert [path.name for path in shop.parent.iterdir()] == [shop.name]
    assert (await sandbox.execute(shop, "SELECT count(*) FROM customers")).rows == ((50,),)
    assert [path.name for path in shop.parent.iterdir()] == [shop.name]


async def test_a_missing_database_is_not_the_statements_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match=r"There is no database .*gone\.sqlite"):
        await sandbox.execute(tmp_path / "gone.sqlite", "SELECT 1")
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a test may block


@pytest.mark.slow
async def test_a_locked_database_is_not_the_statements_fault(sandbox: Sandbox, shop: Path) -> None:
    with closing(sqlite3.connect(shop, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(MeritoError, match="locked by another program"):
            await sandbox.execute(shop, "SELECT count(*) FROM customers", deadline=1.0)
        writer.execute("ROLLBACK")
    assert (await sandbox.execute(shop, "SELECT count(*) FROM customers")).rows == ((50,),)


@pytest.mark.parametrize(
    "name", ["with space.sqlite", "per%cent#?&.db", "ünï'quo\"te.sqlite", "a;b.sqlite"]
)
async def test_any_file_name_will_do(sandbox: Sandbox, shop: Path, name: str) -> None:
    odd = shop.rename(shop.with_name(name))  # noqa: ASYNC240 - a test may block
    assert (await sandbox.execute(odd, "SELECT count(*) FROM customers")).rows == ((50,),)
    assert [path.name for path in shop.parent.iterdir()] == [name]


# Real queries fit.


@pytest.mark.data
@pytest.mark.slow
async def test_the_benchmarks_queries_give_what_sqlite_alone_gives(data_folder: Path) -> None:
    spider, bird = DatabaseFolder(data_folder / "spider"), DatabaseFolder(data_folder / "bird")
    queries = []
    for line in (data_folder / "spider" / "dev_gold.sql").read_text().splitlines():
        sql, _, database = line.rpartition("\t")
        queries.append((spider.path(database.strip()), sql))
    for line in (data_folder / "bird" / "candidates.jsonl").read_text().splitlines():
        pool = json.loads(line)
        path = bird.path(pool["db_id"])
        queries += [(path, candidate["sql"]) for candidate in pool["candidates"]]
        queries.append((path, pool["gold_sql"]))
    different = []
    async with Sandbox() as sandbox:
        for path, sql in queries:
            execution = await sandbox.execute(path, sql, caps=COMPLETE)
            if (execution.rows if execution.outcome is Outcome.OK else None) != directly(path, sql):
                different.append((path.stem, sql, execution.error))
    assert len(queries) > 900
    assert not different


def directly(path: Path, sql: str) -> tuple[tuple[object, ...], ...] | None:
    """The rows without any sandbox; None where SQLite fails."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return tuple(connection.execute(sql).fetchall())
        except (sqlite3.Error, sqlite3.Warning):
            return None
