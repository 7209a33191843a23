"""What each event changes in the tables that are computed from events.

`project` reads nothing but the event and these tables, so the same events in the same order always
give the same rows: that is what `Store.rebuild` and `Store.check` rely on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from core.models.chat import Usage
from core.run.events import (
    AnswerWritten,
    AttemptJudged,
    CandidateDrawn,
    EpisodeEnded,
    EpisodeStarted,
    MemoriesRetrieved,
    PromptSent,
    ReflectionWritten,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    RunStarted,
    SelectorAnswered,
    SqlExecuted,
)
from stores.errors import StoreConflict
from stores.journal import LIBRARY, EntryImported, EntryReviewed, StoredEvent, decode
from stores.lessons import (
    entry_imported,
    entry_reviewed,
    hold_entry,
    keep_entry,
    memories_retrieved,
    reviews_applied,
)
from stores.rows import canonical, insert, place
from stores.schema import PROJECTED

Answered = AnswerWritten | CandidateDrawn | SelectorAnswered | ReflectionWritten

OPEN = "open"
"""The state of a run whose last session has not ended, or ended without a word."""

FINISHED = "finished"


def project(conn: sqlite3.Connection, number: int, event: StoredEvent) -> None:
    """Bring the tables up to the event with this number. Raises StoreConflict where the event
    contradicts what is stored."""
    if event.run != LIBRARY and not isinstance(event, RunStarted):
        _advance(conn, event)
    step = STEPS.get(type(event))
    if step is not None:
        step(conn, number, event)


def _advance(conn: sqlite3.Connection, event: StoredEvent) -> None:
    """Every event moves its run on; the time between two sessions is not the run's."""
    worked = "0" if isinstance(event, RunResumed) else "max(0, :at - last_at)"
    changed = conn.execute(
        f"UPDATE runs SET seconds = seconds + {worked}, last_at = :at, last_seq = :seq WHERE id = :run",
        {"at": event.at, "seq": event.seq, "run": event.run},
    )
    if changed.rowcount == 0:
        raise StoreConflict(f"The run {event.run} was never started, so nothing can be added to it.")


def _run_started(conn: sqlite3.Connection, number: int, event: RunStarted) -> None:
    if event.seq != 1:
        raise StoreConflict(f"The run {event.run} is started already.")
    row = {
        "id": event.run,
        "started": event.at,
        "last_at": event.at,
        "state": OPEN,
        "dataset": event.settings.dataset,
        "strategy": event.settings.strategy,
        "model": f"{event.model.engine}:{event.model.name}",
        "settings": canonical(event.settings),
        "questions": len(event.questions),
        "sessions": 1,
        "last_seq": event.seq,
        "seconds": 0.0,
    }
    insert(conn, "runs", row)
    for position, question in enumerate(event.questions):
        fields = {name: getattr(question, name) for name in question.__struct_fields__}
        insert(conn, "questions", {"run": event.run, "position": position, **fields})


def _run_resumed(conn: sqlite3.Connection, number: int, event: RunResumed) -> None:
    conn.execute("UPDATE runs SET state = ?, sessions = sessions + 1 WHERE id = ?", (OPEN, event.run))


def _run_ended(conn: sqlite3.Connection, number: int, event: RunEnded) -> None:
    conn.execute("UPDATE runs SET state = ? WHERE id = ?", (event.reason, event.run))


def _episode_started(conn: sqlite3.Connection, number: int, event: EpisodeStarted) -> None:
    """A resumed run may start its open episode again; a final one never."""
    if _episode_is_open(conn, event.run, event.position):
        return
    row = {"run": event.run, "position": event.position, "first_seq": event.seq, "started": event.at}
    insert(conn, "episodes", row)


def _episode_is_open(conn: sqlite3.Connection, run: str, position: int) -> bool:
    """Whether the episode was started. Raises StoreConflict where it is final."""
    found = conn.execute(
        "SELECT outcome FROM episodes WHERE run = ? AND position = ?", (run, position)
    ).fetchone()
    if found is not None and found[0] is not None:
        raise StoreConflict(f"Episode {position} of the run {run} is final; it cannot go on.")
    return found is not None


def _episode_ended(conn: sqlite3.Connection, number: int, event: EpisodeEnded) -> None:
    if not _episode_is_open(conn, event.run, event.position):
        raise StoreConflict(f"Episode {event.position} of the run {event.run} was never started.")
    if event.memory is not None:
        keep_entry(conn, number, event.memory, "run")
        if event.memory.confirmed and _holds(conn, event.run):
            hold_entry(conn, number, event.memory, event.at)
    conn.execute(
        "UPDATE episodes SET ended = ?, outcome = ?, attempts = ?, memory = ?, note = ?, seconds = ?"
        " WHERE run = ? AND position = ?",
        (
            event.at,
            event.outcome,
            event.attempts,
            event.memory.id if event.memory else None,
            event.note,
            event.seconds,
            event.run,
            event.position,
        ),
    )


def _holds(conn: sqlite3.Connection, run: str) -> bool:
    """Whether what the run learns waits for a review although it is confirmed."""
    found = conn.execute(
        "SELECT json_extract(settings, '$.review') FROM runs WHERE id = ?", (run,)
    ).fetchone()
    return found is not None and found[0] == "all"


def _prompt_sent(conn: sqlite3.Connection, number: int, event: PromptSent) -> None:
    row = {
        "purpose": event.purpose,
        "template": event.template,
        "sampling": canonical(event.sampling),
        "prompt_seq": event.seq,
    }
    insert(conn, "calls", {**place(event), **row})


def _answer_written(conn: sqlite3.Connection, number: int, event: AnswerWritten) -> None:
    purpose = "repair" if event.attempt else "initial"
    _close_call(conn, event, purpose, event.usage, finish=event.finish, reused=event.reused)
    if event.prediction_key and not event.reused:
        conn.execute(
            "INSERT OR IGNORE INTO predictions (key, run, seq) VALUES (?, ?, ?)",
            (event.prediction_key, event.run, event.seq),
        )


def _candidate_drawn(conn: sqlite3.Connection, number: int, event: CandidateDrawn) -> None:
    _close_call(conn, event, "candidate", event.usage, finish=event.finish, reused=False)


def _selector_answered(conn: sqlite3.Connection, number: int, event: SelectorAnswered) -> None:
    answer = {**_answer(event, event.usage), "finish": event.finish, "reused": False}
    row = {"purpose": "selection", "template": event.template, **answer}
    insert(conn, "calls", {**place(event), **row})


def _reflection_written(conn: sqlite3.Connection, number: int, event: ReflectionWritten) -> None:
    _close_call(conn, event, "reflection", event.usage, finish="stop", reused=False)


def _close_call(
    conn: sqlite3.Connection,
    event: AnswerWritten | CandidateDrawn | ReflectionWritten,
    purpose: str,
    usage: Usage,
    *,
    finish: str,
    reused: bool,
) -> None:
    """The answer belongs to the attempt's last prompt without one; a shared answer may have none."""
    here = place(event)
    answer = {**_answer(event, usage), "finish": finish, "reused": reused}
    opened = conn.execute(
        "SELECT max(seq) FROM calls WHERE run = :run AND position = :position AND attempt = :attempt"
        " AND answer_seq IS NULL",
        {name: here[name] for name in ("run", "position", "attempt")},
    ).fetchone()[0]
    if opened is None:
        insert(conn, "calls", {**here, "purpose": purpose, **answer})
        return
    assignments = ", ".join(f"{column} = :{column}" for column in answer)
    conn.execute(
        f"UPDATE calls SET {assignments} WHERE run = :run AND seq = :opened",
        {**answer, "run": event.run, "opened": opened},
    )


def _answer(event: Answered, usage: Usage) -> dict[str, Any]:
    """What any answer cost."""
    return {
        "answer_seq": event.seq,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "seconds": event.seconds,
    }


def _sql_executed(conn: sqlite3.Connection, number: int, event: SqlExecuted) -> None:
    result = event.result
    row = {
        "outcome": result.outcome,
        "row_count": result.row_count,
        "error": result.error,
        "seconds": result.seconds,
    }
    insert(conn, "executions", {**place(event), **row})


JUDGED = (
    "at",
    "sql",
    "status",
    "message",
    "failure",
    "rule",
    "confirmed",
    "judge",
    "remark",
    "repeats",
    "refused",
    "correction",
    "skipped",
    "limit_hit",
)


def _attempt_judged(conn: sqlite3.Connection, number: int, event: AttemptJudged) -> None:
    place = {name: getattr(event, name) for name in ("run", "position", "attempt")}
    insert(conn, "attempts", {**place, **{name: getattr(event, name) for name in JUDGED}})


Step = Callable[[sqlite3.Connection, int, Any], None]

STEPS: dict[type, Step] = {
    RunStarted: _run_started,
    RunResumed: _run_resumed,
    RunEnded: _run_ended,
    ReviewsApplied: reviews_applied,
    EpisodeStarted: _episode_started,
    MemoriesRetrieved: memories_retrieved,
    PromptSent: _prompt_sent,
    AnswerWritten: _answer_written,
    CandidateDrawn: _candidate_drawn,
    SelectorAnswered: _selector_answered,
    ReflectionWritten: _reflection_written,
    SqlExecuted: _sql_executed,
    AttemptJudged: _attempt_judged,
    EpisodeEnded: _episode_ended,
    EntryImported: entry_imported,
    EntryReviewed: entry_reviewed,
}


def replay_all(conn: sqlite3.Connection, source: sqlite3.Connection | None = None) -> None:
    """Compute every projection anew from the events of `source` (by default the same database).
    Runs inside the caller's transaction, whose foreign keys are deferred."""
    for table in reversed(PROJECTED):
        conn.execute(f'DELETE FROM "{table}"')
    conn.execute("INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')")
    rows = (source or conn).execute("SELECT number, body FROM events ORDER BY number")
    for number, body in rows:
        project(conn, number, decode(body))
