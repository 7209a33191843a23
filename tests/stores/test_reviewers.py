"""Several people decide on one store, also while a run is recorded and while processes are killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from stores.backups import restore
from stores.errors import StoreInUse, StoreTrouble
from stores.store import Store
from tests.streams import batches, memory_entry, run_events

APPROVED, REJECTED = ReviewState.APPROVED, ReviewState.REJECTED
SEED = 20260901


def decision(
    entry: MemoryEntry, state: ReviewState, who: str = "ada", **more: object
) -> ReviewDecision:
    fields = {"at": time.time(), "remark": ""} | more
    return ReviewDecision(memory=entry.id, state=state, who=who, **fields)  # type: ignore[arg-type]


@pytest.fixture
def lessons() -> list[MemoryEntry]:
    return [memory_entry(position, run="elsewhere", confirmed=False) for position in range(6)]


@pytest.fixture
def filled(path: Path, newborn: bytes, lessons: list[MemoryEntry]) -> Path:
    """A store with memories that wait, open nowhere."""
    path.write_bytes(newborn)
    with Store.open(path) as store:
        store.keep(lessons, at=1.0)
    return path


def test_a_reviewer_decides_while_a_run_is_recorded(filled: Path, lessons: list[MemoryEntry]) -> None:
    with Store.open(filled) as run, Store.open(filled, mode="review") as reviewer:
        assert not reviewer.read_only
        assert not reviewer.records_runs
        assert "Another Merito is writing" in reviewer.notice
        for index, batch in enumerate(batches(run_events(6))):
            run.append(batch)
            reviewer.review(decision(lessons[index % 6], REJECTED, at=float(index)))
        assert set(run.review_states([each.id for each in lessons]).values()) == {REJECTED}
        assert list(reviewer.events("run-1")) == run_events(6)
        with pytest.raises(StoreTrouble, match="not for recording runs"):
            reviewer.append(run_events(2, run="run-2"))
        assert run.check() == reviewer.check() == ()


def test_a_run_can_begin_while_somebody_reviews(filled: Path, lessons: list[MemoryEntry]) -> None:
    with Store.open(filled, mode="review") as reviewer:
        assert reviewer.notice == ""
        with Store.open(filled) as run:
            run.append(run_events(4))
            reviewer.review(decision(lessons[0], APPROVED))
        reviewer.review(decision(lessons[1], APPROVED))
        assert len(reviewer.runs()) == 1
    with Store.open(filled, mode="read") as reader:
        assert [len(reader.history(each.id)) for each in lessons] == [1, 1, 0, 0, 0, 0]


def test_memories_are_imported_beside_a_run(filled: Path) -> None:
    with Store.open(filled) as run, Store.open(filled, mode="review") as second:
        run.append(run_events(4))
        assert second.keep([memory_entry(50, run="far")], at=2.0) == 1
        assert len(second.entries()) == len(run.entries()) == 6 + 3 + 1


def test_the_later_of_two_reviewers_sees_what_the_other_decided(
    filled: Path, lessons: list[MemoryEntry]
) -> None:
    mine, other = lessons[:3], lessons[0]
    with (
        Store.open(filled, mode="review") as ada,
        Store.open(filled, mode="review") as bo,
    ):
        theirs = decision(other, REJECTED, "bo", remark="too narrow")
        assert bo.decide([theirs], {}).kept == (theirs,)
        wanted = [decision(each, APPROVED) for each in mine]
        done = ada.decide(wanted, {each.id: 0 for each in mine})
        assert done.kept == tuple(wanted[1:]), "what nobody else touched is kept"
        (clash,) = done.clashes
        assert (clash.wanted, clash.theirs) == (wanted[0], theirs)
        assert ada.history(other.id) == [theirs], "nothing is decided over unseen"
        assert ada.decide([wanted[0]], {other.id: 1}).kept == (wanted[0],), "now it is seen"
        assert bo.history(other.id) == [theirs, wanted[0]]


def test_two_who_agree_are_no_conflict(filled: Path, lessons: list[MemoryEntry]) -> None:
    with Store.open(filled, mode="review") as store:
        store.decide([decision(lessons[0], APPROVED, "bo")], {})
        assert not store.decide([decision(lessons[0], APPROVED, "ada")], {}).clashes
        assert [each.who for each in store.history(lessons[0].id)] == ["bo", "ada"]


def test_an_unknown_memory_stops_all_of_them(filled: Path, lessons: list[MemoryEntry]) -> None:
    with Store.open(filled, mode="review") as store:
        unknown = ReviewDecision(memory="m-none", state=APPROVED, who="ada", at=1.0)
        with pytest.raises(MeritoError, match="There is no memory 'm-none'"):
            store.decide([decision(lessons[0], APPROVED), unknown], {})
        assert store.history(lessons[0].id) == []


def test_no_decision_goes_into_a_store_that_was_replaced(
    filled: Path, lessons: list[MemoryEntry], tmp_path: Path
) -> None:
    with Store.open(filled) as store:
        backup = store.backup(tmp_path / "backup.sqlite")
    with Store.open(filled, mode="review") as reviewer:
        restore(backup, filled)
        with pytest.raises(StoreTrouble, match="was replaced while it was open"):
            reviewer.review(decision(lessons[0], APPROVED))
    with Store.open(filled) as store:
        assert store.history(lessons[0].id) == []
        assert store.check() == ()


def test_who_waits_too_long_for_a_turn_is_told(
    filled: Path, lessons: list[MemoryEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.opening.TURN_SECONDS", 0.05)
    with Store.open(filled) as run, Store.open(filled, mode="review") as reviewer:
        assert run._turn is not None
        with run._turn.taken(), pytest.raises(StoreInUse, match="has been changing"):
            reviewer.review(decision(lessons[0], APPROVED))
        reviewer.review(decision(lessons[0], APPROVED))


def test_turns_are_taken_one_after_another(filled: Path, lessons: list[MemoryEntry]) -> None:
    """Two reviewers in threads of one process, a hundred decisions each."""

    def decide(who: str) -> None:
        with Store.open(filled, mode="review") as store:
            for index in range(100):
                store.review(decision(lessons[index % 6], APPROVED, who, at=float(index)))

    threads = [threading.Thread(target=decide, args=(who,)) for who in ("ada", "bo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store.open(filled, mode="read") as store:
        assert sum(len(store.history(each.id)) for each in lessons) == 200
        assert store.check() == ()


def child(work: Callable[[Callable[[str], None]], None]) -> tuple[int, int]:
    """A process that does the work until it is killed; what it says comes through a pipe."""
    there, here = os.pipe()
    pid = os.fork()
    if pid:
        os.close(here)
        return pid, there
    try:
        os.close(there)
        work(lambda line: void(os.write(here, f"{line}\n".encode())))
    finally:
        os._exit(1)


def void(_written: int) -> None:
    """Nothing."""


def said(pid: int, pipe: int) -> list[str]:
    """Kill it, and take what it had said."""
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "it worked until it was killed"
    with os.fdopen(pipe) as lines:
        return lines.read().splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed")
def test_reviewers_and_a_run_are_killed_and_nothing_acknowledged_is_lost(
    filled: Path, lessons: list[MemoryEntry]
) -> None:
    chance = random.Random(SEED)
    kept: dict[str, list[float]] = {"ada": [], "bo": []}
    runs: dict[str, int] = {}
    scripts = {f"run-{life}": list(batches(run_events(60, run=f"run-{life}"))) for life in range(6)}

    def reviews(who: str, since: int) -> Callable[[Callable[[str], None]], None]:
        def work(say: Callable[[str], None]) -> None:
            with Store.open(filled, mode="review") as store:
                say("open")
                for index in range(since, since + 100_000):
                    store.review(decision(lessons[index % 6], APPROVED, who, at=float(index)))
                    say(str(index))

        return work

    def records(run: str) -> Callable[[Callable[[str], None]], None]:
        def work(say: Callable[[str], None]) -> None:
            with Store.open(filled) as store:
                store.database.execute("PRAGMA wal_autocheckpoint = 8")
                say("open")
                for batch in scripts[run]:
                    store.append(batch)
                    say(str(batch[-1].seq))

        return work

    for life, run in enumerate(scripts):
        people = {who: child(reviews(who, 1_000_000 * life)) for who in kept}
        recording = child(records(run))
        time.sleep(chance.uniform(0.05, 0.2))
        runs[run] = max((int(line) for line in said(*recording) if line != "open"), default=0)
        for who, process in people.items():
            kept[who] += [float(line) for line in said(*process) if line != "open"]
        with Store.open(filled) as store:
            assert store.quick_check() == ()
    assert sum(runs.values()), "the runs came to write"
    assert all(kept.values()), "the reviewers came to write"
    with Store.open(filled, mode="read") as store:
        assert store.check() == ()
        history = [each for lesson in lessons for each in store.history(lesson.id)]
        stored = {who: {each.at for each in history if each.who == who} for who in kept}
        assert all(set(kept[who]) <= stored[who] for who in kept), "nothing is lost"
        for name, seq in runs.items():
            assert seq == 0 or store.run(name).last_seq >= seq


def test_what_a_reviewer_wrote_is_folded_into_the_file_at_the_end(
    filled: Path, lessons: list[MemoryEntry]
) -> None:
    with Store.open(filled, mode="review") as reviewer:
        reviewer.review(decision(lessons[0], APPROVED))
        with Store.open(filled, mode="review") as second:
            second.review(decision(lessons[1], APPROVED))
        assert len(reviewer.history(lessons[1].id)) == 1
    assert not filled.with_name(f"{filled.name}-wal").exists()
