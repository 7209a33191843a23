"""The library as a list that is looked through: short rows, what changed, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from core.memory.entry import Polarity, ReviewState
from stores.ledger import PAGE
from stores.library import EntryUsage, Library, word_query
from stores.rows import canonical


class EntryRow(msgspec.Struct, frozen=True, kw_only=True):
    """An entry without its long texts."""

    id: str
    polarity: Polarity
    failure: str
    database: str
    question: str
    run: str
    position: int
    confirmed: bool
    state: ReviewState
    decisions: int
    """How many decisions its history has."""
    usage: EntryUsage

    @property
    def began(self) -> ReviewState:
        """The state in which it began."""
        return ReviewState.APPROVED if self.confirmed else ReviewState.PENDING


class EntryUse(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that an entry went into, and what happened then."""

    run: str
    position: int
    attempt: int
    at: float
    database: str
    question: str
    status: str
    """What became of the attempt; empty where it was not judged (yet)."""
    outcome: str
    """How the episode ended; empty where it did not (yet)."""


SHORT = """
SELECT id, polarity, failure, database, question, run, position, confirmed FROM memories"""

MOVED = """
SELECT id FROM memories WHERE number > :after
UNION SELECT memory FROM reviews WHERE number > :after
UNION SELECT r.memory FROM events e
    JOIN episodes p ON p.run = e.run AND p.position = json_extract(e.body, '$.position')
    JOIN retrieved r ON r.run = e.run AND r.seq BETWEEN p.first_seq AND e.seq
        AND r.position = p.position
    WHERE e.number > :after AND r.taken
        AND e.kind IN ('memories_retrieved', 'attempt_judged', 'episode_ended')"""
"""Entries about which there is anything new since an event: they came, were decided about, or were
used in an episode that has moved on."""

USES = """
SELECT r.run, r.position, r.attempt, v.at, coalesce(q.database, ''), coalesce(q.text, ''),
    coalesce(a.status, ''), coalesce(e.outcome, '')
FROM retrieved r
    JOIN events v USING (run, seq)
    LEFT JOIN questions q USING (run, position)
    LEFT JOIN episodes e USING (run, position)
    LEFT JOIN attempts a USING (run, position, attempt)
WHERE r.taken AND r.memory = ? ORDER BY v.number DESC LIMIT ?"""


class EntryRows(Library):
    """Questions about many memories at once."""

    def shelf_rows(self, ids: Iterable[str] | None = None) -> list[EntryRow]:
        """These entries, or all, oldest first."""
        within = "" if ids is None else " WHERE id IN (SELECT value FROM json_each(?))"
        wanted = [] if ids is None else [canonical(list(ids))]
        with self.snapshot():
            rows = self.rows(f"{SHORT}{within} ORDER BY number", wanted)
            reviews = self.rows("SELECT memory, state FROM reviews ORDER BY number, place")
            usages = self.usages() if ids is None else {row[0]: self.usage(row[0]) for row in rows}
        states: dict[str, str] = {}
        counts: dict[str, int] = {}
        for memory, state in reviews:
            states[memory] = state
            counts[memory] = counts.get(memory, 0) + 1
        unused = EntryUsage()
        return [
            EntryRow(
                id=row[0],
                polarity=Polarity(row[1]),
                failure=row[2],
                database=row[3],
                question=row[4],
                run=row[5],
                position=row[6],
                confirmed=bool(row[7]),
                state=ReviewState(states.get(row[0]) or ("approved" if row[7] else "pending")),
                decisions=counts.get(row[0], 0),
                usage=usages.get(row[0], unused),
            )
            for row in rows
        ]

    def newest_event(self) -> int:
        """The number of the newest event; 0 in an empty store."""
        return int(self.rows("SELECT coalesce(max(number), 0) FROM events")[0][0])

    def moved_entries(self, after: int) -> list[str]:
        """The entries about which there is something new since the event with this number."""
        return [row[0] for row in self.rows(MOVED, {"after": after})]

    def entry_uses(self, memory: str, limit: int = 200) -> list[EntryUse]:
        """The prompts that an entry went into, the newest first."""
        names = EntryUse.__struct_fields__
        return [
            EntryUse(**dict(zip(names, row, strict=True))) for row in self.rows(USES, (memory, limit))
        ]

    def matching(self, text: str) -> frozenset[str]:
        """The entries in which every word of the text occurs (beginnings count), and those whose id
        begins so."""
        words = word_query(text)
        found = self.rows(
            "SELECT id FROM memories WHERE id >= ?1 AND id < ?1 || char(1114111)", (text,)
        )
        if words:
            found += self.rows(
                "SELECT m.id FROM memories_fts JOIN memories m ON m.number = memories_fts.rowid"
                " WHERE memories_fts MATCH ?",
                (words,),
            )
        return frozenset(row[0] for row in found)

    def transitions(self, after: int = 0) -> Iterator[tuple[int, Sequence[str]]]:
        """Number, and id, polarity, failure type, failed and revised SQL of each entry that came after
        the event with this number."""
        query = (
            "SELECT number, id, polarity, failure, failed_sql, revised_sql FROM memories"
            f" WHERE number > ? ORDER BY number LIMIT {PAGE}"
        )
        while page := self.rows(query, (after,)):
            for row in page:
                yield row[0], row[1:]
            after = page[-1][0]

    def schemas(self) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """Run, database and schema text that entries were learned with, and the ids of those."""
        rows = self.rows(
            "SELECT run, database, json_extract(entry, '$.context.schema_text') AS schema,"
            " json_group_array(id) FROM memories GROUP BY run, database, schema"
        )
        return [(*row[:3], tuple(msgspec.json.decode(row[3], type=list[str]))) for row in rows]
