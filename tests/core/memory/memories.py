"""Memories for tests: one maker with defaults, and Hypothesis strategies over it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.feedback.verdict import FailureType, Status
from core.memory.entry import Context, MemoryEntry, Polarity, Provenance

DIMENSIONS = 8


def memory(number: int = 1, **changes: Any) -> MemoryEntry:
    """A memory whose fields are the defaults below, or `changes`."""
    fields: dict[str, Any] = {
        "run": "run-1",
        "position": number,
        "polarity": Polarity.POSITIVE,
        "failure": FailureType.RESULT_MISMATCH,
        "database": "concert",
        "question": f"How many singers are there in town {number}?",
        "failed_sql": "SELECT name FROM singer",
        "revised_sql": "SELECT COUNT(*) FROM singer",
        "delta": ("replaced column singer.name -> COUNT(*)",),
        "status": Status.DENOTATION_MISMATCH,
        "message": "",
        "outcome_message": "",
        "schema_text": "CREATE TABLE singer (id INTEGER, name TEXT)",
        "reflections": (),
        "confirmed": True,
        **changes,
    }
    positive = fields["polarity"] is Polarity.POSITIVE
    return MemoryEntry(
        id=fields.get("id", f"m-{number:012d}"),
        polarity=fields["polarity"],
        context=Context(
            question=fields["question"],
            database=fields["database"],
            schema_text=fields["schema_text"],
            failed_sql=fields["failed_sql"],
            status=fields["status"],
            message=fields["message"],
        ),
        failure=fields["failure"],
        revised_sql=fields["revised_sql"],
        delta=fields["delta"],
        outcome=Status.CORRECT if positive else Status.DENOTATION_MISMATCH,
        outcome_message=fields["outcome_message"],
        provenance=Provenance(
            run=fields["run"],
            position=fields["position"],
            question_id=f"q{number}",
            strategy="merit",
            model="a model",
            from_attempt=0,
            to_attempt=1,
            at=1.5,
            regime="denotation",
        ),
        confirmed=fields["confirmed"],
        reflections=fields["reflections"],
    )


def unit(*axes: int, signs: int = 0) -> NDArray[np.float32]:
    """A unit vector with ±0.5 on four axes: every inner product of two such is exact in float32, in
    whatever order it is summed, and ties are common."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    for place, axis in enumerate(axes):
        vector[axis] = -0.5 if signs >> place & 1 else 0.5
    return vector


vectors = st.builds(
    lambda axes, signs: unit(*axes, signs=signs),
    st.lists(st.integers(0, DIMENSIONS - 1), min_size=4, max_size=4, unique=True),
    st.integers(0, 15),
)
