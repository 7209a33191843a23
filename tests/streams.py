"""Realistic event streams for everybody's tests: valid sequences as a run would yield them.

`run_events(n)` is a whole run whose episodes are right at once, repaired, failed, skipped or
broken; its memories are retrieved by later episodes of the same run. `episode_events` is one
episode. Every event has its place: sequence numbers without a gap, rising times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from core.database.rows import Outcome, ResultTable
from core.feedback.verdict import FailureType, Status
from core.memory.entry import (
    ChannelRetrieval,
    Context,
    MemoryEntry,
    Polarity,
    Provenance,
    RankedEntry,
    Retrieval,
)
from core.models.chat import Message, ModelDescription, Sampling, Usage
from core.question import Question
from core.run.events import (
    CLOSING,
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    Hint,
    MemoriesRetrieved,
    ModelStumbled,
    PromptSent,
    ReflectionWritten,
    RunEnded,
    RunSettings,
    RunStarted,
    SqlExecuted,
    TokenDelta,
)

EPOCH = 1_790_000_000.0
MODEL = ModelDescription(engine="scripted", name="qwen-scripted", context_tokens=8192, digest="d1")

SUBJECTS = (
    ("orchard", "harvest", "Which orchard picked the most {0} crates in week {1}?"),
    ("tramway", "stop", "How many {0} stops does line {1} serve?"),
    ("clinic", "visit", "List the {0} visits that lasted over {1} minutes."),
    ("atelier", "commission", "What did the {0} commission number {1} cost?"),
)
WORDS = ("early", "late", "amber", "northern", "quiet", "double", "first", "open")

FAILURES = (
    (FailureType.SCHEMA_LINKING, Status.EXECUTION_ERROR, "no such column: h.weight"),
    (FailureType.RESULT_MISMATCH, Status.DENOTATION_MISMATCH, ""),
    (FailureType.SYNTAX, Status.EXECUTION_ERROR, 'near "FORM": syntax error'),
    (FailureType.AGGREGATION, Status.EXECUTION_ERROR, "misuse of aggregate: SUM()"),
    (FailureType.EXECUTION, Status.TIMEOUT, "the statement ran longer than 30 s"),
)

HOSTILE = "[/x] [b]bold[/] {0} \x00 \x1b[31m \u202e ‮ 'quote' \"name\" ; -- \ufffd \U0001f33e \r\n\t"
"""Text that has broken terminals, markup parsers and databases. No lone surrogates: JSON has no
place for those, so events never carry them."""

Plan = tuple[EpisodeOutcome, int]
"""How an episode shall end, after how many repairs."""

PLANS: tuple[Plan, ...] = (
    (EpisodeOutcome.RIGHT_AT_ONCE, 0),
    (EpisodeOutcome.REPAIRED, 1),
    (EpisodeOutcome.FAILED, 7),
    (EpisodeOutcome.REPAIRED, 3),
    (EpisodeOutcome.RIGHT_AT_ONCE, 0),
    (EpisodeOutcome.SKIPPED, 1),
    (EpisodeOutcome.REPAIRED, 2),
    (EpisodeOutcome.BROKEN, 0),
)


def question(position: int, *, text: str | None = None) -> Question:
    """The question that the streams here ask at `position`; all differ."""
    database, _, pattern = SUBJECTS[position % len(SUBJECTS)]
    word = WORDS[position % len(WORDS)]
    return Question(
        id=f"q{position}",
        database=database,
        text=text if text is not None else pattern.format(word, position),
        difficulty=("easy", "medium", "hard")[position % 3],
    )


def settings(**changes: object) -> RunSettings:
    """Settings of a run; `changes` replace fields."""
    fields: dict[str, object] = {"dataset": "sample", "strategy": "merit", "model": MODEL.name}
    return RunSettings(**(fields | changes))  # type: ignore[arg-type]


def schema_text(asked: Question) -> str:
    """A CREATE TABLE statement that fits the question."""
    table = next(table for database, table, _ in SUBJECTS if database == asked.database)
    return f'CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, "full weight" REAL);'


def sql_of(asked: Question, attempt: int) -> str:
    """The SQL that the scripted model writes in an attempt; it differs for each."""
    table = next(table for database, table, _ in SUBJECTS if database == asked.database)
    return f"SELECT name, COUNT(*) FROM {table} WHERE id > {attempt} GROUP BY name"


def memory_entry(
    position: int,
    *,
    run: str = "run-1",
    polarity: Polarity = Polarity.POSITIVE,
    asked: Question | None = None,
    attempt: int = 1,
    failure: int = 0,
    confirmed: bool = True,
    at: float = EPOCH,
) -> MemoryEntry:
    """What the episode at `position` teaches; `failure` is an index into FAILURES."""
    asked = asked or question(position)
    kind, status, message = FAILURES[failure % len(FAILURES)]
    before, after = sql_of(asked, attempt - 1), sql_of(asked, attempt)
    good = polarity is Polarity.POSITIVE
    identity = f"{run}\x1f{position}\x1f{before}\x1f{after}\x1f{polarity}"
    return MemoryEntry(
        id=hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        polarity=polarity,
        context=Context(
            question=asked.text,
            database=asked.database,
            schema_text=schema_text(asked),
            failed_sql=before,
            status=status,
            message=message,
            evidence=asked.evidence,
        ),
        failure=kind,
        revised_sql=after,
        delta=(f"replaced predicate: id > {attempt - 1} -> id > {attempt}",),
        outcome=Status.CORRECT if good else status,
        outcome_message="" if good else message,
        provenance=Provenance(
            run=run,
            position=position,
            question_id=asked.id,
            strategy="merit",
            model=MODEL.name,
            from_attempt=attempt - 1,
            to_attempt=attempt,
            at=at,
            regime="denotation" if confirmed else "execution",
        ),
        confirmed=confirmed,
    )


@dataclass
class EventWriter:
    """Numbers and dates events as a run does."""

    run: str = "run-1"
    seq: int = 0
    at: float = EPOCH
    step: float = 0.25
    events: list[AnyEvent] = field(default_factory=list)

    def add(self, kind: type[AnyEvent], **fields: object) -> None:
        """Append one event of `kind`; a TokenDelta takes no number."""
        self.at += self.step
        number = 0
        if kind is not TokenDelta:
            self.seq += 1
            number = self.seq
        self.events.append(kind(run=self.run, seq=number, at=self.at, **fields))  # type: ignore[arg-type]


def episode_events(
    position: int,
    outcome: EpisodeOutcome = EpisodeOutcome.REPAIRED,
    repairs: int = 1,
    *,
    run: str = "run-1",
    after: int = 1,
    at: float = EPOCH,
    known: Sequence[MemoryEntry] = (),
    asked: Question | None = None,
    deltas: bool = False,
    reflections: bool = False,
    repeats: bool = False,
    stumble: bool = False,
    confirmed: bool = True,
    message: str | None = None,
) -> list[AnyEvent]:
    """One whole episode whose first event has the number `after` + 1.

    `known` are the legal memories: up to three positives and one negative are retrieved for each
    repair. `deltas` adds TokenDelta events, `reflections` one reflection a failed attempt,
    `repeats` lets the last failed repair repeat the attempt before it, `stumble` one failure of
    the engine. `message` replaces every DBMS message.
    """
    writer = EventWriter(run=run, seq=after, at=at)
    asked = asked or question(position)
    writer.add(EpisodeStarted, position=position, question=asked)
    begun = writer.at
    if outcome is not EpisodeOutcome.BROKEN:
        last = repairs - 1 if outcome is EpisodeOutcome.REPAIRED else repairs
        for attempt in range(repairs + 1):
            right = attempt == repairs and outcome in (
                EpisodeOutcome.REPAIRED,
                EpisodeOutcome.RIGHT_AT_ONCE,
            )
            repeated = repeats and attempt == last and attempt > 1
            if stumble and attempt == 0:
                _stumble(writer, position)
            _attempt(writer, position, attempt, asked, known, right, repeated, deltas, message)
            if reflections and not right:
                _reflection(writer, position, attempt)
    writer.add(
        EpisodeEnded,
        position=position,
        outcome=outcome,
        attempts=repairs,
        memory=_lesson(writer, position, outcome, repairs, asked, confirmed),
        note="the gold query fails: no such table: gone" if outcome is EpisodeOutcome.BROKEN else "",
        seconds=writer.at - begun,
    )
    return writer.events


def run_events(
    n: int = 8,
    *,
    run: str = "run-1",
    plans: Sequence[Plan] = PLANS,
    run_settings: RunSettings | None = None,
    end: str | None = "finished",
    deltas: bool = False,
    reflections: bool = False,
    at: float = EPOCH,
) -> list[AnyEvent]:
    """A run of `n` questions; episode i ends as plan i (modulo their number) says.

    `end` is the reason of the RunEnded event; None leaves the run open, as a killed process does.
    """
    writer = EventWriter(run=run, at=at)
    stream = tuple(question(position) for position in range(n))
    writer.add(
        RunStarted,
        settings=run_settings or settings(),
        model=MODEL,
        questions=stream,
        versions={"merito": "0.1.0", "sqlite": "3.40.1", "prompts": "p1"},
    )
    known: list[MemoryEntry] = []
    for position, asked in enumerate(stream):
        outcome, repairs = plans[position % len(plans)]
        episode = episode_events(
            position,
            outcome,
            repairs,
            run=run,
            after=writer.seq,
            at=writer.at,
            known=known,
            asked=asked,
            deltas=deltas,
            reflections=reflections,
            repeats=position % 2 == 1 or repairs > 3,
            stumble=position % 5 == 4,
        )
        writer.events += episode
        last = episode[-1]
        assert isinstance(last, EpisodeEnded)
        writer.seq, writer.at = last.seq, last.at
        if last.memory is not None:
            known.append(last.memory)
    if end is not None:
        writer.add(RunEnded, reason=end)
    return writer.events


def unconfirmed_events(regime: str, *, rows: int = 1) -> list[AnyEvent]:
    """A run whose judge confirms nothing: a question taken at once and one after a repair, with `rows`
    rows each."""
    plans = ((EpisodeOutcome.RIGHT_AT_ONCE, 0), (EpisodeOutcome.REPAIRED, 1))
    made = settings(regime=regime)
    events: list[AnyEvent] = []
    for event in run_events(2, plans=plans, run_settings=made):
        if isinstance(event, SqlExecuted) and not event.result.error:
            kept = replace(event.result, rows=event.result.rows[:rows], row_count=rows)
            event = replace(event, result=kept)
        elif isinstance(event, AttemptJudged):
            event = replace(event, confirmed=False, judge=regime)
        events.append(event)
    return events


def batches(events: Sequence[AnyEvent]) -> Iterator[list[AnyEvent]]:
    """The stored events cut as the recorder commits them; a tail that nothing closes is left out."""
    batch: list[AnyEvent] = []
    for event in events:
        if isinstance(event, TokenDelta):
            continue
        batch.append(event)
        if isinstance(event, CLOSING):
            yield batch
            batch = []


def _attempt(
    writer: EventWriter,
    position: int,
    attempt: int,
    asked: Question,
    known: Sequence[MemoryEntry],
    right: bool,
    repeated: bool,
    deltas: bool,
    message: str | None,
) -> None:
    sql = sql_of(asked, attempt - 1 if repeated else attempt)
    place = {"position": position, "attempt": attempt}
    if attempt and known:
        retrieval, entries = _retrieval(asked, known, sql_of(asked, attempt - 1))
        writer.add(MemoriesRetrieved, **place, retrieval=retrieval, entries=entries)
    writer.add(
        PromptSent,
        **place,
        purpose="repair" if attempt else "initial",
        template="repair@1" if attempt else "initial@1",
        messages=(Message("user", f"{schema_text(asked)}\n\n{asked.text}"),),
        sampling=Sampling(),
        hints=(Hint(kind="empty-result", text="no row has id > 0", attempt=0),) if attempt == 1 else (),
    )
    text = f"<answer>{sql}</answer>"
    if deltas:
        for start in range(0, len(text), 8):
            writer.add(TokenDelta, **place, text=text[start : start + 8])
    writer.add(
        AnswerWritten,
        **place,
        text=text,
        sql=sql,
        usage=Usage(prompt_tokens=400 + 60 * attempt, cached_tokens=320, output_tokens=24),
        seconds=0.5,
    )
    _judged(writer, place, sql, right, repeated, message)


def _judged(
    writer: EventWriter,
    place: dict[str, int],
    sql: str,
    right: bool,
    repeated: bool,
    message: str | None,
) -> None:
    kind, status, words = FAILURES[(place["position"] + place["attempt"]) % len(FAILURES)]
    words = words if message is None else message
    if not repeated:
        writer.add(SqlExecuted, **place, sql=sql, result=_result(right, status, words))
    writer.add(
        AttemptJudged,
        **place,
        sql=sql,
        status=Status.CORRECT if right else status,
        message="" if right else words,
        failure=None if right else kind,
        rule="" if right else f"rule {kind.value}",
        confirmed=True,
        judge="denotation",
        repeats=place["attempt"] - 1 if repeated else None,
    )


def _result(right: bool, status: Status, words: str) -> ResultTable:
    if status is Status.TIMEOUT and not right:
        return ResultTable(outcome=Outcome.TIMEOUT, error=words, seconds=30.0)
    if status is Status.EXECUTION_ERROR and not right:
        return ResultTable(outcome=Outcome.ERROR, error=words, seconds=0.001)
    return ResultTable(
        outcome=Outcome.OK,
        columns=("name", "COUNT(*)"),
        rows=(("Nørre [b]Allé[/b]", 3), (None, 1), ("żółw", 2.5)),
        row_count=3,
        seconds=0.002,
    )


def _reflection(writer: EventWriter, position: int, attempt: int) -> None:
    place = {"position": position, "attempt": attempt}
    writer.add(
        PromptSent,
        **place,
        purpose="reflection",
        template="reflection@1",
        messages=(Message("user", "What went wrong so far?"),),
        sampling=Sampling(),
    )
    writer.add(
        ReflectionWritten,
        **place,
        text=f"Attempt {attempt} grouped before it filtered.",
        usage=Usage(prompt_tokens=300, cached_tokens=None, output_tokens=40),
        seconds=0.7,
    )


def _stumble(writer: EventWriter, position: int) -> None:
    writer.add(
        ModelStumbled,
        position=position,
        attempt=0,
        problem="The engine at 127.0.0.1:11434 refused the connection.",
        mend="Start it with: ollama serve",
        retry_in=1.0,
    )


def _retrieval(
    asked: Question, known: Sequence[MemoryEntry], current_sql: str
) -> tuple[Retrieval, tuple[MemoryEntry, ...]]:
    channels: list[ChannelRetrieval] = []
    chosen: list[MemoryEntry] = []
    for polarity, quota in ((Polarity.POSITIVE, 3), (Polarity.NEGATIVE, 1)):
        legal = [e for e in known if e.polarity is polarity and e.source_key != asked.source_key]
        ranked = tuple(_ranked(entry, rank) for rank, entry in enumerate(reversed(legal), start=1))
        taken = list(reversed(legal))[:quota]
        chosen += taken
        channels.append(
            ChannelRetrieval(
                channel=polarity.value,
                legal=len(legal),
                typed=len(legal) // 2,
                fallback=len(legal) // 2 < 3,
                pool=len(legal),
                candidates=ranked[:10],
                taken=len(taken),
            )
        )
    retrieval = Retrieval(
        dense_text=f"{asked.text} {current_sql}",
        lexical_text=asked.text,
        channels=tuple(channels),
        seconds=0.001,
        embedding_seconds=0.01,
    )
    return retrieval, tuple(chosen)


def _ranked(entry: MemoryEntry, rank: int) -> RankedEntry:
    return RankedEntry(
        id=entry.id,
        rank=rank,
        score=1 / rank,
        dense=0.9 / rank,
        dense_norm=1 / rank,
        bm25=4.0 / rank,
        bm25_norm=1 / rank,
        type_match=rank % 2 == 1,
        source_run=entry.provenance.run,
        source_position=entry.provenance.position,
    )


def _lesson(
    writer: EventWriter,
    position: int,
    outcome: EpisodeOutcome,
    repairs: int,
    asked: Question,
    confirmed: bool,
) -> MemoryEntry | None:
    polarity = {
        EpisodeOutcome.REPAIRED: Polarity.POSITIVE,
        EpisodeOutcome.FAILED: Polarity.NEGATIVE,
    }.get(outcome)
    if polarity is None:
        return None
    return memory_entry(
        position,
        run=writer.run,
        polarity=polarity,
        asked=asked,
        attempt=repairs,
        failure=position + repairs - 1,
        confirmed=confirmed,
        at=writer.at,
    )
