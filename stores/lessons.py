"""What events change in the library: entries, decisions about them, and where they were used."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from core.memory.entry import MemoryEntry, RankedEntry, ReviewDecision, ReviewState
from core.run.events import MemoriesRetrieved, ReviewsApplied
from stores.errors import StoreConflict
from stores.journal import EntryImported, EntryReviewed
from stores.rows import canonical, insert, place
from stores.schema import SEARCHED


def keep_entry(conn: sqlite3.Connection, number: int, entry: MemoryEntry, origin: str) -> bool:
    """Add an entry to the library; False where it is there already. Raises StoreConflict where
    another entry has its id."""
    text = canonical(entry)
    known = conn.execute("SELECT entry FROM memories WHERE id = ?", (entry.id,)).fetchone()
    if known is not None:
        if known[0] != text:
            raise StoreConflict(f"Another memory with the id {entry.id} is stored already.")
        return False
    context = entry.context
    row = {
        "number": number,
        "id": entry.id,
        "origin": origin,
        "run": entry.provenance.run,
        "position": entry.provenance.position,
        "polarity": entry.polarity,
        "failure": entry.failure,
        "database": context.database,
        "question": context.question,
        "source_key": entry.source_key,
        "failed_sql": context.failed_sql,
        "revised_sql": entry.revised_sql,
        "delta": "\n".join(entry.delta),
        "message": context.message,
        "confirmed": entry.confirmed,
        "at": entry.provenance.at,
        "entry": text,
    }
    insert(conn, "memories", row)
    insert(conn, "memories_fts", {"rowid": number, **{name: row[name] for name in SEARCHED}})
    return True


HELD = "every memory of this run waits for a review"


def hold_entry(conn: sqlite3.Connection, number: int, entry: MemoryEntry, at: float) -> None:
    """Let an entry wait for a review, as the settings of its run say."""
    decision = ReviewDecision(
        memory=entry.id, state=ReviewState.PENDING, who="merito", at=at, remark=HELD
    )
    _decide(conn, number, (decision,))


def reviews_applied(conn: sqlite3.Connection, number: int, event: ReviewsApplied) -> None:
    _decide(conn, number, event.decisions)


def entry_reviewed(conn: sqlite3.Connection, number: int, event: EntryReviewed) -> None:
    _decide(conn, number, (event.decision,))


def entry_imported(conn: sqlite3.Connection, number: int, event: EntryImported) -> None:
    if keep_entry(conn, number, event.entry, "import"):
        _decide(conn, number, event.reviews)


def _decide(conn: sqlite3.Connection, number: int, decisions: Sequence[ReviewDecision]) -> None:
    """A decision may arrive twice (from the reviewer, then with the run that obeys it)."""
    for index, decision in enumerate(decisions):
        conn.execute(
            "INSERT OR IGNORE INTO reviews (memory, at, state, who, remark, number, place)"
            " SELECT id, ?, ?, ?, ?, ?, ? FROM memories WHERE id = ?",
            (
                decision.at,
                decision.state,
                decision.who,
                decision.remark,
                number,
                index,
                decision.memory,
            ),
        )


def memories_retrieved(conn: sqlite3.Connection, number: int, event: MemoriesRetrieved) -> None:
    here = place(event)
    seconds = event.retrieval.seconds + event.retrieval.embedding_seconds
    taken = {entry.id: entry for entry in event.entries}
    rows: dict[str, dict[str, Any]] = {}
    for channel in event.retrieval.channels:
        sizes = {name: getattr(channel, name) for name in SIZES}
        insert(conn, "retrievals", {**here, **sizes, "seconds": seconds})
        for ranked in channel.candidates:
            rows.setdefault(ranked.id, _ranked(ranked, channel.channel, taken.get(ranked.id)))
    for entry in event.entries:
        rows.setdefault(entry.id, _unranked(entry))
    for row in rows.values():
        insert(conn, "retrieved", {**here, **row})


SIZES = ("channel", "legal", "typed", "fallback", "pool", "taken")
SCORES = ("rank", "score", "dense", "dense_norm", "bm25", "bm25_norm", "type_match")


def _ranked(ranked: RankedEntry, channel: str, entry: MemoryEntry | None) -> dict[str, Any]:
    """`entry` is the memory itself where it went into the prompt."""
    return {
        "memory": ranked.id,
        "channel": channel,
        "taken": entry is not None,
        "source_run": ranked.source_run,
        "source_position": ranked.source_position,
        "source_key": entry.source_key if entry else None,
        **{name: getattr(ranked, name) for name in SCORES},
    }


def _unranked(entry: MemoryEntry) -> dict[str, Any]:
    """What went into the prompt without a rank counts as retrieved all the same."""
    return {
        "memory": entry.id,
        "channel": entry.polarity,
        "taken": True,
        "source_run": entry.provenance.run,
        "source_position": entry.provenance.position,
        "source_key": entry.source_key,
    }
