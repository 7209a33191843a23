"""From the last transition of an episode to a memory, and the texts that retrieval compares."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Polarity, Provenance
from core.memory.making import Tried, negative, positive, touched_schema, with_cut
from core.memory.texts import RetrievalQuery, dense_memory_text, lexical_memory_text
from core.question import Question

QUESTION = Question(id="q1", database="concert", text="How many singers?", evidence="a hint")
SCHEMA = """CREATE TABLE singer (id INTEGER, name TEXT)

CREATE TABLE "concert in town" (id INTEGER, singer_id INTEGER)

-- where they play
create table if not exists Stadium(
  id INTEGER, -- create table fake (x)
  name TEXT
);
CREATE VIEW `loud` AS SELECT * FROM singer"""

FAILED = Tried(
    sql="SELECT nme FROM singer",
    status=Status.EXECUTION_ERROR,
    message="no such column: nme",
    failure=FailureType.SCHEMA_LINKING,
)
RIGHT = Tried(sql="SELECT COUNT(*) FROM Singer", status=Status.CORRECT)
WRONG = Tried(
    sql="SELECT nam FROM stadium",
    status=Status.EXECUTION_ERROR,
    message="no such column: nam",
    failure=FailureType.SCHEMA_LINKING,
)


def provenance(**changes: Any) -> Provenance:
    fields: dict[str, Any] = {
        "run": "run-1",
        "position": 3,
        "question_id": "q1",
        "strategy": "merit",
        "model": "a model",
        "from_attempt": 1,
        "to_attempt": 2,
        "at": 12.5,
        "regime": "denotation",
        **changes,
    }
    return Provenance(**fields)


def learned(before: Tried = FAILED, after: Tried = RIGHT, **changes: Any) -> MemoryEntry:
    make = positive if after.status is Status.CORRECT else negative
    return make(QUESTION, SCHEMA, before, after, provenance(**changes), confirmed=True)


def test_a_positive_entry_holds_the_transition() -> None:
    entry = learned()
    assert entry.polarity is Polarity.POSITIVE
    assert entry.failure is FailureType.SCHEMA_LINKING
    assert entry.context.failed_sql == FAILED.sql
    assert entry.context.message == "no such column: nme"
    assert entry.context.evidence == "a hint"
    assert entry.revised_sql == RIGHT.sql
    assert entry.outcome is Status.CORRECT
    assert entry.delta == ("replaced column singer.nme -> COUNT(*)",)
    assert entry.source_key == QUESTION.source_key


def test_a_negative_entry_holds_what_was_observed_of_the_last_attempt() -> None:
    entry = learned(after=WRONG)
    assert entry.polarity is Polarity.NEGATIVE
    assert (entry.outcome, entry.outcome_message) == (WRONG.status, WRONG.message)


@pytest.mark.parametrize(
    ("make", "before", "after"),
    [
        (positive, FAILED, WRONG),
        (negative, FAILED, RIGHT),
        (positive, RIGHT, RIGHT),
        (negative, RIGHT, WRONG),
    ],
)
def test_a_transition_must_fit_its_polarity(make: Any, before: Tried, after: Tried) -> None:
    with pytest.raises(MeritoError):
        make(QUESTION, SCHEMA, before, after, provenance(), confirmed=True)


def test_an_id_is_made_of_run_place_polarity_and_both_texts() -> None:
    entry = learned()
    assert entry.id == learned(at=99.0, strategy="merito").id
    assert len(entry.id) == 14
    assert entry.id.startswith("m-")
    others = [
        learned(run="run-2"),
        learned(position=4),
        learned(after=WRONG),
        learned(after=msgspec.structs.replace(RIGHT, sql="SELECT 1")),
        learned(before=msgspec.structs.replace(FAILED, sql="SELECT 1")),
        learned(before=msgspec.structs.replace(FAILED, sql="\ud800")),
    ]
    assert len({entry.id, *(other.id for other in others)}) == 7


@pytest.mark.parametrize(
    ("sqls", "tables"),
    [
        (["SELECT 1 FROM Singer"], ["singer"]),
        (["SELECT 1 FROM `CONCERT in town` c JOIN stadium s"], ["concert in town", "stadium"]),
        (["SELECT 1 FROM nowhere", "SELECT (SELECT 2 FROM LOUD)"], ["loud"]),
        (["WITH singer AS (SELECT 1 FROM stadium) SELECT * FROM x"], ["stadium"]),
        (["selct broken frm stadium"], ["stadium"]),
        (["SELECT 1 FROM fake"], []),
        ([""], []),
    ],
)
def test_the_schema_shrinks_to_the_tables_that_are_touched(sqls: list[str], tables: list[str]) -> None:
    text = touched_schema(SCHEMA, *sqls)
    found = [
        name
        for name, start in [
            ("singer", "CREATE TABLE singer"),
            ("concert in town", 'CREATE TABLE "concert in town"'),
            ("stadium", "create table if not exists Stadium"),
            ("loud", "CREATE VIEW `loud`"),
        ]
        if start in text
    ]
    assert found == tables


def test_a_cut_is_recorded() -> None:
    assert with_cut(learned(), 0).encoder_cuts == ()
    assert with_cut(learned(), 7).encoder_cuts == ("dense text: 7 word pieces",)
    assert with_cut(learned(), 7).id == learned().id


def test_the_query_text_has_all_that_is_known_of_the_failure() -> None:
    query = RetrievalQuery(
        question="How many?",
        sql="SELECT nme FROM singer",
        status=Status.EXECUTION_ERROR,
        failure=FailureType.SCHEMA_LINKING,
        message="no such column: nme",
    )
    assert query.text.splitlines() == [
        "How many?",
        "SELECT nme FROM singer",
        "EXECUTION_ERROR",
        "Schema Linking",
        "no such column: nme",
    ]


def test_the_dense_text_ends_with_the_schema() -> None:
    """A small encoder cuts the end, and the schema is what can best be spared."""
    assert dense_memory_text(learned(after=WRONG)).splitlines()[:7] == [
        "How many singers?",
        "EXECUTION_ERROR",
        "Schema Linking",
        "no such column: nme",
        "SELECT nme FROM singer -> SELECT nam FROM stadium",
        "EXECUTION_ERROR",
        "no such column: nam",
    ]
    assert dense_memory_text(learned()).endswith("CREATE TABLE singer (id INTEGER, name TEXT)")


def test_the_lexical_text_has_the_delta_and_only_successful_sql() -> None:
    right, wrong = lexical_memory_text(learned()), lexical_memory_text(learned(after=WRONG))
    assert "replaced column singer.nme -> COUNT(*)" in right
    assert right.endswith(RIGHT.sql)
    assert WRONG.sql not in wrong
    assert "CREATE TABLE" not in right + wrong
