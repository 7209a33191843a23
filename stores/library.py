"""What can be asked about memories, and how people review them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from core.errors import MeritoError
from core.feedback.verdict import FailureType
from core.memory.entry import MemoryEntry, Polarity, ReviewDecision, ReviewState
from stores.errors import StoreConflict
from stores.journal import LIBRARY, EntryImported, EntryReviewed
from stores.ledger import Ledger, as_stored
from stores.rows import canonical
from stores.runs import chosen

_entries = msgspec.json.Decoder(MemoryEntry)

STATE = """coalesce(
    (SELECT state FROM reviews WHERE memory = m.id ORDER BY number DESC, place DESC LIMIT 1),
    CASE m.confirmed WHEN 1 THEN 'approved' ELSE 'pending' END)"""
"""An entry's review state: its newest decision, or where it starts (merit.md, "Memory entry")."""


USAGE = """
SELECT r.memory, count(*), count(DISTINCT r.run || char(31) || r.position),
    count(DISTINCT CASE e.outcome WHEN 'repaired' THEN r.run || char(31) || r.position END),
    count(CASE a.status WHEN 'CORRECT' THEN 1 END)
FROM retrieved r
    LEFT JOIN episodes e USING (run, position)
    LEFT JOIN attempts a USING (run, position, attempt)
WHERE r.taken"""


class EntryFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries are meant; a field that is left out allows everything."""

    polarity: Polarity | None = None
    failure: FailureType | None = None
    database: str | None = None
    state: ReviewState | None = None
    run: str | None = None
    """The whole id of the run that taught them."""
    before: int | None = None
    """Only entries whose source position is lower: the causal rule within one run."""
    text: str = ""
    """Words that all occur in question, SQL, delta, message or database; beginnings count."""
    limit: int | None = None


class EntryUsage(msgspec.Struct, frozen=True):
    """What became of an entry after it was learned."""

    retrieved: int = 0
    """Prompts that it went into."""
    episodes: int = 0
    """Episodes that these prompts belong to."""
    repaired: int = 0
    """Those of the episodes that ended repaired."""
    right: int = 0
    """Those of the prompts whose answer was right."""


class Clash(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that was held back, since somebody else had decided meanwhile."""

    wanted: ReviewDecision
    theirs: ReviewDecision
    """The newest decision there is, which the reviewer had not seen."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """What became of decisions."""

    kept: tuple[ReviewDecision, ...]
    clashes: tuple[Clash, ...] = ()


class Library(Ledger):
    """Questions about memories, and their reviews."""

    def entries(self, wanted: EntryFilter | None = None) -> list[MemoryEntry]:
        """The entries that the filter allows, oldest first; with `text`, best match first."""
        wanted = wanted or EntryFilter()
        conditions, parameters = _conditions(wanted)
        words = word_query(wanted.text)
        source = "memories m"
        order = "m.number"
        if words:
            source = "memories_fts JOIN memories m ON m.number = memories_fts.rowid"
            conditions.append("memories_fts MATCH :words")
            parameters["words"] = words
            order = "memories_fts.rank, m.number"
        where = " AND ".join(conditions) or "1"
        parameters["limit"] = -1 if wanted.limit is None else wanted.limit
        rows = self.rows(
            f"SELECT m.entry FROM {source} WHERE {where} ORDER BY {order} LIMIT :limit", parameters
        )
        return [_entries.decode(row[0]) for row in rows]

    def library(self, run: str | None = None) -> list[MemoryEntry]:
        """What other runs had taught, and what was imported, when the run with this id began, oldest
        first and in any review state; for a run that is new to the store: until now."""
        rows = self.rows(
            "SELECT entry FROM memories WHERE number < coalesce("
            "(SELECT number FROM events WHERE run = :run AND run <> '' AND seq = 1), 1 << 62)"
            " ORDER BY number",
            {"run": run or ""},
        )
        return [_entries.decode(row[0]) for row in rows]

    def entry(self, name: str) -> MemoryEntry:
        """The entry with this id, or the only one whose id begins so. Raises MeritoError."""
        rows = self.rows("SELECT entry FROM memories WHERE id = ?", (name,))
        if not rows:
            ids = [row[0] for row in self.rows("SELECT id FROM memories ORDER BY id")]
            rows = self.rows("SELECT entry FROM memories WHERE id = ?", (chosen(name, ids, "memory"),))
        return _entries.decode(rows[0][0])

    def review(self, decision: ReviewDecision, *further: ReviewDecision) -> None:
        """Keep decisions about entries; all or none. Nothing is ever overwritten: an undo is
        another decision. Raises MeritoError for an unknown entry."""
        decisions = (decision, *further)
        for one in decisions:
            self.entry(one.memory)
        self.append_own(
            [EntryReviewed(run=LIBRARY, seq=0, at=one.at, decision=one) for one in decisions]
        )

    def decide(self, decisions: Sequence[ReviewDecision], seen: Mapping[str, int]) -> Decided:
        """Keep the decisions of a reviewer who had seen so many earlier decisions about each entry.

        Those about entries that somebody has decided otherwise about since are held back and given
        with what was decided; the others are kept, all or none. Reviewers in several processes, and
        a run that is recorded meanwhile, take turns. Raises MeritoError for an unknown entry.
        """
        kept: list[ReviewDecision] = []
        clashes: list[Clash] = []
        with self._transaction() as conn:
            for one in decisions:
                theirs = _unseen(conn, one.memory, seen.get(one.memory, 0))
                if theirs is None or (theirs.state is one.state and not one.remark):
                    kept.append(one)
                else:
                    clashes.append(Clash(wanted=one, theirs=theirs))
            self._add_own(
                conn, [EntryReviewed(run=LIBRARY, seq=0, at=one.at, decision=one) for one in kept]
            )
        return Decided(kept=tuple(kept), clashes=tuple(clashes))

    def undo_of(self, memory: str, *, who: str, at: float, remark: str = "") -> ReviewDecision:
        """The decision that takes back an entry's last one: it brings back the state before it.
        Raises StoreConflict where there is nothing to take back."""
        history = self.history(memory)
        if not history:
            raise StoreConflict(f"Nobody has decided about the memory {memory} yet.")
        before = history[-2].state if len(history) > 1 else self._first_state(memory)
        return ReviewDecision(
            memory=memory, state=before, who=who, at=at, remark=remark or "last decision taken back"
        )

    def history(self, memory: str) -> list[ReviewDecision]:
        """Every decision about an entry, oldest first."""
        return [_decision(row) for row in self.rows(HISTORY, (memory,))]

    def review_states(self, ids: Sequence[str] | None = None) -> dict[str, ReviewState]:
        """The review state of these entries, or of all."""
        rows = self.rows(f"SELECT m.id, {STATE} FROM memories m ORDER BY m.number")
        wanted = None if ids is None else set(ids)
        return {row[0]: ReviewState(row[1]) for row in rows if wanted is None or row[0] in wanted}

    def usage(self, memory: str) -> EntryUsage:
        """How often an entry was used, and how often the question was then repaired."""
        rows = self.rows(f"{USAGE} AND r.memory = ? GROUP BY r.memory", (memory,))
        return EntryUsage(*rows[0][1:]) if rows else EntryUsage()

    def usages(self) -> dict[str, EntryUsage]:
        """`usage` of every entry that ever went into a prompt."""
        rows = self.rows(f"{USAGE} GROUP BY r.memory")
        return {row[0]: EntryUsage(*row[1:]) for row in rows}

    def keep(
        self,
        entries: Iterable[MemoryEntry],
        *,
        at: float,
        reviews: Mapping[str, Sequence[ReviewDecision]] | None = None,
    ) -> int:
        """Add entries that came from elsewhere, with what was decided about them there (by id); all
        or none. Those that are stored already are passed over with their reviews. Returns how many
        were new. Raises StoreConflict where an id stands for another entry here."""
        histories = reviews or {}
        fresh: dict[str, EntryImported] = {}
        for entry in entries:
            imported, _ = as_stored(
                EntryImported(
                    run=LIBRARY, seq=0, at=at, entry=entry, reviews=tuple(histories.get(entry.id, ()))
                )
            )
            known = self._text_of(entry.id)
            earlier = canonical(fresh[entry.id].entry) if entry.id in fresh else known
            if earlier is not None and earlier != canonical(imported.entry):
                raise StoreConflict(
                    f"Another memory with the id {entry.id} is stored already.",
                    "Nothing was imported. Import into another --store.",
                )
            if earlier is None:
                fresh[entry.id] = imported
        self.append_own(tuple(fresh.values()))
        return len(fresh)

    def teaching_run(self, name: str) -> str:
        """The id of the run that this id or beginning of one stands for, among the runs stored here
        and those that taught an imported memory. Raises MeritoError."""
        rows = self.rows("SELECT id FROM runs UNION SELECT run FROM memories ORDER BY 1")
        return chosen(name, [row[0] for row in rows], "run")

    def newest(self) -> tuple[int, str]:
        """How many entries there are, and the id of the newest ('' where there is none)."""
        rows = self.rows("SELECT count(*), coalesce(max(number), 0) FROM memories")
        found = self.rows("SELECT id FROM memories WHERE number = ?", (rows[0][1],))
        return rows[0][0], found[0][0] if found else ""

    def _first_state(self, memory: str) -> ReviewState:
        return ReviewState.APPROVED if self.entry(memory).confirmed else ReviewState.PENDING

    def _text_of(self, memory: str) -> str | None:
        rows = self.rows("SELECT entry FROM memories WHERE id = ?", (memory,))
        return rows[0][0] if rows else None


HISTORY = """
SELECT memory, state, who, at, remark FROM reviews WHERE memory = ? ORDER BY number, place"""


def _decision(row: Sequence[Any]) -> ReviewDecision:
    memory, state, who, at, remark = row
    return ReviewDecision(memory=memory, state=ReviewState(state), who=who, at=at, remark=remark)


def _unseen(conn: sqlite3.Connection, memory: str, seen: int) -> ReviewDecision | None:
    """The newest decision, where there are more than were seen. Raises MeritoError for an unknown
    entry."""
    if conn.execute("SELECT 1 FROM memories WHERE id = ?", (memory,)).fetchone() is None:
        raise MeritoError(f"There is no memory '{memory}' in this store.", "Read the library again.")
    rows = conn.execute(HISTORY, (memory,)).fetchall()
    return _decision(rows[-1]) if len(rows) > seen else None


COLUMNS = (
    ("polarity", "m.polarity = :polarity"),
    ("failure", "m.failure = :failure"),
    ("database", "m.database = :database COLLATE NOCASE"),
    ("state", f"{STATE} = :state"),
    ("run", "m.run = :run"),
    ("before", "m.position < :before"),
)


def _conditions(wanted: EntryFilter) -> tuple[list[str], dict[str, object]]:
    """The conditions of the fields that are set, with their values."""
    chosen_fields = [(name, sql) for name, sql in COLUMNS if getattr(wanted, name) is not None]
    return [sql for _, sql in chosen_fields], {name: getattr(wanted, name) for name, _ in chosen_fields}


def word_query(text: str) -> str:
    """What a person typed as an FTS5 query that means just these words, beginnings included."""
    words = text.replace("\x00", " ").replace('"', " ").split()
    return " ".join(f'"{word}"*' for word in words)
