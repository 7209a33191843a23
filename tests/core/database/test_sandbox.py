"""The sandbox: what comes back, what is cut, and what it survives."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import psutil
import pytest

from core.database.rows import Outcome
from core.database.sandbox import COMPLETE, DISPLAY, Sandbox
from core.errors import MeritoError

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
ONE_LONG_STEP = "SELECT instr(zeroblob(15000000), zeroblob(7000000) || x'01')"
"""A single opcode that no progress handler can interrupt."""


async def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.01)


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
    sandbox: Sandbox, shop: Path, caps: object, says: str
) -> None:
    execution = await sandbox.execute(shop, "SELECT note FROM orders", caps=caps)  # type: ignore[arg-type]
    assert execution.outcome is Outcome.LIMIT
    assert execution.rows == ()
    assert says in execution.error


# Cancellation, concurrency, death.


@pytest.mark.parametrize("sql", [ENDLESS, ONE_LONG_STEP, "SELECT 'the answer before'"])
@pytest.mark.parametrize("delay", [0.0, 0.002, 0.05])
async def test_after_a_cancellation_the_next_statement_gets_its_own_answer(
    sandbox: Sandbox, shop: Path, sql: str, delay: float
) -> None:
    await sandbox.execute(shop, "SELECT 0")
    task = asyncio.create_task(sandbox.execute(shop, sql))
    await asyncio.sleep(delay)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    for number in range(3):
        assert (await sandbox.execute(shop, f"SELECT {number}")).rows == ((number,),)


async def test_cancelled_while_waiting_for_a_turn(sandbox: Sandbox, shop: Path) -> None:
    running = asyncio.create_task(sandbox.execute(shop, ENDLESS, deadline=0.3))
    waiting = asyncio.create_task(sandbox.execute(shop, "SELECT 1"))
    await asyncio.sleep(0)
    waiting.cancel()
    assert (await running).outcome is Outcome.TIMEOUT
    assert (await sandbox.execute(shop, "SELECT 2")).rows == ((2,),)


@pytest.mark.parametrize("workers", [1, 3])
async def test_two_hundred_at_once_each_get_their_own_answer(shop: Path, workers: int) -> None:
    async with Sandbox(workers=workers) as sandbox:
        executions = await asyncio.gather(
            *(
                sandbox.execute(shop, f"SELECT {number}, count(*) FROM customers")
                for number in range(200)
            )
        )
        assert [execution.rows for execution in executions] == [
            ((number, 50),) for number in range(200)
        ]
        assert len(sandbox.processes) <= workers


async def test_a_worker_that_dies_while_idle_costs_nothing(sandbox: Sandbox, shop: Path) -> None:
    await sandbox.execute(shop, "SELECT 1")
    for number in range(5):
        (pid,) = sandbox.processes
        os.kill(pid, signal.SIGKILL)
        assert (await sandbox.execute(shop, f"SELECT {number}")).rows == ((number,),)


async def test_a_worker_that_died_unseen_long_ago_costs_nothing(sandbox: Sandbox, shop: Path) -> None:
    await sandbox.execute(shop, "SELECT 1")
    os.kill(sandbox.processes[0], signal.SIGKILL)
    await eventually(lambda: not sandbox.processes)
    assert (await sandbox.execute(shop, "SELECT 2")).rows == ((2,),)


async def test_a_worker_that_dies_at_work_loses_one_statement(sandbox: Sandbox, shop: Path) -> None:
    await sandbox.execute(shop, "SELECT 1")
    (pid,) = sandbox.processes
    task = asyncio.create_task(sandbox.execute(shop, ENDLESS))
    await eventually(lambda: psutil.Process(pid).cpu_times().user > 0.1)
    os.kill(pid, signal.SIGKILL)
    execution = await task
    assert (execution.outcome, execution.error) == (Outcome.LIMIT, "the sandbox's worker died")
    assert (await sandbox.execute(shop, "SELECT 2")).rows == ((2,),)


async def test_closing_ends_everything(shop: Path) -> None:
    sandbox = Sandbox(workers=2)
    tasks = [asyncio.create_task(sandbox.execute(shop, ENDLESS)) for _ in range(3)]
    await eventually(lambda: len(sandbox.processes) == 2)
    pids = sandbox.processes
    await sandbox.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert all(
        isinstance(result, MeritoError)
        or (not isinstance(result, BaseException) and result.outcome is Outcome.LIMIT)
        for result in results
    )
    with pytest.raises(MeritoError, match="closed"):
        await sandbox.execute(shop, "SELECT 1")
    await sandbox.close()


@pytest.mark.slow
async def test_no_zombie_and_no_descriptor_is_left(shop: Path) -> None:
    this_process = psutil.Process()
    async with Sandbox() as sandbox:  # what asyncio itself opens once is open now
        await sandbox.execute(shop, "SELECT 1")
    before = this_process.num_fds()
    for _ in range(5):
        async with Sandbox(workers=2) as sandbox:
            task = asyncio.create_task(sandbox.execute(shop, ENDLESS))
            await sandbox.execute(shop, "SELECT hex(zeroblob(1000000)) FROM orders")
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await sandbox.execute(shop, ONE_LONG_STEP, deadline=0.05)
    await eventually(lambda: this_process.num_fds() <= before)
    assert this_process.children() == []


@pytest.mark.slow
@pytest.mark.parametrize("sql", [ENDLESS, ONE_LONG_STEP, "SELECT 1"])
async def test_a_worker_does_not_outlive_its_parent(shop: Path, sql: str) -> None:
    program = textwrap.dedent(
        """
        import asyncio, sys
        from pathlib import Path
        from core.database.sandbox import Sandbox

        async def main():
            sandbox = Sandbox()
            await sandbox.execute(Path(sys.argv[1]), "SELECT 1")
            print(*sandbox.processes, flush=True)
            await sandbox.execute(Path(sys.argv[1]), sys.argv[2], deadline=1.5)
            await asyncio.sleep(60)

        asyncio.run(main())
        """
    )
    parent = subprocess.Popen(  # noqa: ASYNC220 - the test wants a parent that it can kill
        [sys.executable, "-c", program, str(shop), sql], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    await eventually(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE, 4.0)


async def test_the_worker_is_bounded_and_isolated(sandbox: Sandbox, shop: Path) -> None:
    await sandbox.execute(shop, "SELECT 1")
    worker = psutil.Process(sandbox.processes[0])
    assert {"-I", "-S"} <= set(worker.cmdline())
    if sys.platform == "linux":
        assert worker.rlimit(psutil.RLIMIT_CORE) == (0, 0)
        assert 0 < worker.rlimit(psutil.RLIMIT_AS)[0] <= 2 * 1024**3
        assert os.getsid(worker.pid) == worker.pid, "Ctrl-C in the terminal is not for the worker"


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
