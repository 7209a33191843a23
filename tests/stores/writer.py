"""A process that writes into a store and says what was acknowledged, until it is killed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from multiprocessing.connection import Connection

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


def write_until_killed(path: str, acknowledged: Connection) -> None:
    """Append batches, and send (run, number of the last event) after each commit. Checkpoints come
    often, so that they are hit as well."""
    with Store.open(path, create=True) as store:
        store.database.execute("PRAGMA wal_autocheckpoint = 8")
        acknowledged.send(None)
        for batch in left_to_write(store):
            store.append(batch)
            acknowledged.send((batch[-1].run, batch[-1].seq))
