"""The view model: what a stream of events comes to on a screen."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest

from core.memory.entry import Polarity, ReviewDecision, ReviewState
from core.models.chat import Usage
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    EpisodeOutcome,
    EpisodeStarted,
    JudgementAwaited,
    PromptSent,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    TokenDelta,
)
from core.run.figures import figures_of
from tests.stores.test_events import every_kind
from tests.streams import EPOCH, PLANS, episode_events, question, run_events, settings
from tui.view.run_view import RunView
from tui.view.states import OUTCOMES, SIGNS, State


def seen(events: list, keep: int = 32) -> RunView:
    view = RunView(keep=keep)
    for event in events:
        view.apply(event)
    return view


def test_every_question_waits_until_its_turn() -> None:
    view = seen(run_events(8)[:1])
    assert [row.state for row in view.rows] == [State.WAITING] * 8
    assert view.figures.questions == 8
    assert view.figures.accuracy_initial is None


def test_a_finished_run_shows_each_outcome() -> None:
    view = seen(run_events(8))
    assert [row.state for row in view.rows] == [OUTCOMES[outcome] for outcome, _ in PLANS]
    assert [row.repairs for row in view.rows] == [repairs for _, repairs in PLANS]
    assert all(row.seconds is not None for row in view.rows)
    assert view.ended


def test_both_rates_are_over_the_same_questions_and_leave_out_the_skipped_and_the_broken() -> None:
    figures = seen(run_events(8)).figures
    assert (figures.finished, figures.judged) == (8, 6)
    assert figures.accuracy_initial == pytest.approx(2 / 6)
    assert figures.accuracy_now == pytest.approx(5 / 6)


def test_help_from_memory_means_memories_in_the_prompt_that_worked() -> None:
    figures = seen(run_events(8)).figures
    assert figures.repaired == 3
    assert figures.repaired_with_memory == 2, "the first repair of a fresh run has no memory to use"
    assert figures.repaired_without_memory == 1


def test_shared_answers_are_no_calls_of_this_run() -> None:
    events = run_events(1)
    for index, event in enumerate(events):
        if isinstance(event, AnswerWritten):
            events[index] = AnswerWritten(
                run=event.run,
                seq=event.seq,
                at=event.at,
                position=0,
                attempt=0,
                text=event.text,
                sql=event.sql,
                usage=event.usage,
                seconds=event.seconds,
                reused=True,
            )
    figures = seen(events).figures
    assert (figures.cost.calls, figures.shared_answers, figures.cost.sent) == (0, 1, 0)


def test_unknown_token_counts_are_unknown_and_not_zero() -> None:
    view = seen(run_events(1)[:3])
    view.apply(
        AnswerWritten(
            run="run-1",
            seq=9,
            at=EPOCH,
            position=0,
            attempt=0,
            text="",
            sql="",
            usage=Usage(),
            seconds=1,
        )
    )
    assert view.figures.cost.uncounted == 1
    assert view.figures.tokens_per_second is None


def test_the_answer_streams_in_and_is_replaced_by_what_was_written() -> None:
    events = run_events(1, deltas=True)
    view = RunView()
    shown = []
    for event in events:
        view.apply(event)
        episode = view.episode(0)
        if episode is not None and episode.attempts and isinstance(event, TokenDelta):
            shown.append(episode.attempts[0].streaming)
    assert shown[-1].startswith("<answer>SELECT")
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    episode = view.episode(0)
    assert episode is not None
    assert episode.attempts[0].streaming == ""
    assert episode.attempts[0].sql.startswith("SELECT")


def test_an_endless_answer_does_not_fill_memory() -> None:
    view = seen(run_events(1)[:3])
    for _ in range(50):
        view.apply(TokenDelta(run="run-1", seq=0, at=EPOCH, position=0, attempt=0, text="x" * 10_000))
    episode = view.episode(0)
    assert episode is not None
    assert len(episode.attempts[0].streaming) <= 64_000


def test_only_what_changed_gets_a_new_version() -> None:
    events = run_events(8, deltas=True)
    view = RunView()
    for event in events:
        before = (view.head_version, view.queue_version, [row.version for row in view.rows])
        view.apply(event)
        if isinstance(event, TokenDelta):
            after = (view.head_version, view.queue_version, [row.version for row in view.rows])
            assert after == before, "a token delta touches neither figures nor queue"


def test_details_of_old_episodes_are_let_go_and_read_again() -> None:
    events = run_events(40)
    view = seen(events, keep=4)
    assert view.episode(0) is None
    assert view.forgotten(0)
    view.recall(0, events)
    episode = view.episode(0)
    assert episode is not None
    assert episode.outcome is EpisodeOutcome.RIGHT_AT_ONCE
    assert not view.forgotten(0)


def test_the_pinned_episode_keeps_its_detail() -> None:
    events = run_events(40)
    view = RunView(keep=4)
    view.pin(2)
    for event in events:
        view.apply(event)
    assert view.episode(2) is not None
    assert view.episode(1) is None


def test_an_attempt_that_waits_for_a_person_is_listed_until_it_is_judged() -> None:
    events = episode_events(0, EpisodeOutcome.REPAIRED, 1)
    view = RunView()
    judged = next(i for i, event in enumerate(events) if type(event).__name__ == "AttemptJudged")
    for event in events[:judged]:
        view.apply(event)
    view.apply(JudgementAwaited(run="run-1", seq=99, at=EPOCH, position=0, attempt=0))
    assert list(view.waiting) == [(0, 0)]
    assert view.rows[0].state is State.YOURS
    view.apply(events[judged])
    assert not view.waiting


def test_review_decisions_move_the_learned_entries() -> None:
    view = seen(run_events(4))
    entry = next(iter(view.figures.learned))
    assert view.figures.memories(Polarity.POSITIVE, ReviewState.APPROVED) == 2
    decision = ReviewDecision(memory=entry, state=ReviewState.REJECTED, who="ana", at=EPOCH)
    view.apply(ReviewsApplied(run="run-1", seq=900, at=EPOCH, position=4, decisions=(decision,)))
    assert view.figures.memories(Polarity.POSITIVE, ReviewState.APPROVED) == 1
    assert view.figures.memories(Polarity.POSITIVE) == 2


def test_an_episode_begun_again_after_a_resume_starts_clean() -> None:
    events = run_events(2, end=None)
    view = seen(events[:6])
    view.apply(RunEnded(run="run-1", seq=90, at=EPOCH, reason="interrupted"))
    assert view.ended
    view.apply(RunResumed(run="run-1", seq=91, at=EPOCH, finished=0))
    assert not view.ended
    view.apply(EpisodeStarted(run="run-1", seq=92, at=EPOCH, position=0, question=question(0)))
    episode = view.episode(0)
    assert episode is not None
    assert episode.attempts == []


def test_events_of_a_run_whose_start_was_not_seen_are_shown_all_the_same() -> None:
    view = seen(episode_events(3, EpisodeOutcome.FAILED, 2))
    assert [row.state for row in view.rows] == [State.WAITING] * 3 + [State.WRONG]


def test_a_refused_draft_keeps_the_place_of_its_attempt() -> None:
    view = seen(run_events(2)[:8])
    sent = next(event for event in run_events(2) if isinstance(event, PromptSent))
    view.apply(sent)
    view.apply(sent)
    episode = view.episode(0)
    assert episode is not None
    assert len(episode.attempts) == 1


def test_figures_folded_alone_equal_those_of_the_view() -> None:
    events = run_events(24, run_settings=settings(budget=5), reflections=True)
    assert figures_of(events) == seen(events).figures


def test_every_state_has_a_sign() -> None:
    assert set(SIGNS) == set(State)
    assert set(OUTCOMES) == set(EpisodeOutcome)


def test_every_kind_of_event_can_be_seen() -> None:
    events = every_kind()
    seen(events)
    assert {type(event) for event in events} | {TokenDelta} == set(get_args(AnyEvent))
