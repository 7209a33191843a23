"""Kill -9 at any moment: nothing acknowledged is lost, nothing is doubled, and writing goes on."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from stores.errors import StoreInUse
from stores.store import Store
from tests.stores.writer import run_name, script

KILLS = 300
STORES = 6
SEED = 20260901
PATIENCE = 120.0
"""Seconds after which a silent process is a failure."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed")


class Writers:
    """A program that starts one writing process after another."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.writer"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._rest = b""

    def start(self, path: Path) -> Victim:
        """A new writer."""
        assert self._program.stdin is not None
        self._program.stdin.write(f"{path}\n".encode())
        self._program.stdin.flush()
        return Victim(self)

    def line(self, seconds: float) -> list[str] | None:
        """The next line of any process, in words; None where none comes in time."""
        pipe = self._program.stdout
        assert pipe is not None
        end = monotonic() + seconds
        while b"\n" not in self._rest:
            left = max(0.0, end - monotonic())
            if not select.select([pipe], [], [], left)[0]:
                return None
            piece = os.read(pipe.fileno(), 65536)
            assert piece, "the program of the writers has ended"
            self._rest += piece
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode().split(" ")

    def close(self) -> None:
        """End the program."""
        self._program.communicate(timeout=PATIENCE)


class Victim:
    """A real writing process, and what it acknowledged."""

    def __init__(self, writers: Writers) -> None:
        self.acknowledged: list[tuple[str, int]] = []
        self.ready = False
        self._writers = writers
        self._pid = 0
        self._code: int | None = None
        while not self._pid:
            self._hear(PATIENCE)

    def watch(self, seconds: float) -> None:
        """Take in what it says for so long."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            self._hear(left)

    def watch_until_ready(self) -> None:
        """Wait until the store is open."""
        while not self.ready:
            assert self._hear(PATIENCE)

    def watch_until_acknowledged(self, commits: int) -> None:
        """Wait for so many commits."""
        while len(self.acknowledged) < commits:
            assert self._hear(PATIENCE)

    def kill(self) -> None:
        """SIGKILL, then the acknowledgements that were still on their way."""
        os.kill(self._pid, signal.SIGKILL)
        while self._code is None:
            assert self._hear(PATIENCE)
        assert self._code == -signal.SIGKILL, "it was writing until it was killed"

    def _hear(self, seconds: float) -> bool:
        match self._writers.line(seconds):
            case None:
                return False
            case ["born", pid]:
                self._pid = int(pid)
            case ["open"]:
                self.ready = True
            case ["dead", code]:
                self._code = int(code)
            case [run, seq]:
                self.acknowledged.append((run, int(seq)))
            case other:
                pytest.fail(f"a writer said {other}")
        return True


@pytest.fixture
def writers() -> Iterator[Writers]:
    """Writers of one store."""
    started = Writers()
    yield started
    started.close()


def stored(path: Path) -> dict[str, tuple[int, int]]:
    """How many events each run has, and the number of the last."""
    with Store.open(path, mode="read") as store:
        rows = store.rows("SELECT run, count(*), max(seq) FROM events GROUP BY run")
        return {row[0]: (row[1], row[2]) for row in rows}


class Lineage:
    """One store whose writers die one after another, and what they had acknowledged."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.chance = random.Random(seed)
        self.writers = Writers()
        self.acknowledged: dict[str, int] = {}
        self.unready = self.silent = 0

    def lose_writers(self, kills: int) -> None:
        """Kill so many writers at random points, and look after each."""
        for kill in range(kills):
            self._lose_one(while_it_opens=kill % 6 == 0)
            if self.path.exists():
                self._look()
            else:
                assert not self.acknowledged
        self.writers.close()
        self._look_closely()

    def _lose_one(self, while_it_opens: bool) -> None:
        victim = self.writers.start(self.path)
        if not while_it_opens:
            victim.watch_until_ready()
            victim.watch_until_acknowledged(self.chance.choice((0, 1, 1, 2, 3, 5, 8, 13)))
        victim.watch(self.chance.expovariate(1 / 0.004))
        victim.kill()
        self.unready += not victim.ready
        self.silent += not victim.acknowledged
        for run, seq in victim.acknowledged:
            self.acknowledged[run] = max(seq, self.acknowledged.get(run, 0))

    def _look(self) -> None:
        there = stored(self.path)
        assert all(there[run][1] >= seq for run, seq in self.acknowledged.items()), "nothing is lost"
        assert all(count == last for count, last in there.values()), "no gap, nothing twice"

    def _look_closely(self) -> None:
        with Store.open(self.path) as store:
            assert store.check() == ()
            assert store.quick_check() == ()
            for number, record in enumerate(sorted(store.runs(), key=lambda record: record.id)):
                assert record.id == run_name(number)
                assert list(store.events(record.id)) == script(number)[: record.last_seq]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_three_hundred_kills(tmp_path: Path) -> None:
    """On several stores side by side: a killed process is mostly waited for."""
    lines = [Lineage(tmp_path / f"{seed}.sqlite", SEED + seed) for seed in range(STORES)]
    with ThreadPoolExecutor(STORES) as threads:
        list(threads.map(lambda line: line.lose_writers(KILLS // STORES), lines))
    assert sum(line.unready for line in lines), "some died while they opened or made the store"
    assert sum(line.silent for line in lines) < KILLS / 2, "most died while they wrote"
    assert sum(map(sum, (line.acknowledged.values() for line in lines))) > KILLS


def test_a_writer_s_death_gives_the_store_free(path: Path, writers: Writers) -> None:
    victim = writers.start(path)
    victim.watch_until_ready()
    with pytest.raises(StoreInUse):
        Store.open(path)
    victim.kill()
    with Store.open(path) as store:
        assert not store.read_only
        assert store.check() == ()


def test_two_processes_on_one_store(path: Path, writers: Writers) -> None:
    """One writes, the other reads along and is told that it cannot write."""
    victim = writers.start(path)
    victim.watch_until_ready()
    with Store.open(path, mode="prefer-write") as second:
        assert not second.records_runs
        assert "Another Merito is writing" in second.notice
        seen = 0
        while seen < 200:
            victim.watch(0.01)
            events = list(second.events(run_name(0)))
            assert events == script(0)[: len(events)], "a reader sees whole commits, in order"
            known = max((seq for run, seq in victim.acknowledged if run == run_name(0)), default=0)
            seen = len(list(second.events(run_name(0))))
            assert seen >= known, "what was acknowledged before can be read"
            if seen == len(script(0)):
                break
        assert second.check() == ()
    victim.kill()
