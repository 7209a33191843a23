"""How memories and attempts read in a prompt (merit.md, "Prompts": memory)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Polarity
from core.prompts.template import Templates
from core.run.events import Hint

NONE = "(none)"


class Experience(msgspec.Struct, frozen=True, kw_only=True):
    """What was retrieved for one revision, best first in each channel."""

    positives: tuple[MemoryEntry, ...] = ()
    negatives: tuple[MemoryEntry, ...] = ()
    mixed: tuple[MemoryEntry, ...] = ()
    """One pool without polarity (`dynamic-rag`)."""
    reflective: tuple[MemoryEntry, ...] = ()
    """Entries whose reflections are shown (`reflexion`)."""

    def without(self, shown: set[str]) -> Experience:
        """The same without the entries whose ids are in `shown`."""
        return Experience(
            **{
                field: tuple(entry for entry in getattr(self, field) if entry.id not in shown)
                for field in self.__struct_fields__
            }
        )

    @property
    def ids(self) -> set[str]:
        """The ids of all its entries."""
        return {entry.id for field in self.__struct_fields__ for entry in getattr(self, field)}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A failed attempt as the next prompt may tell it."""

    sql: str
    status: Status
    failure: FailureType
    message: str = ""
    """The DBMS's own words."""
    remark: str = ""
    """A person's words about the result."""
    hints: tuple[Hint, ...] = ()
    """Facts worked out from this attempt, where the strategy shows them."""
    experience: Experience = Experience()
    """What was retrieved for the revision of this attempt."""
    reflection: str = ""
    """What the model noted after this attempt (Reflexion baseline)."""


def failure_context(status: Status, failure: FailureType, message: str, sql: str) -> str:
    """Status, failure type, DBMS message and failed SQL as one line."""
    said = f": {one_line(message)}" if message else ""
    return f"{status}, {failure}{said}; failed query: {one_line(sql) or NONE}"


def one_line(text: str) -> str:
    """The text with every run of spaces and line breaks as one space."""
    return " ".join(text.split())


def experience_block(templates: Templates, form: str, experience: Experience, empty: str) -> str:
    """The block of memories in one of the forms dual, mixed, reflections; `empty` stands where a
    list has no entry, and the whole is empty where it would hold nothing."""
    lists = {
        slot: "\n".join(_entries(templates, template, getattr(experience, field))) or empty
        for slot, field, template in _LISTS[form]
    }
    return templates[f"experience-{form}"].fill(lists)


_LISTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "dual": (("positives", "positives", "positive"), ("negatives", "negatives", "negative")),
    "mixed": (("memories", "mixed", "mixed"),),
    "reflections": (("reflections", "reflective", "earlier-reflection"),),
}
"""Form of the block -> its lists, each as (slot, field of Experience, template of an entry)."""


def _entries(templates: Templates, template: str, entries: Sequence[MemoryEntry]) -> Iterable[str]:
    for number, entry in enumerate(entries, 1):
        yield templates[template].fill(_slots(entry, number))


def _slots(entry: MemoryEntry, number: int) -> dict[str, str]:
    context = entry.context
    failed, revised = one_line(context.failed_sql) or NONE, one_line(entry.revised_sql) or NONE
    return {
        "number": str(number),
        "id": entry.id,
        "question": one_line(context.question),
        "database": context.database,
        "failure": entry.failure,
        "context": failure_context(context.status, entry.failure, context.message, context.failed_sql),
        "transition": f"{failed} -> {revised}",
        "delta": "; ".join(entry.delta) or NONE,
        "outcome": entry.outcome,
        "message": one_line(entry.outcome_message) or NONE,
        # The last one looked back on every attempt of its episode.
        "reflection": one_line(entry.reflections[-1]) if entry.reflections else NONE,
    }


def attempt_list(templates: Templates, template: str, attempts: Sequence[Attempt]) -> str:
    """All attempts in order, numbered from 1 as in the paper's listings."""
    return "\n".join(
        templates[template].fill(
            {
                "number": str(number),
                "sql": attempt.sql.strip() or NONE,
                "status": attempt.status,
                "failure": attempt.failure,
                "message": one_line(attempt.message) or NONE,
                "remark": one_line(attempt.remark),
            }
        )
        for number, attempt in enumerate(attempts, 1)
    )


def lesson_list(templates: Templates, lessons: Sequence[MemoryEntry], database: str) -> str:
    """Lessons of memories, those of the same database first, each told once."""
    told: dict[str, None] = {}
    for entry in sorted(lessons, key=lambda each: each.context.database != database):
        same = entry.context.database == database
        template = "lesson-positive" if entry.polarity is Polarity.POSITIVE else "lesson-negative"
        told[
            templates[template].fill(
                {
                    "question": one_line(entry.context.question),
                    "where": "this database" if same else f"database {entry.context.database}",
                    "delta": "; ".join(entry.delta) or NONE,
                    "failure": entry.failure,
                    "trouble": one_line(entry.context.message) or entry.failure,
                    "sql": one_line(entry.revised_sql),
                }
            )
        ] = None
    return "\n".join(told)


def example_list(templates: Templates, examples: Sequence[MemoryEntry]) -> str:
    """Questions with their right answers, the most similar last: next to where the answer goes."""
    return "\n".join(
        templates["example"].fill(
            {
                "number": str(number),
                "question": one_line(entry.context.question),
                "sql": one_line(entry.revised_sql),
            }
        )
        for number, entry in enumerate(reversed(examples), 1)
    )


def bullets(sentences: Iterable[str]) -> str:
    """Each sentence once, one a line, in the order in which they were found; empty ones left out.
    Spaces stay as they are: they may be what tells two stored values apart."""
    lines = (" ".join(each.split("\n")).strip() for each in sentences)
    return "\n".join(dict.fromkeys(f"- {line}" for line in lines if line))
