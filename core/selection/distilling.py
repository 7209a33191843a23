"""Training pairs from what was repaired, so that both kinds of memory grow from the same reviewed
experience (map-sql.md, "One system, not two")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from core.database.schema import Column, Schema, Table
from core.memory.entry import MemoryEntry, Polarity, ReviewState
from core.memory.making import created
from core.memory.staleness import declared
from core.selection.specification import Repair, memory_id
from core.selection.training import Training, TrainingPair


class Distillable(msgspec.Struct, frozen=True, kw_only=True):
    """The repairs that teach, as pairs, and how many entries do not, by the reason."""

    training: Training
    left_out: Mapping[str, int]


def reason_against(entry: MemoryEntry, state: ReviewState) -> str:
    """Why nothing is distilled from an entry; empty where a confirmed and approved repair is one."""
    if entry.polarity is not Polarity.POSITIVE:
        return "no repair"
    if not entry.confirmed:
        return "not confirmed"
    return "" if state is ReviewState.APPROVED else state.value


def repairs(entries: Iterable[MemoryEntry], states: Mapping[str, ReviewState]) -> Distillable:
    """The pairs of all entries that teach, those of one database after one another. `states` has
    every entry's review state by its id. Two repairs that led to one query are one pair, the first
    one's."""
    pairs: dict[str, TrainingPair] = {}
    left_out: Counter[str] = Counter()
    for entry in entries:
        reason = reason_against(entry, states[entry.id])
        if reason:
            left_out[reason] += 1
        else:
            pair = pair_of(entry)
            pairs.setdefault(pair.id, pair)
    ordered = sorted(pairs.values(), key=lambda pair: pair.database)
    return Distillable(training=Training(pairs=tuple(ordered)), left_out=dict(left_out))


def pair_of(entry: MemoryEntry) -> TrainingPair:
    """The question with the query that was confirmed, and the tables that the repair touched."""
    context = entry.context
    return TrainingPair(
        id=memory_id(context.database, context.question, entry.revised_sql),
        database=context.database,
        question=context.question,
        gold=entry.revised_sql,
        evidence=context.evidence,
        schema=_schema(context.database, context.schema_text),
        repair=Repair(memory=entry.id, provenance=entry.provenance),
    )


def _schema(database: str, text: str) -> Schema:
    """The schema that an entry remembers. Its statements may come from anywhere: they are read,
    never executed."""
    tables = [
        Table(
            name=name,
            columns=tuple(Column(name=column, type=kind) for column, kind in declared(sql).items()),
            sql=sql.rstrip("; \n"),
        )
        for name, sql in created(text)
    ]
    return Schema(database=database, tables=tuple(tables))
