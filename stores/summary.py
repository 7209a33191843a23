"""The figures of one run, from what is stored."""

from __future__ import annotations

import sqlite3

import msgspec

from core.run.events import EpisodeOutcome


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one run. Broken and skipped questions are outside every rate."""

    run: str
    questions: int
    """Questions of the stream."""
    ended: int
    """Episodes that are final."""
    right_at_once: int
    repaired: int
    repaired_with_memory: int
    """Repaired after at least one memory went into one of the episode's prompts."""
    corrected: int
    """Put right by a person who wrote the SQL."""
    failed: int
    skipped: int
    broken: int
    attempts: int
    """Repairs tried, those of unfinished episodes included."""
    repeats: int
    """Repairs that repeat an earlier SQL of their episode."""
    calls: int
    """Answered calls, the reused ones included."""
    initial_calls: int
    reflection_calls: int
    reused_calls: int
    """Calls whose answer an earlier run had paid for."""
    uncounted_calls: int
    """Calls for which the engine gave no token counts; they are missing in the sums."""
    tokens_sent: int
    tokens_cached: int
    tokens_written: int
    memories: int
    """Entries that the run taught."""
    seconds: float
    """Time worked, from first to last event without the time between sessions."""
    model_seconds: float
    database_seconds: float
    retrieval_seconds: float

    @property
    def tokens_evaluated(self) -> int:
        """Prompt tokens that the engine really worked through."""
        return self.tokens_sent - self.tokens_cached

    @property
    def judged(self) -> int:
        """Questions that count in rates."""
        return self.right_at_once + self.repaired + self.corrected + self.failed

    @property
    def initial_failures(self) -> int:
        """Judged questions whose initial SQL was wrong."""
        return self.judged - self.right_at_once

    @property
    def initial_accuracy(self) -> float | None:
        """Share of the judged questions that were right at once; None before there is one."""
        return self.right_at_once / self.judged if self.judged else None

    @property
    def accuracy(self) -> float | None:
        """Share of the judged questions that the system got right in the end; None before there is
        one. What a person corrected does not count as right."""
        return (self.right_at_once + self.repaired) / self.judged if self.judged else None

    @property
    def oscillation(self) -> float | None:
        """Share of the repairs that repeat an earlier SQL of their episode; None without repairs."""
        return self.repeats / self.attempts if self.attempts else None


EPISODES = (
    "SELECT outcome, count(*) FROM episodes WHERE run = ? AND outcome IS NOT NULL GROUP BY outcome"
)

FIGURES = """
SELECT
    (SELECT count(*) FROM episodes e WHERE e.run = :run AND e.outcome = 'repaired' AND EXISTS (
        SELECT 1 FROM retrieved r WHERE r.run = e.run AND r.position = e.position AND r.taken))
        AS repaired_with_memory,
    (SELECT count(*) FROM attempts WHERE run = :run AND attempt > 0) AS attempts,
    (SELECT count(*) FROM attempts WHERE run = :run AND attempt > 0 AND repeats IS NOT NULL)
        AS repeats,
    (SELECT count(*) FROM memories WHERE run = :run AND origin = 'run') AS memories,
    (SELECT coalesce(sum(seconds), 0.0) FROM executions WHERE run = :run) AS database_seconds,
    (SELECT coalesce(sum(longest), 0.0) FROM (
        SELECT max(seconds) AS longest FROM retrievals WHERE run = :run GROUP BY seq))
        AS retrieval_seconds,
    questions, seconds
FROM runs WHERE id = :run
"""

CALLS = """
SELECT
    count(*) AS calls,
    coalesce(sum(attempt = 0 AND purpose <> 'reflection'), 0) AS initial_calls,
    coalesce(sum(purpose = 'reflection'), 0) AS reflection_calls,
    coalesce(sum(reused), 0) AS reused_calls,
    coalesce(sum(prompt_tokens IS NULL), 0) AS uncounted_calls,
    coalesce(sum(prompt_tokens), 0) AS tokens_sent,
    coalesce(sum(cached_tokens), 0) AS tokens_cached,
    coalesce(sum(output_tokens), 0) AS tokens_written,
    coalesce(sum(seconds), 0.0) AS model_seconds
FROM calls WHERE run = :run AND answer_seq IS NOT NULL
"""

OUTCOMES = {
    EpisodeOutcome.RIGHT_AT_ONCE: "right_at_once",
    EpisodeOutcome.REPAIRED: "repaired",
    EpisodeOutcome.CORRECTED: "corrected",
    EpisodeOutcome.FAILED: "failed",
    EpisodeOutcome.SKIPPED: "skipped",
    EpisodeOutcome.BROKEN: "broken",
}


def summarise(conn: sqlite3.Connection, run: str) -> RunSummary:
    """The figures of the run with this id, which exists."""
    outcomes = dict(conn.execute(EPISODES, (run,)).fetchall())
    figures: dict[str, float] = {}
    for query in (FIGURES, CALLS):
        cursor = conn.execute(query, {"run": run})
        names = [column[0] for column in cursor.description]
        figures |= dict(zip(names, cursor.fetchone(), strict=True))
    counts = {field: outcomes.get(outcome.value, 0) for outcome, field in OUTCOMES.items()}
    return msgspec.convert(
        {"run": run, "ended": sum(outcomes.values()), **counts, **figures}, RunSummary
    )
