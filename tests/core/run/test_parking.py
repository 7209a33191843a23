"""A person is the oracle: a question that waits for its judgement is parked, and the others go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from core.memory.entry import ReviewDecision, ReviewState
from core.models.chat import Answer, Delta, Message, Sampling
from core.run.control import Control, Judgement
from core.run.engine import Run
from core.run.events import (
    CLOSING,
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    JudgementAwaited,
    MemoriesRetrieved,
    RunEnded,
)
from stores.audit import Audit
from stores.recorder import Recorder
from stores.store import Store
from tests.core.run.stage import BROKEN, RIGHT, WRONG, questions, staged, wrapped
from tests.scripted import ScriptedModel

Judge = Callable[[Control, AnyEvent, list[AnyEvent]], None]


def drafts() -> ScriptedModel:
    """WRONG at first, and RIGHT where the prompt shows that it was wrong."""

    def answer(messages: Sequence[Message], _sampling: Sampling) -> str:
        text = messages[-1].content
        return wrapped(RIGHT if WRONG in text else WRONG)

    return ScriptedModel(answer)


async def judged(run: Run, judge: Judge, store: Store | None = None) -> list[AnyEvent]:
    """Every event of the run, each shown to the judge first."""
    seen: list[AnyEvent] = []
    events = run.events() if store is None else Recorder(store).record(run.events())
    async for event in events:
        seen.append(event)
        judge(run.equipment.control, event, seen)
    return seen


def of(kind: type, events: Sequence[AnyEvent], position: int | None = None) -> list:
    return [e for e in events if isinstance(e, kind) and position in (None, getattr(e, "position", 0))]


def silent(*_: object) -> None:
    """A judge who has gone home."""


def when_it_waits(parks: int, count: int, words: Callable[[int, int], Judgement]) -> Judge:
    """Judges only where the run cannot go on without: the oldest that waits, by its place alone."""

    def judge(control: Control, event: AnyEvent, seen: list[AnyEvent]) -> None:
        if not isinstance(event, JudgementAwaited | EpisodeEnded):
            return
        final = len(of(EpisodeEnded, seen))
        if final < count and len(control.waiting) >= min(parks, count - final):
            place = min(control.waiting)
            assert control.judge(*place, words(*place))

    return judge


async def test_later_questions_go_on_while_one_waits(tmp_path: Path) -> None:
    async with staged(tmp_path, drafts(), questions(3), regime="operator") as run:

        def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
            if isinstance(event, JudgementAwaited) and event.position == 2:
                assert control.waiting == ((0, 0), (1, 0), (2, 0))
                for place in control.waiting:
                    control.judge(*place, Judgement(right=True))

        events = await judged(run, judge)
    assert [event.overlapping for event in of(EpisodeStarted, events)] == [(), (0,), (0, 1)]
    assert [event.outcome for event in of(EpisodeEnded, events)] == [EpisodeOutcome.RIGHT_AT_ONCE] * 3


async def test_no_more_are_parked_than_the_bound_says(tmp_path: Path) -> None:
    most = 0

    def judge(control: Control, event: AnyEvent, seen: list[AnyEvent]) -> None:
        nonlocal most
        most = max(most, len(of(EpisodeStarted, seen)) - len(of(EpisodeEnded, seen)))
        judging(control, event, seen)

    judging = when_it_waits(2, 5, lambda *_: Judgement(right=True))
    async with staged(tmp_path, drafts(), questions(5), regime="operator") as run:
        run.parks = 2
        events = await judged(run, judge)
    assert most == 2
    assert len(of(EpisodeEnded, events)) == 5


async def test_nothing_is_parked_where_the_bound_is_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path, drafts(), questions(3), regime="operator") as run:
        run.parks = 0
        events = await judged(run, when_it_waits(1, 3, lambda *_: Judgement(right=True)))
    assert all(not event.overlapping for event in of(EpisodeStarted, events))


async def test_what_overlapping_questions_teach_comes_too_late(tmp_path: Path) -> None:
    """Question 1 begins while question 0 waits. When it is judged wrong, question 0 has taught its
    repair; question 1 must not see it, and question 2, which begins afterwards, must."""
    words = {
        (0, 0): Judgement(right=False),
        (0, 1): Judgement(right=True),
        (1, 0): Judgement(right=False),
        (1, 1): Judgement(right=True),
        (2, 0): Judgement(right=False),
        (2, 1): Judgement(right=True),
    }
    judge = when_it_waits(2, 3, lambda *place: words[place])
    async with staged(tmp_path, drafts(), questions(3), regime="operator") as run:
        run.parks = 2
        events = await judged(run, judge)
    first, second, third = of(MemoriesRetrieved, events)
    taught = of(EpisodeEnded, events)[0].memory.id
    order = [(type(event).__name__, event.position) for event in (*of(EpisodeEnded, events),)]
    assert order[0] == ("EpisodeEnded", 0)
    assert (first.position, first.entries) == (0, ())
    assert (second.position, second.entries) == (1, ())
    assert third.position == 2
    assert taught in [entry.id for entry in third.entries]


async def test_decisions_made_meanwhile_count_from_the_next_question_on(tmp_path: Path) -> None:
    """The memory of question 0 is rejected while question 1 is open: question 1 may still use it."""
    pending: list[ReviewDecision] = []
    counts: dict[int, int] = {}

    def judge(control: Control, event: AnyEvent, seen: list[AnyEvent]) -> None:
        if isinstance(event, EpisodeStarted) and event.position == 1:
            memory = of(EpisodeEnded, seen)[0].memory.id
            pending.append(ReviewDecision(memory=memory, state=ReviewState.REJECTED, who="bo", at=0.0))
        if isinstance(event, MemoriesRetrieved):
            counts[event.position] = len(event.entries)
        if isinstance(event, JudgementAwaited):
            if event.position == 0:
                control.judge(0, event.attempt, Judgement(right=event.attempt > 0))
            elif event.position == 2 or event.attempt:
                for place in control.waiting:
                    control.judge(*place, Judgement(right=place[1] > 0))

    async with staged(tmp_path, drafts(), questions(3), regime="operator") as run:
        run.parks = 1

        def park_after_the_first(control: Control, event: AnyEvent, seen: list[AnyEvent]) -> None:
            run.parks = 0 if not of(EpisodeEnded, seen) else 2
            judge(control, event, seen)

        def taken() -> tuple[ReviewDecision, ...]:
            told = tuple(pending)
            pending.clear()
            return told

        run.new_reviews = taken
        events = await judged(run, park_after_the_first)
    assert [event.overlapping for event in of(EpisodeStarted, events)] == [(), (), (1,)]
    assert counts == {0: 0, 1: 1, 2: 0}


async def test_the_same_words_in_the_same_order_give_the_same_run(tmp_path: Path) -> None:
    def words(position: int, attempt: int) -> Judgement:
        return Judgement(right=(position + attempt) % 3 == 2, who="ana")

    runs = []
    for _ in range(2):
        async with staged(tmp_path, drafts(), questions(6), regime="operator") as run:
            run.parks = 3
            runs.append(await judged(run, when_it_waits(3, 6, words)))
    assert [told(event) for event in runs[0]] == [told(event) for event in runs[1]]


def told(event: AnyEvent) -> str:
    """What an event says, without measured seconds."""
    if isinstance(event, EpisodeEnded):
        return f"{event.position} {event.outcome} {event.memory and event.memory.id}"
    if isinstance(event, MemoriesRetrieved):
        return f"{event.position}.{event.attempt} {[entry.id for entry in event.entries]}"
    if isinstance(event, AttemptJudged):
        return f"{event.position}.{event.attempt} {event.sql} {event.status} {event.judge}"
    if isinstance(event, EpisodeStarted):
        return f"{event.position} after {event.overlapping}"
    return type(event).__name__


class Killed(Exception):
    """The process is gone."""


@pytest.mark.slow
async def test_a_kill_at_any_moment_loses_neither_a_parked_question_nor_a_word(tmp_path: Path) -> None:
    """The run is cut after every commit in turn and taken up from the store; what is judged, learned
    and recalled is what the uninterrupted run has, and nobody is asked twice for the same word."""

    def words(position: int, attempt: int) -> Judgement:
        if position == 2:
            return Judgement(corrected_sql=RIGHT, who="ana")
        return Judgement(right=attempt > 0, who="ana", remark="" if attempt else f"not {position}")

    async def played(path: Path, cut: int | None) -> list[AnyEvent]:
        commits = 0

        def judge(control: Control, event: AnyEvent, seen: list[AnyEvent]) -> None:
            nonlocal commits
            commits += isinstance(event, CLOSING)
            if commits == cut:
                raise Killed
            stored = list(store.events("r"))
            when_it_waits(2, 4, words)(control, event, stored)

        with Store.open(path, create=True, durability="OFF") as store:
            progress = store.resume_state("r").progress if store.runs() else None
            async with staged(
                tmp_path, drafts(), questions(4), regime="operator", progress=progress
            ) as run:
                run.parks = 2
                try:
                    await judged(run, judge, store)
                except Killed:
                    return []
            assert not list(Audit(store).violations())
            assert store.check() == ()
            return list(store.events("r"))

    whole = await played(tmp_path / "whole.sqlite", None)
    results = {told(event) for event in whole if isinstance(event, RESULTS)}
    commits = sum(isinstance(event, CLOSING) for event in whole)
    for cut in range(1, commits):
        path = tmp_path / f"{cut}.sqlite"
        assert await played(path, cut) == []
        again = await played(path, None)
        assert sorted(told(event) for event in again if isinstance(event, RESULTS)) == sorted(results)
        assert len(of(AttemptJudged, again)) == len(of(AttemptJudged, whole)), "no word is asked twice"


RESULTS = (EpisodeStarted, AttemptJudged, EpisodeEnded)


class Halting(ScriptedModel):
    """Answers question 1 only when it is let to."""

    def __init__(self) -> None:
        super().__init__(lambda _m, _s: wrapped(WRONG))
        self.go_on, self.halted = asyncio.Event(), asyncio.Event()

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncIterator[Delta | Answer]:
        if "number 1" in messages[-1].content:
            self.halted.set()
            await self.go_on.wait()
        async for piece in super().stream(messages, sampling):
            yield piece


@pytest.mark.parametrize("held", ["by the model", "by a pause"])
async def test_a_word_is_kept_at_once_whatever_else_goes_on(held: str, tmp_path: Path) -> None:
    model = Halting()
    kept, halted, asked = asyncio.Event(), model.halted, asyncio.Event()
    async with staged(tmp_path, model, questions(2), regime="operator", budget=0) as run:
        control = run.equipment.control

        def judge(_control: Control, event: AnyEvent, seen: list[AnyEvent]) -> None:
            if held == "by a pause" and isinstance(event, EpisodeStarted) and event.position == 1:
                control.pause()
                halted.set()
            if isinstance(event, AttemptJudged):
                kept.set()
            if isinstance(event, JudgementAwaited) and event.position == 1:
                asked.set()

        watching = asyncio.create_task(judged(run, judge))
        await asyncio.wait_for(halted.wait(), 10)
        assert control.judge(0, 0, Judgement(right=True, who="ana"))
        await asyncio.wait_for(kept.wait(), 10)
        model.go_on.set()
        control.resume()
        await asyncio.wait_for(asked.wait(), 10)
        control.judge(1, 0, Judgement(skip=True, who="ana"))
        events = await asyncio.wait_for(watching, 10)
    assert [(e.position, e.outcome) for e in of(EpisodeEnded, events)] == [
        (0, EpisodeOutcome.RIGHT_AT_ONCE),
        (1, EpisodeOutcome.SKIPPED),
    ]


async def test_a_stop_ends_a_run_in_which_everybody_waits(tmp_path: Path) -> None:
    def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
        if isinstance(event, JudgementAwaited) and event.position == 1:
            control.stop()

    async with staged(tmp_path, drafts(), questions(2), regime="operator") as run:
        events = await asyncio.wait_for(judged(run, judge), 10)
    assert isinstance(events[-1], RunEnded)
    assert (events[-1].reason, of(EpisodeEnded, events)) == ("stopped", [])


async def test_a_stop_lets_the_attempt_under_way_end(tmp_path: Path) -> None:
    model = Halting()
    async with staged(tmp_path, model, questions(2), regime="operator") as run:
        watching = asyncio.create_task(judged(run, silent))
        await asyncio.wait_for(model.halted.wait(), 10)
        run.equipment.control.stop()
        model.go_on.set()
        events = await asyncio.wait_for(watching, 10)
    assert of(JudgementAwaited, events, 1), "what the model was writing is kept"
    assert events[-1].reason == "stopped"


async def test_a_listener_that_leaves_ends_every_episode(tmp_path: Path) -> None:
    async with staged(tmp_path, drafts(), questions(3), regime="operator") as run:
        events = run.events()
        async for event in events:
            if isinstance(event, JudgementAwaited) and event.position == 1:
                break
        before = asyncio.all_tasks()
        await events.aclose()
        assert len(asyncio.all_tasks()) < len(before), "no episode lives on"


async def test_a_skip_that_comes_before_the_first_attempt_ends_the_episode(tmp_path: Path) -> None:
    def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
        if isinstance(event, EpisodeStarted):
            control.skip(event.position, "ana")

    async with staged(tmp_path, drafts(), questions(1), regime="operator") as run:
        events = await asyncio.wait_for(judged(run, judge), 10)
    assert of(EpisodeEnded, events)[0].outcome is EpisodeOutcome.SKIPPED
    assert not of(AttemptJudged, events), "it ends before its first attempt"


async def test_a_correction_that_does_not_run_is_not_taken_for_right(tmp_path: Path) -> None:
    def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
        if isinstance(event, JudgementAwaited):
            word = Judgement(corrected_sql=BROKEN) if event.attempt == 0 else Judgement(right=True)
            control.judge(event.position, event.attempt, word)

    async with staged(tmp_path, drafts(), questions(1), regime="operator") as run:
        events = await judged(run, judge)
    failed = of(AttemptJudged, events)[1]
    assert (failed.sql, failed.message, failed.judge) == (BROKEN, "no such column: nme", "database")
    (ended,) = of(EpisodeEnded, events)
    assert (ended.outcome, ended.memory.revised_sql) == (EpisodeOutcome.REPAIRED, RIGHT)


async def test_where_everything_is_reviewed_a_confirmed_memory_is_not_recalled(tmp_path: Path) -> None:
    def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
        if isinstance(event, JudgementAwaited):
            control.judge(event.position, event.attempt, Judgement(right=event.attempt > 0))

    for review, recalled in (("all", 0), (msgspec.UNSET, 1)):
        async with staged(tmp_path, drafts(), questions(2), regime="operator", review=review) as run:
            events = await judged(run, judge)
        assert len(of(MemoriesRetrieved, events, 1)[0].entries) == recalled


async def test_who_asks_the_same_question_twice_is_not_waited_for(tmp_path: Path) -> None:
    waiting: list[JudgementAwaited] = []

    def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
        if isinstance(event, JudgementAwaited):
            waiting.append(event)
            if len(waiting) == 2:
                for each in waiting:
                    control.judge(each.position, each.attempt, Judgement(right=True))

    (question,) = questions(1)
    same = (question, msgspec.structs.replace(question, id="again"))
    async with staged(tmp_path, drafts(), same, regime="operator", strategy="iterative") as run:
        events = await asyncio.wait_for(judged(run, judge), 10)
    assert [end.outcome for end in of(EpisodeEnded, events)] == [EpisodeOutcome.RIGHT_AT_ONCE] * 2


async def test_a_slip_of_a_person_teaches_nothing(tmp_path: Path) -> None:
    def judge(control: Control, event: AnyEvent, _seen: list[AnyEvent]) -> None:
        if isinstance(event, JudgementAwaited):
            control.judge(event.position, event.attempt, Judgement(corrected_sql=BROKEN))

    async with staged(tmp_path, drafts(), questions(1), regime="operator", budget=0) as run:
        events = await judged(run, judge)
    (ended,) = of(EpisodeEnded, events)
    assert (ended.outcome, ended.memory) == (EpisodeOutcome.FAILED, None)
