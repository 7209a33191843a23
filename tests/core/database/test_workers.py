"""The sandbox's workers: cancelled, crowded, killed, orphaned, and never mixed up."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from core.database.rows import Outcome
from core.database.sandbox import Sandbox
from core.errors import MeritoError
from tests.core.database.hostile_bombs import ENDLESS, ONE_LONG_STEP


async def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.01)


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
