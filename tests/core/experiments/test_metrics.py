"""What a run came to: every figure against a count made by hand from the same events."""

from __future__ import annotations

import pytest

from core.experiments.along import cost_of
from core.experiments.metrics import accuracy, accuracy_along, metrics_of, served_by_memory
from core.experiments.report import report_of
from core.run.events import (
    AnswerWritten,
    AttemptJudged,
    EpisodeOutcome,
    MemoriesRetrieved,
    ReflectionWritten,
    RunResumed,
    SqlExecuted,
)
from core.run.figures import figures_of
from tests.streams import PLANS, run_events


def test_results_stand_in_the_order_of_the_stream_with_their_outcomes() -> None:
    metrics = metrics_of(run_events(8))
    assert [result.outcome for result in metrics.results] == [outcome for outcome, _ in PLANS]
    assert [result.repairs for result in metrics.results] == [repairs for _, repairs in PLANS]
    assert [len(result.attempts) for result in metrics.results] == [1, 2, 8, 4, 1, 2, 3, 0]
    assert metrics.complete


def test_rates_leave_out_the_skipped_and_the_broken() -> None:
    metrics = metrics_of(run_events(8))
    assert [result.position for result in metrics.judged] == [0, 1, 2, 3, 4, 6]
    assert accuracy(metrics.results) == metrics.figures.accuracy_now == pytest.approx(5 / 6)
    assert len(metrics.failed_first) == 4
    assert metrics.steps == pytest.approx((1 + 7 + 3 + 2) / 4)


def test_oscillation_is_the_share_of_repairs_that_repeat() -> None:
    events = run_events(8)
    repairs = [e for e in events if isinstance(e, AttemptJudged) and e.attempt > 0]
    again = [e for e in repairs if e.repeats is not None]
    assert again
    assert metrics_of(events).oscillation == pytest.approx(len(again) / len(repairs))


def test_cost_parts_initial_predictions_from_repairs_and_counts_reflections() -> None:
    events = run_events(8, reflections=True)
    metrics = metrics_of(events)
    answers = [e for e in events if isinstance(e, AnswerWritten)]
    reflections = [e for e in events if isinstance(e, ReflectionWritten)]
    assert metrics.spending.initial.calls == sum(e.attempt == 0 for e in answers) == 7
    assert metrics.spending.repairing.calls == sum(e.attempt > 0 for e in answers) + len(reflections)
    usages = [e.usage for e in (*answers, *reflections)]
    assert metrics.spending.cost.sent == sum(u.prompt_tokens or 0 for u in usages)
    assert metrics.spending.cost.evaluated == sum(u.evaluated_tokens or 0 for u in usages)
    assert metrics.spending.cost.tokens == metrics.spending.cost.sent + sum(
        u.output_tokens or 0 for u in usages
    )
    assert metrics.spending.cost.seconds == pytest.approx(
        sum(e.seconds for e in (*answers, *reflections))
    )


def test_what_judged_questions_took_is_told_apart_from_the_skipped_and_the_broken() -> None:
    events = run_events(8)
    metrics = metrics_of(events)
    counted = {result.position for result in metrics.judged}
    answers = [e for e in events if isinstance(e, AnswerWritten)]
    mine = [e.usage for e in answers if e.position in counted]
    assert 0 < len(mine) < len(answers)
    assert metrics.spending_on_judged.cost.calls == len(mine)
    assert metrics.spending_on_judged.cost.sent == sum(u.prompt_tokens or 0 for u in mine)
    executed = [e for e in events if isinstance(e, SqlExecuted) and e.position in counted]
    assert metrics.spending_on_judged.database == pytest.approx(sum(e.result.seconds for e in executed))
    assert cost_of(metrics) == sum(u.evaluated_tokens or 0 for u in mine) / 6


def test_an_answer_taken_over_is_charged_all_the_same() -> None:
    events = run_events(2)
    paid = metrics_of(events)
    for index, event in enumerate(events):
        if isinstance(event, AnswerWritten) and event.attempt == 0:
            fields = {name: getattr(event, name) for name in event.__struct_fields__}
            events[index] = AnswerWritten(**(fields | {"reused": True}))
    shared = metrics_of(events)
    assert shared.spending.initial == paid.spending.initial
    assert shared.figures.shared_answers == 2


def test_seconds_cover_database_and_retrieval_with_embedding() -> None:
    events = run_events(8)
    metrics = metrics_of(events)
    executed = sum(e.result.seconds for e in events if isinstance(e, SqlExecuted))
    recalled = [e.retrieval for e in events if isinstance(e, MemoriesRetrieved)]
    assert recalled
    assert metrics.spending.database == pytest.approx(executed)
    assert metrics.spending.retrieval == pytest.approx(
        sum(r.seconds + r.embedding_seconds for r in recalled)
    )
    embedded = sum(r.embedding_seconds for r in recalled)
    assert metrics.spending.embedding == pytest.approx(embedded)
    (cost,) = (each for each in report_of([metrics], title="t").tables if each.name == "cost")
    assert cost.records()[0]["of it embedding"] == pytest.approx(embedded)
    assert metrics.spending.seconds == pytest.approx(
        metrics.spending.cost.seconds + metrics.spending.database + metrics.spending.retrieval
    )


def test_attempts_name_the_memories_that_stood_in_their_prompt() -> None:
    metrics = metrics_of(run_events(8))
    named = {name for r in metrics.results for a in r.attempts for name in a.memories}
    assert named
    assert named == set(metrics.memories)


def test_an_interrupted_run_has_questions_without_an_outcome() -> None:
    events = run_events(8)
    cut = next(n for n, e in enumerate(events) if isinstance(e, AttemptJudged) and e.position == 3)
    metrics = metrics_of(events[: cut + 1])
    assert not metrics.complete
    assert [r.outcome for r in metrics.results[3:]] == [None] * 5
    assert len(metrics.judged) == 3


def test_accuracy_along_the_stream_ends_at_the_final_accuracy() -> None:
    metrics = metrics_of(run_events(16))
    curve = accuracy_along(metrics.results)
    assert len(curve) == len(metrics.judged)
    assert curve[-1] == accuracy(metrics.results)
    assert curve[0] == float(metrics.judged[0].right)


def test_only_later_questions_are_served_by_a_gold_that_came_before() -> None:
    results = metrics_of(run_events(8)).results
    ids = [result.question.id for result in results]
    golds = {ids[0]: "a", ids[2]: "a", ids[3]: "b", ids[5]: "b", ids[6]: "a", ids[7]: "c"}
    assert served_by_memory(results, golds) == {ids[2], ids[5], ids[6]}


def test_events_of_no_run_are_refused() -> None:
    with pytest.raises(ValueError, match="RunStarted"):
        metrics_of([])


def test_limits_are_counted_by_the_last_attempt() -> None:
    events = run_events(8)
    last = max(n for n, e in enumerate(events) if isinstance(e, AttemptJudged) and e.position == 2)
    event = events[last]
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    events[last] = AttemptJudged(**(fields | {"limit_hit": True}))
    metrics = metrics_of(events)
    assert metrics.limit_hits == 1
    assert metrics.results[2].outcome is EpisodeOutcome.FAILED


def test_an_attempt_that_was_cut_after_its_answer_costs_what_its_last_answer_does() -> None:
    """An answer may be committed with what was under way beside it, and its attempt be cut then."""
    whole = run_events(8)
    cut = []
    for event in whole:
        cut.append(event)
        if isinstance(event, AnswerWritten):
            cut += [RunResumed(run=event.run, seq=0, at=event.at, finished=0), event]
    assert len(cut) > len(whole)
    for figure in ("calls", "sent", "cached", "written", "uncounted"):
        told, counted = metrics_of(cut).spending.cost, figures_of(cut).cost
        assert getattr(told, figure) == getattr(metrics_of(whole).spending.cost, figure), figure
        assert getattr(counted, figure) == getattr(figures_of(whole).cost, figure), figure
    assert metrics_of(cut).spending.cost.seconds == pytest.approx(
        metrics_of(whole).spending.cost.seconds
    )
