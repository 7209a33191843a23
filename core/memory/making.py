"""Making a memory entry from the last transition of a finished episode (MERIT, section 3.2)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

import msgspec

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.delta import delta
from core.memory.entry import Context, MemoryEntry, Polarity, Provenance
from core.question import Question
from core.sql import fold, shared_tree, tokens

_CREATE = re.compile(
    r"^[ \t]*create\s+(?:temp(?:orary)?\s+)?(?:virtual\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?"
    r"(?:(?:\w+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])\s*\.\s*)?"
    r"(?:(?P<plain>[^\W\d][\w$]*)|\"(?P<double>(?:[^\"]|\"\")+)\"|`(?P<tick>[^`]+)`"
    r"|\[(?P<bracket>[^\]]+)\]|'(?P<single>[^']+)')",
    re.IGNORECASE | re.MULTILINE,
)


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One end of a transition: a SQL text and what was observed of it."""

    sql: str
    status: Status
    message: str = ""
    failure: FailureType | None = None
    """None where the status is CORRECT."""


def positive(
    question: Question,
    schema_text: str,
    before: Tried,
    after: Tried,
    provenance: Provenance,
    *,
    confirmed: bool,
    reflections: Iterable[str] = (),
) -> MemoryEntry:
    """The entry of a repaired episode: y(k-1) -> y(k), where y(k) is correct.

    Raises MeritoError where `after` is not correct or `before` is.
    """
    if after.status is not Status.CORRECT:
        raise MeritoError(f"A positive memory needs a correct revision, not {after.status}.")
    return _entry(
        Polarity.POSITIVE, question, schema_text, before, after, provenance, confirmed, reflections
    )


def negative(
    question: Question,
    schema_text: str,
    before: Tried,
    after: Tried,
    provenance: Provenance,
    *,
    confirmed: bool,
    reflections: Iterable[str] = (),
) -> MemoryEntry:
    """The entry of an unresolved episode: y(K-1) -> y(K), with what was observed of y(K).

    Raises MeritoError where either end is correct.
    """
    if after.status is Status.CORRECT:
        raise MeritoError("A negative memory needs a revision that failed, not a correct one.")
    return _entry(
        Polarity.NEGATIVE, question, schema_text, before, after, provenance, confirmed, reflections
    )


def example(
    question: Question, schema_text: str, answered: Tried, provenance: Provenance, *, confirmed: bool
) -> MemoryEntry:
    """The entry of an episode whose first answer was right: no transition, but how it is done.

    Raises MeritoError where the answer is not correct.
    """
    if answered.status is not Status.CORRECT:
        raise MeritoError(f"An example needs a correct answer, not {answered.status}.")
    return MemoryEntry(
        id=memory_id(provenance.run, provenance.position, Polarity.EXAMPLE, "", answered.sql),
        polarity=Polarity.EXAMPLE,
        context=Context(
            question=question.text,
            database=question.database,
            schema_text=touched_schema(schema_text, answered.sql),
            failed_sql="",
            status=answered.status,
            evidence=question.evidence,
        ),
        failure=FailureType.UNKNOWN,
        revised_sql=answered.sql,
        delta=(),
        outcome=answered.status,
        provenance=provenance,
        confirmed=confirmed,
    )


def memory_id(run: str, position: int, polarity: Polarity, failed_sql: str, revised_sql: str) -> str:
    """`m-` and 12 hexadecimal digits: the same transition at the same place gives the same id."""
    key = "\x1f".join((run, str(position), polarity.value, failed_sql, revised_sql))
    return "m-" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def touched_tables(*sqls: str) -> frozenset[str]:
    """Folded names of the tables that the queries read; of a text that does not parse, every word
    (names that are no table do no harm where the result only selects from a schema)."""
    found: set[str] = set()
    for sql in sqls:
        tree = shared_tree(sql)
        if tree is None:
            found.update(token.strip("`\"'") for token in tokens(sql))
            continue
        from sqlglot import exp

        found.update(fold(table.name) for table in tree.find_all(exp.Table))
    return frozenset(found)


def touched_schema(schema_text: str, *sqls: str) -> str:
    """The CREATE statements of `schema_text` whose tables the queries read, in their order.

    Empty where the queries read none of them.
    """
    names = touched_tables(*sqls)
    return "\n\n".join(text for name, text in created(schema_text) if fold(name) in names)


def created(schema_text: str) -> Iterator[tuple[str, str]]:
    """The name of each table or view that a text declares, with its statement and what follows it."""
    starts = list(_CREATE.finditer(schema_text))
    ends = [match.start() for match in starts[1:]] + [len(schema_text)]
    for match, end in zip(starts, ends, strict=False):
        yield match[match.lastgroup or 0].replace('""', '"'), schema_text[match.start() : end].strip()


def with_cut(entry: MemoryEntry, pieces: int) -> MemoryEntry:
    """The entry with a note that its dense text lost `pieces` word pieces at the encoder's window."""
    if pieces <= 0:
        return entry
    return msgspec.structs.replace(entry, encoder_cuts=(f"dense text: {pieces} word pieces",))


def _entry(
    polarity: Polarity,
    question: Question,
    schema_text: str,
    before: Tried,
    after: Tried,
    provenance: Provenance,
    confirmed: bool,
    reflections: Iterable[str],
) -> MemoryEntry:
    if before.failure is None or before.status is Status.CORRECT:
        raise MeritoError("A memory starts from an attempt that failed, and this one has no failure.")
    return MemoryEntry(
        id=memory_id(provenance.run, provenance.position, polarity, before.sql, after.sql),
        polarity=polarity,
        context=Context(
            question=question.text,
            database=question.database,
            schema_text=touched_schema(schema_text, before.sql, after.sql),
            failed_sql=before.sql,
            status=before.status,
            message=before.message,
            evidence=question.evidence,
        ),
        failure=before.failure,
        revised_sql=after.sql,
        delta=delta(before.sql, after.sql),
        outcome=after.status,
        outcome_message=after.message,
        provenance=provenance,
        confirmed=confirmed,
        reflections=tuple(reflections),
    )
