"""A store through arbitrary lives: appended to, killed, reopened, migrated, backed up, restored,
read and contended for. What was acknowledged is stored, without a gap, and the projections are what
a replay of the events gives.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.memory.entry import ReviewDecision, ReviewState
from core.run.events import AnyEvent
from stores import schema
from stores.backups import restore
from stores.errors import StoreConflict, StoreInUse, StoreTrouble
from stores.store import Store
from tests.streams import batches, memory_entry, run_events

RUNS = ("run-a", "run-b")
SCRIPTS = {run: list(batches(run_events(16, run=run, reflections=run == "run-b"))) for run in RUNS}

SHARED = Path("/dev/shm")


def another_version(db: Any) -> None:
    """A step that leaves a mark."""
    count = db.execute("SELECT count(*) FROM meta").fetchone()[0]
    db.execute("INSERT INTO meta VALUES (?, '')", (f"step {count}",))


def failing_version(db: Any) -> None:
    """A step that destroys what it can before it fails."""
    db.execute("DELETE FROM events")
    raise RuntimeError("a defect in a migration")


class Model(msgspec.Struct, frozen=True):
    """What must be in the store."""

    batches: dict[str, int]
    reviews: tuple[ReviewDecision, ...] = ()
    imported: tuple[str, ...] = ()


class Lives(RuleBasedStateMachine):
    """The store beside a plain model of what was acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(
            tempfile.mkdtemp(dir=SHARED if SHARED.is_dir() else None, prefix="merito-life-")
        )
        self.path = self.root / "merito.sqlite"
        self.backup = self.root / "backup.sqlite"
        self.model = Model(dict.fromkeys(RUNS, 0))
        self.saved: Model | None = None
        self.houses = 0
        self.clock = 0.0
        schema.MIGRATIONS = (schema.create_tables,)

    @initialize()
    def is_born(self) -> None:
        self.store = Store.open(self.path, create=True)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
        schema.MIGRATIONS = (schema.create_tables,)
        shutil.rmtree(self.root)

    def stored(self, run: str) -> list[AnyEvent]:
        return [event for batch in SCRIPTS[run][: self.model.batches[run]] for event in batch]

    def changed(self, **fields: Any) -> None:
        self.model = msgspec.structs.replace(self.model, **fields)

    @rule(run=st.sampled_from(RUNS), count=st.integers(1, 6))
    def append(self, run: str, count: int) -> None:
        begun = self.model.batches[run]
        for batch in SCRIPTS[run][begun : begun + count]:
            self.store.append(batch)
            self.changed(batches=self.model.batches | {run: self.model.batches[run] + 1})

    @rule(run=st.sampled_from(RUNS), back=st.integers(1, 5))
    def append_what_is_there(self, run: str, back: int) -> None:
        done = self.model.batches[run]
        for batch in SCRIPTS[run][max(0, done - back) : done]:
            self.store.append(batch)

    @rule(run=st.sampled_from(RUNS), skip=st.integers(1, 3))
    def append_too_late(self, run: str, skip: int) -> None:
        late = SCRIPTS[run][self.model.batches[run] + skip :]
        if late:
            with pytest.raises(StoreConflict):
                self.store.append(late[0])

    @rule(data=st.data(), state=st.sampled_from(ReviewState))
    def review(self, data: st.DataObject, state: ReviewState) -> None:
        known = sorted(self.store.review_states())
        if not known:
            return
        self.clock += 1
        memory = data.draw(st.sampled_from(known))
        made = ReviewDecision(memory=memory, state=state, who="ada", at=self.clock)
        self.store.review(made)
        self.changed(reviews=(*self.model.reviews, made))

    @rule(position=st.integers(100, 104))
    def take_in(self, position: int) -> None:
        entry = memory_entry(position, run="elsewhere")
        new = self.store.keep([entry], at=self.clock)
        assert new == (entry.id not in self.model.imported)
        self.changed(imported=tuple(dict.fromkeys((*self.model.imported, entry.id))))

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.path)

    @rule(in_the_midst=st.booleans(), spilled=st.booleans())
    def die(self, in_the_midst: bool, spilled: bool) -> None:
        """The files as a killed process leaves them: what it wrote is there, the rest is not."""
        conn = self.store.database.conn
        if in_the_midst:
            if spilled:
                conn.execute("PRAGMA cache_size = 1")
            conn.execute("BEGIN IMMEDIATE")
            conn.execute("DELETE FROM attempts")
            conn.executemany(
                "INSERT INTO events (run, seq, at, kind, body) VALUES ('half', ?, 0.0, 'x', ?)",
                [(seq, "x" * 3000) for seq in range(1, 40)],
            )
        self.houses += 1
        house = self.root / f"house-{self.houses}"
        house.mkdir()
        for ending in ("", "-wal"):
            left = self.path.with_name(self.path.name + ending)
            with suppress(FileNotFoundError):
                shutil.copy(left, house / left.name)
        if in_the_midst:
            conn.execute("ROLLBACK")
        self.store.close()
        self.path = house / self.path.name
        self.store = Store.open(self.path)

    @rule()
    def migrate(self) -> None:
        self.store.close()
        schema.MIGRATIONS = (*schema.MIGRATIONS, another_version)
        self.store = Store.open(self.path)

    @rule()
    def migrate_badly(self) -> None:
        self.store.close()
        known = schema.MIGRATIONS
        schema.MIGRATIONS = (*known, failing_version)
        with pytest.raises(StoreTrouble, match="could not be brought"):
            Store.open(self.path)
        schema.MIGRATIONS = known
        self.store = Store.open(self.path)

    @rule()
    def meet_an_older_program(self) -> None:
        if len(schema.MIGRATIONS) == 1:
            return
        self.store.close()
        known, schema.MIGRATIONS = schema.MIGRATIONS, schema.MIGRATIONS[:-1]
        before = self.path.read_bytes()
        with pytest.raises(StoreTrouble, match="this Merito reads up to"):
            Store.open(self.path)
        assert self.path.read_bytes() == before
        schema.MIGRATIONS = known
        self.store = Store.open(self.path)

    @rule()
    def back_up(self) -> None:
        self.store.backup(self.backup)
        self.saved = self.model

    @precondition(lambda self: self.saved is not None)
    @rule()
    def go_back(self) -> None:
        with pytest.raises(StoreInUse):
            restore(self.backup, self.path)
        self.store.close()
        restore(self.backup, self.path)
        assert self.saved is not None
        self.model = self.saved
        self.store = Store.open(self.path)

    @rule()
    def a_second_writer_comes(self) -> None:
        with pytest.raises(StoreInUse):
            Store.open(self.path)
        with Store.open(self.path, mode="prefer-write") as second:
            assert not second.records_runs
            for run in RUNS:
                assert list(second.events(run)) == self.stored(run)
            with pytest.raises(StoreTrouble):
                second.append(SCRIPTS[RUNS[0]][0])

    @rule()
    def rebuild(self) -> None:
        self.store.rebuild()

    @invariant()
    def everything_acknowledged_is_there_once(self) -> None:
        if not hasattr(self, "store"):
            return
        for run in RUNS:
            assert list(self.store.events(run)) == self.stored(run)

    @invariant()
    def reviews_are_all_there(self) -> None:
        if not hasattr(self, "store"):
            return
        histories: dict[str, list[ReviewDecision]] = defaultdict(list)
        for decision in self.model.reviews:
            histories[decision.memory].append(decision)
        states = self.store.review_states()
        for memory, history in histories.items():
            assert self.store.history(memory) == history
            assert states[memory] is history[-1].state

    @invariant()
    def projections_are_what_a_replay_gives(self) -> None:
        if hasattr(self, "store"):
            assert self.store.check() == ()


TestLives = pytest.mark.slow(Lives.TestCase)
TestLives.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
