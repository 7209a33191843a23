"""Memories, attempts and builders for the tests of prompts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.feedback.verdict import FailureType, Status
from core.memory.entry import Context, MemoryEntry, Polarity, Provenance
from core.prompts.layout import Prompts
from core.prompts.memories import Attempt
from core.prompts.template import Templates

MakeMemory = Callable[..., MemoryEntry]


@pytest.fixture(scope="session")
def prompts() -> Prompts:
    return Prompts(Templates.load())


def memory(
    id_: str,
    polarity: Polarity = Polarity.POSITIVE,
    database: str = "pets",
    question: str = "How many dogs?",
) -> MemoryEntry:
    """An entry whose every part can be told from the others in a prompt."""
    return MemoryEntry(
        id=id_,
        polarity=polarity,
        context=Context(
            question=question,
            database=database,
            schema_text="CREATE TABLE memoryschema (x)",
            failed_sql=f"SELECT failed_{id_}",
            status=Status.EXECUTION_ERROR,
            message=f"no such column: failed_{id_}",
        ),
        failure=FailureType.SCHEMA_LINKING,
        revised_sql=f"SELECT revised_{id_}",
        delta=(f"column failed_{id_} replaced by revised_{id_}",),
        outcome=Status.CORRECT if polarity is Polarity.POSITIVE else Status.TIMEOUT,
        outcome_message="" if polarity is Polarity.POSITIVE else f"too slow {id_}",
        provenance=Provenance(
            run="r", position=1, question_id="q", strategy="merit", model="m",
            from_attempt=0, to_attempt=1, at=0.0, regime="denotation",
        ),
        confirmed=True,
        reflections=(f"reflection of {id_}",),
    )  # fmt: skip


def attempt(number: int, **changes: object) -> Attempt:
    """A failed attempt whose parts carry its number."""
    fields: dict[str, object] = {
        "sql": f"SELECT attempt_{number}",
        "status": Status.EXECUTION_ERROR,
        "failure": FailureType.SCHEMA_LINKING,
        "message": f"no such column: c{number}",
    }
    return Attempt(**{**fields, **changes})  # type: ignore[arg-type]
