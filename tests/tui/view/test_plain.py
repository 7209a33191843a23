"""The plain view: what somebody reads in a pipe or hears from a screen reader."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any

import msgspec

from core.feedback.regimes import REGIMES, build_regime
from core.feedback.verdict import Status
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    RunResumed,
    RunStarted,
    SqlExecuted,
    TokenDelta,
)
from tests.streams import (
    HOSTILE,
    episode_events,
    question,
    run_events,
    settings,
    unconfirmed_events,
)
from tui.view.acceptance import UNCONFIRMED
from tui.view.plain import PlainView


def told(events: list[AnyEvent], summary: bool = False) -> str:
    out = io.StringIO()
    view = PlainView(out)
    for event in events:
        view.show(event)
    if summary:
        view.summary()
    return out.getvalue()


def test_a_failure_its_repair_and_what_was_remembered_can_be_followed() -> None:
    text = told(run_events(4))
    assert "Question 2 of 4, database tramway: How many late stops does line 1 serve?" in text
    assert "first SQL: SELECT name" in text
    assert "result: wrong (denotation mismatch, Result Mismatch" in text
    assert "repair 1 of 7: SELECT name" in text
    assert "changed: " in text
    assert "REPAIRED with 1 repair" in text
    assert "learned a positive memory (" in text
    assert "remembers that this worked (question 2, tramway)" in text


def test_the_summary_gives_every_rate_with_its_n() -> None:
    lines = told(run_events(8), summary=True).split("Summary of run")[1].splitlines()
    text = "\n".join(lines)
    assert "33.3 % (2 of 6)" in text
    assert "83.3 % (5 of 6)" in text
    assert re.search(r"with memory: +2 ", text)
    assert re.search(r"without: +1$", text, re.MULTILINE)
    assert "still wrong:     16.7 % (1 of 6)" in text
    assert "1 skipped (in no rate), 1 broken (in no rate)" in text


def test_a_summary_of_nothing_is_no_division_by_zero() -> None:
    assert "- (0 of 0)" in told(run_events(2)[:1], summary=True)


def test_tokens_as_they_arrive_print_nothing() -> None:
    events = run_events(3, deltas=True)
    assert told(events) == told([event for event in events if not isinstance(event, TokenDelta)])


def test_one_is_one() -> None:
    start, *rest = run_events(1)
    assert isinstance(start, RunStarted)
    settings = msgspec.structs.replace(start.settings, budget=1)
    resumed = RunResumed(run="run-1", seq=2, at=1.0, finished=1)
    text = told([msgspec.structs.replace(start, settings=settings), resumed, *rest], summary=True)
    assert "Run run-1: 1 question of" in text
    assert "at most 1 repair each" in text
    assert "Resumed: 1 question was final already." in text
    assert not re.search(r"\b1 (questions|repairs|memories|candidates|calls)\b", text)


def test_a_broken_question_says_why_in_one_sentence() -> None:
    *events, ended = episode_events(0, EpisodeOutcome.BROKEN, 0)
    assert isinstance(ended, EpisodeEnded)
    note = "Question 2 (database shop) cannot be judged: its gold query fails (no such column)."
    ended = msgspec.structs.replace(ended, note=note, seconds=0.0)
    text = told([*run_events(1)[:1], *events, ended])
    assert "BROKEN QUESTION, in no rate: Question 2 (database shop) cannot be judged: its gold" in text
    assert "its gold query fails (no such column), after 0.00 s\n" in text


def test_a_repeat_says_what_it_repeats() -> None:
    text = told(run_events(3))
    assert "result: wrong, the same SQL as repair 6; not run again" in text


def test_a_run_that_repairs_nothing_promises_no_repairs() -> None:
    assert "at most 7 repairs each" in told(run_events(2))
    text = told(run_events(2, run_settings=settings(strategy="none")))
    assert "strategy none, no repairs, " in text
    assert "of 0" not in text
    fields = {"repairs": False}
    assert "no repairs" in told(run_events(2, run_settings=settings(strategy_fields=fields)))


def test_a_mend_says_what_a_rule_changed_and_that_no_model_was_asked() -> None:
    events = [
        msgspec.structs.replace(event, mended="singer.Country has 'France', not 'FRANCE'.")
        if isinstance(event, SqlExecuted) and event.attempt == 1
        else event
        for event in run_events(4)
        if not (isinstance(event, AnswerWritten) and event.attempt == 1)
    ]
    text = told(events)
    assert "repair 1 of 7: SELECT name" in text
    assert "by rule, no model call: singer.Country has 'France', not 'FRANCE'." in text


def test_engine_trouble_names_its_mend() -> None:
    text = told(run_events(5))
    assert "engine trouble: The engine at 127.0.0.1:11434 refused the connection. Start it with" in text


def test_nothing_from_outside_reaches_the_terminal_raw() -> None:
    asked = question(0, text=HOSTILE * 3)
    events = episode_events(0, EpisodeOutcome.FAILED, 2, asked=asked, message=HOSTILE)
    text = told([*run_events(1)[:1], *events], summary=True)
    assert "[/x] [b]bold[/]" in text, "markup is text like any other"
    raw = [char for char in text if not char.isprintable() and char != "\n"]
    assert raw == []


def test_a_megabyte_in_a_cell_or_a_message_is_cut_and_says_so() -> None:
    big = "x" * 1_000_000
    events = episode_events(0, EpisodeOutcome.FAILED, 1, message=big)
    for index, event in enumerate(events):
        if isinstance(event, SqlExecuted):
            table = msgspec.structs.replace(event.result, error="", columns=(big,), rows=((big,),))
            events[index] = msgspec.structs.replace(event, result=table, sql=big)
    text = told([*run_events(1)[:1], *events])
    assert len(text) < 20_000
    assert "more characters)" in text


def test_parked_questions_announce_whom_the_lines_speak_of() -> None:
    first = episode_events(0, EpisodeOutcome.FAILED, 1)
    second = episode_events(1, EpisodeOutcome.FAILED, 1)
    start = run_events(2)[:1]
    text = told([*start, *first[:4], *second[:4], *first[4:]])
    assert "back to question 1 of 2, database orchard" in text


def test_an_output_that_cannot_say_a_letter_escapes_it() -> None:
    raw = io.BytesIO()
    view = PlainView(io.TextIOWrapper(raw, encoding="ascii"))
    for event in run_events(2):
        view.show(event)
    assert b"N\\xf8rre" in raw.getvalue()


def judged_by(regime: str, *, rows: int) -> str:
    """A question right at once and one repaired, with `rows` rows, told to the end."""
    return told(unconfirmed_events(regime, rows=rows), summary=True)


def test_an_answer_that_only_ran_is_nowhere_called_right() -> None:
    text = judged_by("execution", rows=1)
    assert "result: it ran (unconfirmed)" in text
    assert "RAN at once, unconfirmed, after" in text
    assert "RAN after 1 repair, unconfirmed, after" in text
    assert "judged by:      whether it runs; nobody has confirmed that an answer is right" in text
    assert "ran at first:   50.0 % (1 of 2), unconfirmed\n" in text
    assert "runs now:       100.0 % (2 of 2), unconfirmed\n" in text
    assert not re.search(r"\bright (at|now)|result: right|RIGHT|REPAIRED", text)


def test_an_answer_without_rows_that_nobody_confirmed_is_said_to_be_empty() -> None:
    text = judged_by("execution", rows=0)
    assert "result: it ran, with no rows (unconfirmed)" in text
    assert "RAN at once, with no rows, unconfirmed, after" in text
    assert "runs now:       100.0 % (2 of 2), unconfirmed, 2 with no rows\n" in text


def test_an_answer_that_candidates_agree_on_is_nowhere_called_right() -> None:
    text = judged_by("consensus", rows=1)
    assert "result: most candidates agree on it (unconfirmed)" in text
    assert "AGREED ON at once, unconfirmed, after" in text
    assert "agreed now:       100.0 % (2 of 2), unconfirmed\n" in text
    assert "whether most candidates agree" in text
    assert not re.search(r"\bright (at|now)|result: right|RIGHT|REPAIRED|result: wrong \(den", text)


def test_every_judge_that_does_not_confirm_has_words_of_its_own() -> None:
    parts: Any = SimpleNamespace(
        sandbox=None, folder=None, control=None, golds={"q": "SELECT 1"}, protocol="spider",
        deadline=1.0, keep_distinct=False, require_rows=False, agreed={},
    )  # fmt: skip
    doubted = {name for name in REGIMES if not build_regime(name, parts).confirms}
    assert doubted == set(UNCONFIRMED)


def test_a_persons_correction_is_named() -> None:
    place = {"run": "run-1", "seq": 1, "at": 1.0, "position": 0, "attempt": 0}
    start = run_events(1)[0]
    assert isinstance(start, RunStarted)
    assert "confirmed" not in told(run_events(8), summary=True), "gold knows what is right"
    wrong = AttemptJudged(
        **place,
        sql="SELECT 1",
        status=Status.DENOTATION_MISMATCH,
        judge="ana",
        remark="per year [/b]",
        correction="SELECT 2",
    )
    text = told([start, wrong])
    assert "remark of ana: per year [/b]" in text
    assert "corrected by ana: SELECT 2" in text
