"""What a finished episode teaches: at most one entry, from its last transition (MERIT, section 3.2),
or from an answer that was right at once, for strategies that show examples."""

from __future__ import annotations

from core.memory.entry import MemoryEntry, Provenance
from core.memory.making import Tried, example, negative, positive
from core.repair.equipment import Equipment
from core.repair.history import History
from core.run.events import AttemptJudged


def entry_of(equipment: Equipment, history: History) -> MemoryEntry | None:
    """The entry of an episode that ended: y(k-1) -> y(k), positive where y(k) is correct.

    An answer that was right at once becomes an example. None where there is nothing that could be
    shown: an answer without SQL.
    """
    after = history.attempts[-1]
    if not after.sql:
        return None
    before = history.attempts[-2] if history.repairs else after
    provenance = Provenance(
        run=equipment.stamp.run,
        position=history.position,
        question_id=history.question.id,
        strategy=equipment.strategy.name,
        model=equipment.described.fingerprint,
        from_attempt=before.attempt,
        to_attempt=after.attempt,
        at=after.at,
        regime=equipment.regime.name,
        judge=after.judge,
    )
    if not history.repairs:
        return example(
            history.question,
            equipment.schema_text(history.question),
            _tried(after),
            provenance,
            confirmed=equipment.regime.confirms,
        )
    make = positive if history.solved else negative
    return make(
        history.question,
        equipment.schema_text(history.question),
        _tried(before),
        _tried(after),
        provenance,
        confirmed=equipment.regime.confirms,
        reflections=[text for _, text in sorted(history.reflections.items())],
    )


def _tried(attempt: AttemptJudged) -> Tried:
    return Tried(
        sql=attempt.sql, status=attempt.status, message=attempt.message, failure=attempt.failure
    )
