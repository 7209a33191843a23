"""Kill -9 at any moment: nothing acknowledged is lost, nothing is doubled, and writing goes on."""

from __future__ import annotations

import multiprocessing
import random
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

import pytest

from stores.errors import StoreInUse
from stores.store import Store
from tests.stores import writer
from tests.stores.writer import run_name, script

KILLS = 300
SEED = 20260901

PRELOADED = ["__main__", "tests.stores.writer", "stores.birth", "filelock", "sqlite_utils"]
"""What the server of processes imports once, so that a new process is there at once."""

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(PRELOADED)


class Victim:
    """A real writing process, and what it acknowledged."""

    def __init__(self, path: Path) -> None:
        self.acknowledged: list[tuple[str, int]] = []
        self.ready = False
        self._here, there = context.Pipe(duplex=False)
        self._process = context.Process(
            target=writer.write_until_killed, args=(str(path), there), daemon=True
        )
        self._process.start()
        there.close()

    def watch(self, seconds: float) -> None:
        """Take in acknowledgements for so long."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0 and self._here.poll(left):
            if not self._receive(self._here):
                return

    def watch_until_ready(self) -> None:
        """Wait until the store is open."""
        assert self._here.poll(30)
        self._receive(self._here)

    def watch_until_acknowledged(self, commits: int) -> None:
        """Wait for so many commits."""
        while len(self.acknowledged) < commits:
            assert self._here.poll(30)
            self._receive(self._here)

    def kill(self) -> None:
        """SIGKILL, then the acknowledgements that were still on their way."""
        self._process.kill()
        self._process.join()
        assert self._process.exitcode == -9, "it was writing until it was killed"
        while self._receive(self._here):
            pass

    def _receive(self, pipe: Connection) -> bool:
        try:
            message = pipe.recv()
        except EOFError:
            return False
        if message is None:
            self.ready = True
        else:
            self.acknowledged.append(message)
        return True


def stored(path: Path) -> dict[str, tuple[int, int]]:
    """How many events each run has, and the number of the last."""
    with Store.open(path, mode="read") as store:
        rows = store.rows("SELECT run, count(*), max(seq) FROM events GROUP BY run")
        return {row[0]: (row[1], row[2]) for row in rows}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_three_hundred_kills(path: Path) -> None:
    chance = random.Random(SEED)
    acknowledged: dict[str, int] = {}
    unready = silent = 0
    for kill in range(KILLS):
        victim = Victim(path)
        if kill % 6:
            victim.watch_until_ready()
            victim.watch_until_acknowledged(chance.choice((0, 1, 1, 2, 3, 5, 8, 13)))
        victim.watch(chance.expovariate(1 / 0.004))
        victim.kill()
        unready += not victim.ready
        silent += not victim.acknowledged
        for run, seq in victim.acknowledged:
            acknowledged[run] = max(seq, acknowledged.get(run, 0))
        if not path.exists():
            assert not acknowledged
            continue
        there = stored(path)
        assert all(there[run][1] >= seq for run, seq in acknowledged.items()), "nothing is lost"
        assert all(count == last for count, last in there.values()), "no gap, nothing twice"
        if kill % 60 == 59:
            with Store.open(path, mode="read") as store:
                assert store.check() == ()
                assert store.quick_check() == ()
    assert unready, "some died while they opened or made the store"
    assert silent < KILLS / 2, "most died while they wrote"
    assert len(acknowledged) > 1
    with Store.open(path) as store:
        assert store.check() == ()
        assert store.quick_check() == ()
        for number, record in enumerate(sorted(store.runs(), key=lambda record: record.id)):
            assert record.id == run_name(number)
            assert list(store.events(record.id)) == script(number)[: record.last_seq]


def test_a_writer_s_death_gives_the_store_free(path: Path) -> None:
    victim = Victim(path)
    victim.watch_until_ready()
    with pytest.raises(StoreInUse):
        Store.open(path)
    victim.kill()
    with Store.open(path) as store:
        assert not store.read_only
        assert store.check() == ()


def test_two_processes_on_one_store(path: Path) -> None:
    """One writes, the other reads along and is told that it cannot write."""
    victim = Victim(path)
    victim.watch_until_ready()
    with Store.open(path, mode="prefer-write") as second:
        assert second.read_only
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
