"""What is redacted leaves without its values: in every field of every event, and alike everywhere."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.database.rows import Outcome, ResultTable
from core.errors import MeritoError
from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from core.models.chat import Message, ModelDescription, Sampling, Usage
from core.question import Question
from core.redaction.redacting import ROWS, Redaction
from core.redaction.texts import Words
from core.run.events import (
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    PromptSent,
    ReviewsApplied,
    RunEnded,
    RunStarted,
    SqlExecuted,
    to_json,
)
from core.run.figures import figures_of
from core.selection.grouped import Candidates, Executed
from core.selection.selection import Selection
from stores.store import Store
from tests.streams import EPOCH, run_events
from tui.main import run

MARKER = "Zanzibar77"

STAYS = {
    "run", "id", "database", "strategy", "regime", "protocol", "layout", "memory", "engine",
    "question_id", "model", "purpose", "template", "rule", "finish", "kind", "channel", "source_run",
    "reason", "role", "review", "name", "difficulty", "method", "source",
}  # fmt: skip
"""Fields of text that are redacted by nobody: they name methods, places, and the schema."""


def poisoned(value: Any, field: str = "") -> Any:
    """The value with the marker in every text that is no name of a method or a place."""
    if isinstance(value, ModelDescription):
        return msgspec.structs.replace(value, address=f"http://{MARKER}", name=f"/home/{MARKER}/m.gguf")
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(
            value,
            **{
                name: poisoned(getattr(value, name), name)
                for name in value.__struct_fields__
                if name not in ("strategy_fields", "versions", "polarity")
            },
        )
    if isinstance(value, tuple):
        return tuple(poisoned(each, field) for each in value)
    if type(value) is str and field not in STAYS:
        return SECRETS.get(field, "'{0}' and {0}").format(MARKER)
    return value


SECRETS = {
    "digest": "{0}",
    "dataset": "/home/{0}/data",
    "root": "/home/{0}",
    "prompts": "/home/{0}/prompts",
    "address": "http://{0}",
    "schema_text": "CREATE TABLE visit (a TEXT DEFAULT '{0}', b TEXT DEFAULT {0}); -- {0}",
    "content": "CREATE TABLE visit (a TEXT DEFAULT '{0}', b TEXT DEFAULT {0}); {0}",
}


def a_full_run() -> list[AnyEvent]:
    """A run with every kind of event and every field filled."""
    events = run_events(12, deltas=True, reflections=True)
    lesson = next(e.memory for e in events if isinstance(e, EpisodeEnded) and e.memory)
    full = msgspec.structs.replace(lesson, reflections=("x",), encoder_cuts=("x",), outcome_message="x")
    decision = ReviewDecision(
        memory=lesson.id, state=ReviewState.REJECTED, who="x", at=EPOCH, remark="x"
    )
    reviewed = ReviewsApplied(run="run-1", seq=0, at=EPOCH, position=3, decisions=(decision,))
    filled = []
    for event in [*events[:-1], reviewed, events[-1]]:
        if isinstance(event, EpisodeEnded) and event.memory:
            event = msgspec.structs.replace(event, memory=full)
        if isinstance(event, RunStarted):
            event = msgspec.structs.replace(event, problems=("x",))
        if isinstance(event, SqlExecuted):
            table = msgspec.structs.replace(event.result, columns=("x",), rows=(("x", 7),))
            event = msgspec.structs.replace(event, result=table)
        filled.append(poisoned(event))
    return filled


def test_no_field_of_any_event_lets_the_marker_out() -> None:
    events = a_full_run()
    assert sum(MARKER in to_json(event).decode() for event in events) > len(events) / 2
    redaction = Redaction.of_run(lambda: events)
    for event in events:
        assert MARKER.casefold() not in to_json(redaction.event(event)).decode().casefold()


def test_every_kind_of_event_has_its_row() -> None:
    assert {kind.__struct_config__.tag for kind in typing.get_args(AnyEvent)} <= set(ROWS)


def test_an_event_that_nobody_thought_of_does_not_pass() -> None:
    class Unforeseen(Event, tag="unforeseen", frozen=True, kw_only=True):
        text: str

    with pytest.raises(MeritoError, match="'unforeseen'"):
        Redaction().event(Unforeseen(run="r", seq=1, at=EPOCH, text="x"))  # type: ignore[arg-type]


def test_candidates_and_their_results_are_redacted() -> None:
    table = ResultTable(outcome=Outcome.OK, columns=("a",), rows=((MARKER,),), digest="d")
    executed = Executed(sql=f"SELECT '{MARKER}'", source="greedy", key="k", table=table)
    candidates = Candidates(executed=(executed,), groups=((0,),), problems=(f"'{MARKER}' is odd",))
    chosen = CandidatesSelected(
        run="r", seq=1, at=EPOCH, position=0, attempt=0, candidates=candidates,
        selection=Selection(method="map-sql", choice=0, remark=f"'{MARKER}'"), agreed=executed.sql,
    )  # fmt: skip
    drawn = CandidateDrawn(
        run="r", seq=2, at=EPOCH, position=0, attempt=0, number=1, sampling=Sampling(), text=MARKER,
        sql=executed.sql, usage=Usage(), seconds=1.0,
    )  # fmt: skip
    redaction = Redaction.of_run(lambda: [chosen, drawn])
    for event in (chosen, drawn):
        assert MARKER.casefold() not in to_json(redaction.event(event)).decode().casefold()


def test_the_figures_of_a_redacted_run_are_those_of_the_run() -> None:
    events = run_events(12)
    redaction = Redaction.of_run(lambda: events)
    before, after = figures_of(events), figures_of(redaction.event(event) for event in events)
    before.settings = after.settings = None
    assert before == after


def story(
    sql: str, question: str, cell: str | int, message: str = "", hint: str = ""
) -> list[AnyEvent]:
    """One episode of one attempt about these."""
    opening, *_ = run_events(1)
    asked = Question(id="q", database="harbour", text=question)
    place = {"run": "run-1", "position": 0, "attempt": 0, "at": EPOCH}
    sent = next(e for e in run_events(2) if isinstance(e, PromptSent) and e.hints)
    judged = next(e for e in run_events(2) if isinstance(e, AttemptJudged))
    schema = 'CREATE TABLE boat (id INTEGER, name TEXT, "home port" TEXT, BuiltYear INT)'
    table = ResultTable(outcome=Outcome.OK, columns=("name",), rows=((cell,),), row_count=1)
    return [
        msgspec.structs.replace(opening, questions=(asked,)),
        EpisodeStarted(run="run-1", seq=2, at=EPOCH, position=0, question=asked),
        msgspec.structs.replace(
            sent,
            messages=(Message("user", f"{schema}\n\n{question}"),),
            hints=(msgspec.structs.replace(sent.hints[0], text=hint),),
        ),
        SqlExecuted(seq=4, sql=sql, result=table, **place),
        msgspec.structs.replace(judged, sql=sql, message=message),
        RunEnded(run="run-1", seq=6, at=EPOCH, reason="finished"),
    ]


def redacted(*told: Any, **more: str) -> list[Any]:
    events = story(*told, **more)
    redaction = Redaction.of_run(lambda: events)
    return [redaction.event(event) for event in events]


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT name FROM boat WHERE id = 42", "SELECT name FROM boat WHERE id = :number1"),
        ("SELECT id = 4.20e1 OR id=42", "SELECT id = :number1 OR id=:number1"),
        ("SELECT 'it''s' || 'x'", "SELECT 'text1' || 'text2'"),
        ("SELECT * FROM boat WHERE name LIKE '%Gull%' OR name = 'gull'",
         "SELECT * FROM boat WHERE name LIKE '%text1%' OR name = 'text1'"),
        ('SELECT "home port", "Gull" FROM boat', 'SELECT "home port", "text1" FROM boat'),
        ("SELECT T1.name AS big_gulls FROM boat AS T1", "SELECT T1.name AS name1 FROM boat AS T1"),
        ("SELECT id WHERE name = Gull -- Gull", "SELECT id WHERE name = name1 /* */"),
        ("SELECT [Gull], `Gull`, x'47756C6C' FROM boat", "SELECT [text1], `text1`, 'text2' FROM boat"),
        ("SELECT 'unclosed Gull", "SELECT 'text1'"),
        ("SELECT count(*) FROM boat WHERE name IS NOT NULL AND builtyear > 1999",
         "SELECT count(*) FROM boat WHERE name IS NOT NULL AND builtyear > :number1"),
    ],
)  # fmt: skip
def test_of_sql_the_grammar_and_the_schema_stay(sql: str, shown: str) -> None:
    assert redacted(sql, "How many?", 1)[3].sql == shown


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Which boats named Grey Gull in 1999?", "Which boats named text1 in number1?"),
        ("which boats named grey gull?", "which boats named text1?"),
        ("Grey Gull: how old is she?", "text1: how old is she?"),
        ("Does Amsterdam own 'any' boat's \"Crew\"?", "Does text4 own 'any' boat's \"text5\"?"),
        ("How many boats have a home port?", "How many boats have a home port?"),
    ],
)  # fmt: skip
def test_questions_keep_their_words_and_lose_their_values(question: str, shown: str) -> None:
    events = redacted(
        "SELECT name FROM boat WHERE name = 'Grey Gull' AND builtyear = 1999", question, 7
    )
    assert events[0].questions[0].text == shown
    assert events[1].question.text == shown


def test_one_value_has_one_placeholder_wherever_it_stands() -> None:
    events = redacted(
        "SELECT name FROM boat WHERE name = 'Gull' AND id = 42",
        "Is Gull boat 42?",
        "gull",
        message='no such column: Gull, near "Gull"',
        hint="boat.name holds 'Gull' and no 42.",
    )
    _, started, sent, executed, judged, _ = events
    assert executed.sql == "SELECT name FROM boat WHERE name = 'text1' AND id = :number1"
    assert executed.result.rows == (("text1",),)
    assert started.question.text == "Is text1 boat number1?"
    assert judged.message == 'no such column: text1, near "text1"'
    assert sent.hints[0].text == "boat.name holds 'text1' and no number1."


def test_a_value_is_hidden_though_it_looks_like_an_alias_or_a_common_word() -> None:
    words = Words()
    words.learn_schema("CREATE TABLE flat (number TEXT, tenant TEXT)")
    words.learn_cells([["B12", "Will"], ["C7", "a"]])
    assert words.prose("Who lives in B12 with Will?") == "Who lives in text1 with text2?"
    assert words.prose("in b12, and will a tenant go?") == "in text1, and will a tenant go?"
    assert words.prose("Is T1.tenant known?") == "Is T1.tenant known?"


def test_values_of_a_check_and_words_of_a_question_are_no_names_of_the_schema() -> None:
    words = Words()
    words.learn_schema(
        'CREATE TABLE flat (city TEXT CHECK (city IN ("Paris", "Rome")), "the rent" REAL)'
    )
    words.learn_schema("Please create table Alice Smith earns more than (she did)")
    assert words.sql('SELECT "the rent" FROM flat WHERE city = "Paris"') == (
        'SELECT "the rent" FROM flat WHERE city = "text1"'
    )
    assert words.prose("Does Alice pay?") == "Does text2 pay?"


def test_null_stays_null_and_rows_are_counted() -> None:
    events = redacted("SELECT name FROM boat", "How many?", 42)
    table = events[3].result
    assert (table.rows, table.row_count, table.digest) == ((("number1",),), 1, "")


def test_memories_that_leave_together_are_redacted_alike() -> None:
    lessons: list[MemoryEntry] = [
        e.memory for e in run_events(12) if isinstance(e, EpisodeEnded) and e.memory
    ]
    marked = [poisoned(entry) for entry in lessons]
    redaction = Redaction.of_entries(marked)
    for entry in marked:
        hidden = redaction.entry(entry)
        assert MARKER.casefold() not in msgspec.json.encode(hidden).decode().casefold()
        assert (hidden.id, hidden.polarity, hidden.failure) == (entry.id, entry.polarity, entry.failure)
    decision = ReviewDecision(
        memory="m", state=ReviewState.REJECTED, who="ana", at=EPOCH, remark="Ana says Zanzibar77"
    )
    hidden_decision = redaction.decision(decision)
    assert hidden_decision.who.startswith("person")
    assert hidden_decision.remark.startswith("remark")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["(", "CREATE TABLE ", "'", "a b ", "Ab 1 "])
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (30_000 // len(piece))
    events = story(text, text, text, message=text, hint=text)
    redaction = Redaction.of_run(lambda: events)
    for event in events:
        redaction.event(event)


def test_an_export_of_memories_lets_no_marker_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons = [e.memory for e in a_full_run() if isinstance(e, EpisodeEnded) and e.memory]
    decision = ReviewDecision(
        memory=lessons[0].id, state=ReviewState.REJECTED, who=MARKER, at=EPOCH, remark=MARKER
    )
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        store.keep(lessons, at=EPOCH, reviews={lessons[0].id: [decision]})
    for folder, there in (("plain", True), ("hidden", False)):
        flags = [] if there else ["--redact"]
        store_flag = ["--store", str(tmp_path / "s.sqlite")]
        assert run(["memory", "export", str(tmp_path / folder), *store_flag, *flags]) == 0
        text = "".join(path.read_text() for path in (tmp_path / folder).iterdir())
        assert (MARKER.casefold() in text.casefold()) is there
        assert text.count("\n") == len({lesson.id for lesson in lessons})
