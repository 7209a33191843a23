"""The Memory screen's library, answered from a real store and real databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from core.memory.staleness import fingerprint, with_seen
from stores.store import Store
from tests.encoders import HashingEncoder
from tests.streams import memory_entry, run_events, settings
from tui.console.stored_library import StoreLibrary


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    """The databases of the streams here, as their memories describe them."""
    for name, table in (
        ("orchard", "harvest"),
        ("tramway", "stop"),
        ("clinic", "visit"),
        ("atelier", "commission"),
    ):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as conn:
            conn.execute(
                f'CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, "full weight" REAL)'
            )
    return tmp_path


@pytest.fixture
def store(tmp_path: Path, databases: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "merito.sqlite", create=True, durability="OFF") as opened:
        opened.append(run_events(16, run_settings=settings(root=str(databases))))
        yield opened


def decided(memory: str, remark: str = "", at: float = 1.0) -> ReviewDecision:
    return ReviewDecision(memory=memory, state=ReviewState.APPROVED, who="bo", at=at, remark=remark)


async def test_only_what_moved_is_read_again(store: Store) -> None:
    library = StoreLibrary(store)
    entries = await library.entries()
    assert [each.id for each in entries] == [each.id for each in store.entries()]
    assert await library.moved() == []
    store.review(decided(entries[0].id))
    (moved,) = await library.moved()
    assert (moved.id, moved.decisions) == (entries[0].id, 1)
    store.append(run_events(8, run="run-2"))
    fresh = {each.id for each in await library.moved()}
    assert {each.id for each in store.entries()} - {each.id for each in entries} <= fresh
    assert sorted(await library.entries(), key=lambda e: e.id) == sorted(
        {each.id: each for each in (*entries, moved, *await library.entries())}.values(),
        key=lambda e: e.id,
    )


async def test_the_page_tells_where_a_memory_was_used(store: Store) -> None:
    library = StoreLibrary(store)
    used = next(each for each in await library.entries() if each.usage.right)
    page = await library.page(used.id)
    assert len(page.uses) == used.usage.retrieved
    assert sum(use.status == "CORRECT" for use in page.uses) == used.usage.right
    assert page.entry == store.entry(used.id)
    assert all(use.position > used.position and use.question for use in page.uses)


async def test_words_and_the_beginning_of_an_id_find_memories(store: Store) -> None:
    library, entry = StoreLibrary(store), store.entries()[0]
    assert entry.id in await library.matching("stops TRAM")
    assert await library.matching(entry.id[:10]) == {entry.id}
    for odd in ("", '"', "*", "\x00", "%", "NEAR("):
        assert isinstance(await library.matching(odd), frozenset)


async def test_meaning_finds_the_nearest_and_tells_how_far_it_is(store: Store) -> None:
    library, said = StoreLibrary(store, HashingEncoder()), list[str]()
    asked = store.entries()[3].context.question
    found = await library.alike(asked, said.append)
    assert len(found) == len(store.entries())
    assert said[0] == "loading the encoder ..."
    assert any(words.startswith("reading 0 of") for words in said)
    said.clear()
    assert await library.alike(asked, said.append) == found
    assert said == ["loading the encoder ..."], "each memory is read once"
    await library.close()


async def test_a_changed_database_makes_its_memories_stale_until_somebody_has_seen_it(
    store: Store, databases: Path
) -> None:
    library = StoreLibrary(store)
    assert await library.stale() == {}
    with closing(sqlite3.connect(databases / "clinic.sqlite")) as conn:
        conn.execute('ALTER TABLE visit RENAME COLUMN "full weight" TO weight')
    stale = await library.stale()
    assert stale.keys() == {e.id for e in store.entries() if e.context.database == "clinic"}
    memory, why = next(iter(stale.items()))
    assert why == ("column visit.full weight is gone", "column visit.weight is new")
    store.review(decided(memory))
    assert memory in await library.stale(), "decided without knowing"
    store.review(decided(memory, with_seen("still right", fingerprint(why)), at=2.0))
    assert memory not in await library.stale()
    with closing(sqlite3.connect(databases / "clinic.sqlite")) as conn:
        conn.execute("ALTER TABLE visit ADD COLUMN more TEXT")
    assert memory in await library.stale(), "another difference is another question"


async def test_memories_travel_by_folder(store: Store, tmp_path: Path) -> None:
    library = StoreLibrary(store)
    chosen: list[MemoryEntry] = store.entries()[:3]
    said = await library.write_out(tmp_path / "out", [each.id for each in chosen])
    assert said.startswith(f"2 in {tmp_path / 'out' / 'positives.jsonl'}, 1 in ")
    assert await library.take_in([tmp_path / "out"]) == "0 new memories, 3 known before."
    with Store.open(tmp_path / "other.sqlite", create=True) as other:
        assert await StoreLibrary(other).take_in([tmp_path / "out"]) == (
            "3 new memories, 0 known before."
        )
        assert len(await StoreLibrary(other).entries()) == 3
        assert await StoreLibrary(other).stale() == {}, "nothing is known about its database"


async def test_new_memories_join_their_group(store: Store) -> None:
    library = StoreLibrary(store)
    before = dict(await library.groups())
    store.keep([memory_entry(80, run="far"), memory_entry(84, run="far")], at=1.0)
    after = await library.groups()
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2
