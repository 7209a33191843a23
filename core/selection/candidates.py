"""Candidates that were executed, and their groups of equal results (map-sql.md, step 3)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from core.database.files import DatabaseFolder
from core.database.rows import (
    Execution,
    Outcome,
    ResultTable,
    Row,
    clipped,
    published_rows,
    rows_digest,
)
from core.database.sandbox import COMPLETE, Sandbox
from core.errors import MeritoError
from core.feedback.columns import TooHard
from core.feedback.denotation import PROTOCOLS, Denotation, DenotationProtocol
from core.feedback.verdict import QuestionBroken
from core.selection.grouped import Candidates, Executed
from core.selection.pool import Candidate, PooledQuestion
from core.sql import normalised

CAPS = msgspec.structs.replace(COMPLETE, bytes=64 * 1024 * 1024)
"""A pool holds one result a group in memory at once, so each may be a quarter of what an evaluation
of one query may."""
SHOWN_ROWS = 5
SHOWN_CELL = 60
SHOWN_CHARACTERS = 16_000
"""Of one result; a prompt shows less of it (`prompts.Bounds`)."""
NO_STATEMENT = Execution(outcome=Outcome.ERROR, error="there is no SQL")


class _Text(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one SQL text after its one execution."""

    table: ResultTable
    group: int
    """-1 where it did not run."""
    correct: bool | None
    problem: str = ""


@dataclass
class _Groups:
    """Results seen so far, one representative a group."""

    protocol: DenotationProtocol
    ordered: bool
    rows: list[Sequence[Row]] = field(default_factory=list)
    digests: dict[str, int] = field(default_factory=dict)

    def place(self, execution: Execution) -> int:
        """The group of a result. Runs in a thread: large results take seconds."""
        digest = rows_digest(execution)
        if digest not in self.digests:
            self.digests[digest] = self._found(published_rows(execution))
        return self.digests[digest]

    def _found(self, rows: Sequence[Row]) -> int:
        for place, known in enumerate(self.rows):
            try:
                if self.protocol.equal(rows, known, self.ordered):
                    return place
            except TooHard:
                continue
        self.rows.append(rows)
        return len(self.rows) - 1


class Executor:
    """Executes pools: each text once, grouped by the data set's own rule, judged by its gold.

    `deadline` is in seconds a statement; `golds` is keyed by question id and goes to the judge alone;
    None where nothing is judged.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        folder: DatabaseFolder,
        golds: Mapping[str, str] | None,
        protocol: str,
        deadline: float = 30.0,
    ) -> None:
        self._sandbox, self._folder, self._deadline = sandbox, folder, deadline
        self._golds = golds
        self._denotation = Denotation(sandbox, folder, golds or {}, protocol, deadline)

    async def execute(self, pooled: PooledQuestion) -> Candidates:
        """Execute and group. Raises MeritoError where the question's database cannot be used."""
        path = self._folder.path(pooled.question.database)
        by_key: dict[str, Candidate] = {}
        keys = [key_of(candidate.sql) for candidate in pooled.candidates]
        for key, candidate in zip(keys, pooled.candidates, strict=True):
            by_key.setdefault(key, candidate)
        protocol = PROTOCOLS[self._denotation.protocol.name]
        groups = _Groups(protocol, _order_counts(protocol, pooled.candidates))
        # By key, never by position: what represents a group must not depend on the presentation.
        texts: dict[str, _Text] = {}
        gold_problem = await self._gold_problem(pooled)
        unjudged = self._golds is None or bool(gold_problem)
        for key in sorted(by_key):
            texts[key] = await self._text(pooled, path, by_key[key].sql, groups, unjudged)
        return _grouped(pooled, keys, texts, gold_problem)

    async def _gold_problem(self, pooled: PooledQuestion) -> str:
        """Why nothing can be judged, or nothing."""
        if not pooled.candidates or self._golds is None:
            return ""
        if not self._golds.get(pooled.question.id):
            return "no gold SQL: it is left out of the rates"
        try:
            await self._denotation.score(pooled.question, "SELECT NULL")
        except QuestionBroken as broken:
            return f"{str(broken).rpartition(': ')[2].rstrip('.')}: it is left out of the rates"
        return ""

    async def _text(
        self, pooled: PooledQuestion, path: Path, sql: str, groups: _Groups, unjudged: bool
    ) -> _Text:
        execution = NO_STATEMENT
        if sql.strip():
            execution = await self._sandbox.execute(path, sql, deadline=self._deadline, caps=CAPS)
        ran = execution.outcome is Outcome.OK
        group = await asyncio.to_thread(groups.place, execution) if ran else -1
        correct = None
        if not unjudged:
            correct = await self._correct(pooled, sql, execution)
        return _Text(
            table=clipped(execution, rows=SHOWN_ROWS, cell=SHOWN_CELL, characters=SHOWN_CHARACTERS),
            group=group,
            correct=correct,
            problem=_STOPPED.get(execution.outcome, ""),
        )

    async def _correct(self, pooled: PooledQuestion, sql: str, execution: Execution) -> bool:
        if execution.outcome in _STOPPED:
            return False
        return (await self._denotation.score(pooled.question, sql, execution)).correct


_STOPPED = {
    Outcome.TIMEOUT: "did not end within the deadline",
    Outcome.LIMIT: "was stopped at a limit of the sandbox",
}


def key_of(sql: str) -> str:
    """What identifies a candidate's text: SHA-256 of its normalised SQL, in hex."""
    return hashlib.sha256(normalised(sql).encode("utf-8", "surrogatepass")).hexdigest()


def _order_counts(protocol: DenotationProtocol, candidates: Sequence[Candidate]) -> bool:
    """Whether the order of rows tells results apart. The rule asks the gold query, which nobody may
    see here: what more than half of the candidates do stands for it."""
    ordering = sum(protocol.order_matters(each.sql) for each in candidates)
    return 2 * ordering > len(candidates)


def _grouped(
    pooled: PooledQuestion, keys: Sequence[str], texts: Mapping[str, _Text], gold_problem: str
) -> Candidates:
    executed = tuple(
        Executed(
            sql=candidate.sql,
            source=candidate.source,
            key=key,
            table=texts[key].table,
            correct=texts[key].correct,
        )
        for key, candidate in zip(keys, pooled.candidates, strict=True)
    )
    by_group: dict[int, list[int]] = {}
    for index, key in enumerate(keys):
        by_group.setdefault(texts[key].group, []).append(index)
    errors = by_group.pop(-1, [])
    groups = sorted(by_group.values(), key=lambda group: (-len(group), min(keys[i] for i in group)))
    return Candidates(
        executed=executed,
        groups=tuple(map(tuple, [*groups, errors] if errors else groups)),
        problems=tuple(_problems(pooled, keys, texts, gold_problem)),
    )


def _problems(
    pooled: PooledQuestion, keys: Sequence[str], texts: Mapping[str, _Text], gold_problem: str
) -> list[str]:
    name = f"Question {pooled.id}"
    if not pooled.candidates:
        return [f"{name}: it has no candidates."]
    lines = [f"{name}: {gold_problem}."] if gold_problem else []
    for number, (key, candidate) in enumerate(zip(keys, pooled.candidates, strict=True), 1):
        text = texts[key]
        if text.problem:
            source = f" ({candidate.source})" if candidate.source else ""
            said = f" ({text.table.error})" if text.table.error else ""
            lines.append(f"{name}, candidate {number}{source}: it {text.problem}{said}.")
    return lines


def unusable(pooled: PooledQuestion, trouble: MeritoError) -> Candidates:
    """What stands for a question whose database cannot be used."""
    return Candidates(executed=(), groups=(), problems=(f"Question {pooled.id}: {trouble}",))
