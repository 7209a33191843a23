"""Processes that write into a store and say what was acknowledged, until they are killed.

Run as a program it reads the path of a store from each line of its input and forks a writer for it.
Its output tells, a line each: `born PID`, `open`, `RUN SEQ` for each commit, `dead CODE`.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator

from core.run.events import AnyEvent
from stores.store import Store
from tests.streams import batches, run_events

EPISODES = 12


def run_name(number: int) -> str:
    """The id of the run with this number."""
    return f"run-{number:04}"


def script(number: int) -> list[AnyEvent]:
    """What the run with this number consists of, whoever writes it."""
    return run_events(EPISODES, run=run_name(number), reflections=number % 2 == 0)


def left_to_write(store: Store) -> Iterator[list[AnyEvent]]:
    """The batches that are not stored yet, run after run without an end. The last stored batch of
    an unfinished run comes again: its acknowledgement may have been lost."""
    stored = {run.id: run.last_seq for run in store.runs()}
    for number in itertools.count(max(0, len(stored) - 1)):
        last = stored.get(run_name(number), 0)
        whole = list(batches(script(number)))
        behind = [batch for batch in whole if batch[-1].seq <= last]
        yield from behind[-1:]
        yield from whole[len(behind) :]


def write(path: str) -> None:
    """Append batches without an end, and tell of each commit. Checkpoints come often, so that they
    are hit as well."""
    with Store.open(path, create=True) as store:
        store.database.execute("PRAGMA wal_autocheckpoint = 8")
        say("open")
        for batch in left_to_write(store):
            store.append(batch)
            say(f"{batch[-1].run} {batch[-1].seq}")


def say(line: str) -> None:
    """One write of the system, so that a line is there whole or not at all."""
    os.write(1, f"{line}\n".encode())


def main() -> None:
    """One writer after another."""
    import filelock  # noqa: F401  Imported once, so that a writer is there at once.
    import sqlite_utils  # noqa: F401

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                write(line.rstrip("\n"))
            finally:
                os._exit(1)
        say(f"born {pid}")
        say(f"dead {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}")


if __name__ == "__main__":
    main()
