"""Events and memories without their values: one row for each kind, and none passes without a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self, TypeVar, cast

from msgspec.structs import replace

from core.database.rows import ResultTable
from core.errors import MeritoError
from core.memory.entry import ChannelRetrieval, MemoryEntry, ReviewDecision
from core.memory.jsonl import Reviewed
from core.models.chat import Message, ModelDescription
from core.question import Question
from core.redaction.texts import Words
from core.run import events
from core.run.events import AnyEvent, RunSettings
from core.selection.grouped import Candidates, Executed

E = TypeVar("E", bound=events.Event)

PROGRAM = frozenset({"denotation", "execution", "consensus", "operator", "database", "extraction", ""})
"""Judges that are no persons."""


class Redaction:
    """Replaces literals in SQL, rows, values in questions, remarks, prompts and answers, all of one
    run or one export alike."""

    def __init__(self) -> None:
        self._words = Words()

    @classmethod
    def of_run(cls, story: Callable[[], Iterable[AnyEvent]]) -> Self:
        """For a run, whose events are read twice: for the names that may stay, and for the values
        that may not."""
        made = cls()
        for event in story():
            made._learn_names(event)
        for event in story():
            made._learn_values(event)
        return made

    @classmethod
    def of_entries(cls, entries: Iterable[MemoryEntry]) -> Self:
        """For memories that leave together."""
        made, held = cls(), list(entries)
        for entry in held:
            made._learn_entry_names(entry)
        for entry in held:
            made._learn_entry_values(entry)
        return made

    def event(self, event: AnyEvent) -> AnyEvent:
        """The event without its values; what it means for figures and views is the same. Raises
        MeritoError for a kind of event that has no row."""
        name = str(event.__struct_config__.tag)
        if name not in ROWS:
            raise MeritoError(f"Nobody has said what is to be redacted in an event '{name}'.")
        return cast("AnyEvent", ROWS[name](self, event))

    def entry(self, entry: MemoryEntry) -> MemoryEntry:
        """The memory without its values. It keeps its id."""
        context = entry.context
        return replace(
            entry,
            context=replace(
                context,
                question=self._words.prose(context.question),
                schema_text=self._words.sql(context.schema_text),
                failed_sql=self._words.sql(context.failed_sql),
                message=self._told(context.message),
                evidence=self._words.prose(context.evidence),
            ),
            revised_sql=self._words.sql(entry.revised_sql),
            delta=tuple(map(self._told, entry.delta)),
            outcome_message=self._told(entry.outcome_message),
            provenance=replace(entry.provenance, judge=self._person(entry.provenance.judge)),
            reflections=tuple(self._words.hidden(text, "reflection") for text in entry.reflections),
            encoder_cuts=tuple(map(self._told, entry.encoder_cuts)),
        )

    def decision(self, decision: ReviewDecision) -> ReviewDecision:
        """The decision without who made it and why."""
        remark = self._words.hidden(decision.remark, "remark")
        return replace(decision, who=self._person(decision.who), remark=remark)

    def reviewed(self, memories: Iterable[Reviewed]) -> list[Reviewed]:
        """Memories with what people have decided about them, as an export holds them."""
        return [
            Reviewed(entry=self.entry(each.entry), reviews=tuple(map(self.decision, each.reviews)))
            for each in memories
        ]

    def _learn_names(self, event: AnyEvent) -> None:
        if isinstance(event, events.RunStarted):
            for question in event.questions:
                self._words.learn_name(question.database)
        elif isinstance(event, events.EpisodeStarted):
            self._words.learn_name(event.question.database)
        elif isinstance(event, events.PromptSent):
            for message in event.messages:
                self._words.learn_schema(message.content)
        for entry in _entries_of(event):
            self._learn_entry_names(entry)

    def _learn_values(self, event: AnyEvent) -> None:
        self._words.learn_sql(getattr(event, "sql", ""))
        if isinstance(event, events.SqlExecuted):
            self._words.learn_cells(event.result.rows)
        elif isinstance(event, events.AttemptJudged):
            self._words.learn_sql(event.correction)
        for each in _candidates_of(event):
            self._words.learn_sql(each.sql)
            self._words.learn_cells(each.table.rows)
        for entry in _entries_of(event):
            self._learn_entry_values(entry)

    def _learn_entry_names(self, entry: MemoryEntry) -> None:
        self._words.learn_name(entry.context.database)
        self._words.learn_schema(entry.context.schema_text)

    def _learn_entry_values(self, entry: MemoryEntry) -> None:
        self._words.learn_sql(entry.context.failed_sql)
        self._words.learn_sql(entry.revised_sql)

    def _told(self, text: str) -> str:
        return self._words.prose(text, own=True)

    def _person(self, who: str) -> str:
        return who if who in PROGRAM else self._words.hidden(who, "person")

    def _question(self, question: Question) -> Question:
        return replace(
            question,
            text=self._words.prose(question.text),
            evidence=self._words.prose(question.evidence),
        )

    def _started(self, event: events.RunStarted) -> events.RunStarted:
        return replace(
            event,
            settings=_without_paths(event.settings),
            model=_without_address(event.model),
            questions=tuple(map(self._question, event.questions)),
            problems=tuple(map(self._told, event.problems)),
            left_out=tuple(replace(each, note=self._told(each.note)) for each in event.left_out),
        )

    def _reviewed(self, event: events.ReviewsApplied) -> events.ReviewsApplied:
        return replace(event, decisions=tuple(map(self.decision, event.decisions)))

    def _asked(self, event: events.EpisodeStarted) -> events.EpisodeStarted:
        return replace(event, question=self._question(event.question))

    def _retrieved(self, event: events.MemoriesRetrieved) -> events.MemoriesRetrieved:
        retrieval = replace(
            event.retrieval,
            dense_text=self._words.hidden(event.retrieval.dense_text, "query"),
            lexical_text=self._words.hidden(event.retrieval.lexical_text, "query"),
            channels=tuple(_without_texts(channel) for channel in event.retrieval.channels),
        )
        return replace(event, retrieval=retrieval, entries=tuple(map(self.entry, event.entries)))

    def _sent(self, event: events.PromptSent) -> events.PromptSent:
        hidden = (
            Message(each.role, self._words.hidden(each.content, "prompt")) for each in event.messages
        )
        hints = tuple(replace(hint, text=self._told(hint.text)) for hint in event.hints)
        return replace(event, messages=tuple(hidden), hints=hints)

    def _delta(self, event: events.TokenDelta) -> events.TokenDelta:
        return replace(event, text="")

    def _written(self, event: events.AnswerWritten) -> events.AnswerWritten:
        return replace(
            event,
            text=self._words.hidden(event.text, "answer"),
            sql=self._words.sql(event.sql),
            extraction=tuple(map(self._told, event.extraction)),
            prediction_key="",
        )

    def _drawn(self, event: Any) -> events.Event:
        changed = {"text": self._words.hidden(event.text, "answer"), "sql": self._words.sql(event.sql)}
        return cast("events.Event", replace(event, **changed))

    def _selected(self, event: Any) -> events.Event:
        candidates = replace(
            event.candidates,
            executed=tuple(map(self._candidate, event.candidates.executed)),
            problems=tuple(map(self._told, event.candidates.problems)),
        )
        selection = replace(event.selection, remark=self._told(event.selection.remark))
        agreed = self._words.sql(event.agreed)
        return cast(
            "events.Event", replace(event, candidates=candidates, selection=selection, agreed=agreed)
        )

    def _candidate(self, each: Executed) -> Executed:
        return replace(each, sql=self._words.sql(each.sql), key="", table=self._table(each.table))

    def _executed(self, event: events.SqlExecuted) -> events.SqlExecuted:
        return replace(
            event,
            sql=self._words.sql(event.sql),
            result=self._table(event.result),
            mended=self._told(event.mended),
        )

    def _table(self, table: ResultTable) -> ResultTable:
        return replace(
            table,
            columns=tuple(map(self._words.sql, table.columns)),
            rows=tuple(tuple(map(self._words.cell, row)) for row in table.rows),
            digest="",
            error=self._told(table.error),
        )

    def _judged(self, event: events.AttemptJudged) -> events.AttemptJudged:
        return replace(
            event,
            sql=self._words.sql(event.sql),
            message=self._told(event.message),
            judge=self._person(event.judge),
            remark=self._words.hidden(event.remark, "remark"),
            refused=self._told(event.refused),
            correction=self._words.sql(event.correction),
        )

    def _reflected(self, event: events.ReflectionWritten) -> events.ReflectionWritten:
        return replace(event, text=self._words.hidden(event.text, "reflection"))

    def _stumbled(self, event: events.ModelStumbled) -> events.ModelStumbled:
        return replace(event, problem=self._told(event.problem), mend=self._told(event.mend))

    def _ended(self, event: events.EpisodeEnded) -> events.EpisodeEnded:
        memory = None if event.memory is None else self.entry(event.memory)
        return replace(event, memory=memory, note=self._told(event.note))

    def _as_it_is(self, event: E) -> E:
        return event


ROWS: dict[str, Callable[[Redaction, Any], events.Event]] = {
    "run_started": Redaction._started,
    "run_resumed": Redaction._as_it_is,
    "reviews_applied": Redaction._reviewed,
    "episode_started": Redaction._asked,
    "memories_retrieved": Redaction._retrieved,
    "prompt_sent": Redaction._sent,
    "token_delta": Redaction._delta,
    "answer_written": Redaction._written,
    "candidate_drawn": Redaction._drawn,
    "selector_answered": Redaction._as_it_is,
    "candidates_selected": Redaction._selected,
    "sql_executed": Redaction._executed,
    "judgement_awaited": Redaction._as_it_is,
    "attempt_judged": Redaction._judged,
    "reflection_written": Redaction._reflected,
    "model_stumbled": Redaction._stumbled,
    "episode_ended": Redaction._ended,
    "run_ended": Redaction._as_it_is,
}
"""By the events' names."""


def _entries_of(event: AnyEvent) -> tuple[MemoryEntry, ...]:
    if isinstance(event, events.MemoriesRetrieved):
        return event.entries
    if isinstance(event, events.EpisodeEnded) and event.memory is not None:
        return (event.memory,)
    return ()


def _candidates_of(event: AnyEvent) -> tuple[Executed, ...]:
    candidates = getattr(event, "candidates", None)
    return candidates.executed if isinstance(candidates, Candidates) else ()


def _without_texts(channel: ChannelRetrieval) -> ChannelRetrieval:
    return replace(
        channel, candidates=tuple(replace(each, lexical_text="") for each in channel.candidates)
    )


def _without_address(model: ModelDescription) -> ModelDescription:
    return replace(model, name=_last_part(model.name), address="")


def _without_paths(settings: RunSettings) -> RunSettings:
    """Where files lie on somebody's machine is nobody else's business; what they are called may be."""
    return replace(
        settings,
        dataset=_last_part(settings.dataset),
        root="",
        prompts=_last_part(settings.prompts),
        model=_last_part(settings.model),
    )


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
