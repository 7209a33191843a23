"""What can be asked about runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from core.errors import UsageMistake
from core.memory.entry import ReviewState
from core.models.chat import Answer, ModelDescription
from core.question import Question
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    JudgementAwaited,
    ReflectionWritten,
    RunResumed,
    RunSettings,
    RunStarted,
)
from core.run.progress import Progress
from stores.journal import LIBRARY
from stores.ledger import Ledger
from stores.projections import FINISHED
from stores.rows import canonical


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list of runs."""

    id: str
    started: float
    last_at: float
    state: str
    """open (its last session did not end, or goes on), finished, stopped, interrupted, ..."""
    dataset: str
    strategy: str
    model: str
    """Engine and name of the model that it began with."""
    questions: int
    ended: int
    """Episodes that are final."""
    sessions: int
    last_seq: int
    seconds: float
    """Time worked: the time between two sessions does not count."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.state == FINISHED


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is, with what it was asked to do."""

    record: RunRecord
    settings: RunSettings
    outcomes: Mapping[EpisodeOutcome, int]
    """Final episodes by outcome."""


class ResumeState(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to go on with a run."""

    run: str
    settings: RunSettings
    model: ModelDescription
    questions: tuple[Question, ...]
    problems: tuple[str, ...]
    versions: dict[str, str]
    progress: Progress


LAST = "last"
"""Names the run that began last, where a run is named."""

RECORDS = """
SELECT id, started, last_at, state, dataset, strategy, model, questions, sessions, last_seq, seconds,
    (SELECT count(*) FROM episodes WHERE run = runs.id AND outcome IS NOT NULL) AS ended
FROM runs
"""

SEEN = """
WITH began AS (
    SELECT number FROM events JOIN episodes USING (run)
    WHERE run = :run AND position = :position AND seq = first_seq)
SELECT m.id, coalesce(
    (SELECT state FROM reviews r WHERE r.memory = m.id AND r.number < began.number
        ORDER BY r.number DESC, r.place DESC LIMIT 1),
    CASE m.confirmed WHEN 1 THEN 'approved' ELSE 'pending' END)
FROM began, memories m
WHERE m.id IN (SELECT memory FROM reviews, began WHERE reviews.number > began.number)
"""

CLOSES_A_GROUP = (
    EpisodeStarted,
    CandidateDrawn,
    CandidatesSelected,
    JudgementAwaited,
    AttemptJudged,
    ReflectionWritten,
)
"""After these an unfinished episode can be taken up; what came later is done again."""


class RunReading(Ledger):
    """Questions about runs."""

    def runs(self) -> list[RunRecord]:
        """Every run, the newest first."""
        return self._records("ORDER BY started DESC, id")

    def run(self, name: str) -> RunRecord:
        """The run with this id, or the only one whose id begins so; LAST is the one that began
        last. Raises MeritoError."""
        ids = [row[0] for row in self.rows("SELECT id FROM runs ORDER BY started, id")]
        wanted = ids[-1] if ids and name == LAST else chosen(name, ids, "run")
        return self._records("WHERE id = ?", wanted)[0]

    def standings(self, known: Mapping[str, int] | None = None) -> list[Standing]:
        """The runs that have another last event than `known` says, by id; all of them where nothing
        is known. The newest first. Costs next to nothing where nothing moved."""
        known = known or {}
        heads = self.rows("SELECT id, last_seq FROM runs")
        moved = canonical([run for run, last in heads if known.get(run) != last])
        if moved == "[]":
            return []
        within = "IN (SELECT value FROM json_each(?))"
        with self.snapshot():
            records = self._records(f"WHERE id {within} ORDER BY started DESC, id", moved)
            rows = self.rows(f"SELECT id, settings FROM runs WHERE id {within}", (moved,))
            settings: dict[str, str] = {row[0]: row[1] for row in rows}
            counts = self.rows(
                "SELECT run, outcome, count(*) FROM episodes WHERE outcome IS NOT NULL"
                f" AND run {within} GROUP BY run, outcome",
                (moved,),
            )
        outcomes: dict[str, dict[EpisodeOutcome, int]] = {}
        for run, outcome, count in counts:
            outcomes.setdefault(run, {})[EpisodeOutcome(outcome)] = count
        return [
            Standing(
                record=record,
                settings=msgspec.json.decode(settings[record.id], type=RunSettings),
                outcomes=outcomes.get(record.id, {}),
            )
            for record in records
        ]

    def find_run(self, settings: RunSettings) -> RunRecord | None:
        """The newest unfinished run with equal settings, if there is one."""
        found = self._records(
            "WHERE settings = ? AND state <> ? ORDER BY started DESC, id LIMIT 1",
            canonical(settings),
            FINISHED,
        )
        return found[0] if found else None

    def opening(self, run: str) -> RunStarted:
        """The event that a run began with. Raises MeritoError where there is no such run."""
        found = self.decoded(
            "SELECT body FROM events WHERE run = ? AND seq = 1 AND run <> ?", (run, LIBRARY)
        )
        if not found:
            raise UsageMistake(f"There is no run {run}.")
        return cast("RunStarted", found[0])

    def episode(self, run: str, position: int) -> list[AnyEvent]:
        """The stored events of one episode in order; `run` is the whole id."""
        return [
            event for event in self._of_position(run, position) if not isinstance(event, RunResumed)
        ]

    def resume_state(self, name: str) -> ResumeState:
        """What is needed to go on with a run. Raises MeritoError where it is finished or unknown."""
        record = self.run(name)
        if record.finished:
            raise UsageMistake(
                f"The run {record.id} is finished.", f"See it with: merito replay {record.id}"
            )
        opening = self.opening(record.id)
        return ResumeState(
            run=record.id,
            settings=opening.settings,
            model=opening.model,
            questions=opening.questions,
            problems=opening.problems,
            versions=opening.versions,
            progress=self._progress(record),
        )

    def prediction(self, key: str) -> Answer | None:
        """The initial answer that was first given under this key (model, prompt and sampling)."""
        found = self.decoded(
            "SELECT body FROM predictions JOIN events USING (run, seq) WHERE key = ?", (key,)
        )
        if not found:
            return None
        written = cast("AnswerWritten", found[0])
        return Answer(
            text=written.text,
            usage=written.usage,
            finish="length" if written.finish == "length" else "stop",
            seconds=written.seconds,
        )

    def _progress(self, record: RunRecord) -> Progress:
        finished = {
            event.position: event
            for event in self._of_kind(record.id, "episode_ended")
            if isinstance(event, EpisodeEnded)
        }
        open_positions = self.rows(
            "SELECT position FROM episodes WHERE run = ? AND outcome IS NULL ORDER BY position",
            (record.id,),
        )
        return Progress(
            finished=finished,
            unfinished={row[0]: self._committed(record.id, row[0]) for row in open_positions},
            seen={row[0]: self._seen(record.id, row[0]) for row in open_positions},
            next_seq=record.last_seq + 1,
            entries=tuple(ending.memory for ending in finished.values() if ending.memory),
        )

    def _committed(self, run: str, position: int) -> tuple[AnyEvent, ...]:
        """An unfinished episode up to the last attempt or reflection that is complete.

        A session that ended half-way through an attempt leaves the attempt's first events behind,
        and the next session makes the whole attempt again: only the last try of each step counts.
        """
        whole: list[AnyEvent] = []
        group: list[AnyEvent] = []
        for event in self._of_position(run, position):
            if isinstance(event, RunResumed):
                group = []
                continue
            group.append(event)
            if isinstance(event, CLOSES_A_GROUP):
                whole += group
                group = []
        return tuple(whole)

    def _seen(self, run: str, position: int) -> dict[str, ReviewState]:
        """The review states in which an episode began, of memories decided about since."""
        rows = self.rows(SEEN, {"run": run, "position": position})
        return {row[0]: ReviewState(row[1]) for row in rows}

    def _of_kind(self, run: str, kind: str) -> list[AnyEvent]:
        return self.decoded(
            "SELECT body FROM events WHERE run = ? AND kind = ? ORDER BY seq", (run, kind)
        )

    def _of_position(self, run: str, position: int) -> list[AnyEvent]:
        """An episode's events, and between them the places where another session began."""
        return self.decoded(
            "SELECT body FROM events JOIN episodes USING (run) WHERE run = ? AND position = ?"
            " AND seq >= first_seq AND (kind = 'run_resumed' OR kind <> 'reviews_applied'"
            " AND json_extract(body, '$.position') = position) ORDER BY seq",
            (run, position),
        )

    def _records(self, condition: str, *parameters: object) -> list[RunRecord]:
        rows = self.rows(f"{RECORDS} {condition}", parameters)
        return [RunRecord(**dict(zip(COLUMNS, row, strict=True))) for row in rows]


COLUMNS = (
    "id",
    "started",
    "last_at",
    "state",
    "dataset",
    "strategy",
    "model",
    "questions",
    "sessions",
    "last_seq",
    "seconds",
    "ended",
)


def chosen(name: str, ids: list[str], what: str) -> str:
    """The id that `name` stands for: itself, or the only one that begins so. Raises MeritoError that
    names ids of which it may be a slip, else says what there is."""
    if name in ids:
        return name
    if not ids:
        raise UsageMistake(f"There is no {what} '{name}': the store holds none yet.")
    beginning = [candidate for candidate in ids if name and candidate.startswith(name)]
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        shown = ", ".join(beginning[:5]) + (", ..." if len(beginning) > 5 else "")
        raise UsageMistake(
            f"'{name}' names no single {what}; it could be any of {len(beginning)}: {shown}.",
            "Type more of the id.",
        )
    near = _alike(name, ids)
    raise UsageMistake(
        f"There is no {what} '{name}'.",
        f"Did you mean {', '.join(near)}?" if near else _what_there_is(what, ids),
    )


def _alike(name: str, ids: list[str]) -> list[str]:
    """A few ids that `name` is a slip for: it differs by little from how they begin."""
    import difflib

    beginnings: dict[str, list[str]] = {}
    for each in ids:
        beginnings.setdefault(each[: len(name)], []).append(each)
    near = difflib.get_close_matches(name, beginnings, _SHOWN, cutoff=_SLIP)
    return [each for beginning in near for each in beginnings[beginning]][:_SHOWN]


def _what_there_is(what: str, ids: list[str]) -> str:
    """The last runs by their ids, which tell when they began; a memory's id tells nothing."""
    if what == "memory":
        return "List them: merito memory list."
    shown = ", ".join(ids[-_SHOWN:])
    return f"There are: {shown}." if len(ids) <= _SHOWN else f"The last of {len(ids):,}: {shown}."


_SHOWN = 3
_SLIP = 0.75
"""Of 1 for equal texts: one wrong character of four is a slip, two are another word."""
