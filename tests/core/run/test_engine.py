"""What a run does, from the first question to the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.entry import Polarity
from core.models.chat import ModelTrouble
from core.repair.episode import REFLECTION
from core.repair.strategy import STRATEGIES
from core.run.engine import Run
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    MemoriesRetrieved,
    ModelStumbled,
    PromptSent,
    ReflectionWritten,
    RunEnded,
    SqlExecuted,
    to_json,
)
from core.run.progress import Progress
from tests.core.run.stage import (
    BROKEN,
    RIGHT,
    WRONG,
    all_of,
    of,
    played,
    questions,
    staged,
    wrapped,
)
from tests.encoders import HashingEncoder
from tests.scripted import ScriptedModel


async def before_it_failed(run: Run, why: str) -> list[AnyEvent]:
    """The events of a run that ends with the engine's trouble."""
    seen: list[AnyEvent] = []

    async def watched() -> None:
        async for event in run.events():
            seen.append(event)  # noqa: PERF401 (what came before the exception counts)

    with pytest.raises(ModelTrouble, match=why):
        await watched()
    return seen


async def test_a_right_first_sql_ends_the_episode_and_teaches_nothing(tmp_path: Path) -> None:
    events = await played(tmp_path, [RIGHT])
    (ended,) = of(EpisodeEnded, events)
    assert (ended.outcome, ended.attempts, ended.memory) == (EpisodeOutcome.RIGHT_AT_ONCE, 0, None)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].reason == "finished"


async def test_a_repair_teaches_its_last_transition(tmp_path: Path) -> None:
    events = await played(tmp_path, [BROKEN, WRONG, RIGHT])
    (ended,) = of(EpisodeEnded, events)
    entry = ended.memory
    assert ended.outcome is EpisodeOutcome.REPAIRED
    assert entry.polarity is Polarity.POSITIVE
    assert (entry.context.failed_sql, entry.revised_sql) == (WRONG, RIGHT)
    assert entry.failure is FailureType.RESULT_MISMATCH
    assert (entry.provenance.from_attempt, entry.provenance.to_attempt) == (1, 2)
    assert entry.confirmed


async def test_an_episode_that_fails_to_the_end_teaches_its_last_direction(tmp_path: Path) -> None:
    last = ["SELECT id FROM boat", "SELECT fish FROM trip"]
    events = await played(tmp_path, [BROKEN, WRONG, *last])
    (ended,) = of(EpisodeEnded, events)
    assert ended.outcome is EpisodeOutcome.FAILED
    assert ended.memory.polarity is Polarity.NEGATIVE
    assert [ended.memory.context.failed_sql, ended.memory.revised_sql] == last
    assert ended.attempts == 3


async def test_each_failure_is_classified_by_what_the_database_says(tmp_path: Path) -> None:
    events = await played(tmp_path, [BROKEN, WRONG, "no query here", RIGHT])
    judged = of(AttemptJudged, events)
    assert [event.failure for event in judged] == [
        FailureType.SCHEMA_LINKING,
        FailureType.RESULT_MISMATCH,
        judged[2].failure,
        None,
    ]
    assert judged[0].message == "no such column: nme"
    assert judged[-1].status is Status.CORRECT


async def test_a_repeat_takes_its_place_in_the_budget_and_is_not_run_again(tmp_path: Path) -> None:
    events = await played(tmp_path, [WRONG, f"{WRONG.lower()} ;", WRONG, WRONG])
    judged = of(AttemptJudged, events)
    assert [event.repeats for event in judged] == [None, 0, 0, 0]
    assert len(of(SqlExecuted, events)) == 1
    assert len(judged) == 4


async def test_quotes_around_a_reserved_word_make_another_query(tmp_path: Path) -> None:
    """SQLite refuses the bare word, so the quoted one is a repair and no repeat of it."""
    events = await played(tmp_path, ["SELECT name FROM order", "SELECT name FROM `order`", RIGHT])
    assert [event.repeats for event in of(AttemptJudged, events)] == [None, None, None]


async def test_memories_come_only_from_earlier_positions(tmp_path: Path) -> None:
    events = await played(tmp_path, [WRONG, RIGHT] * 5, count=5)
    for event in of(MemoriesRetrieved, events):
        sources = {entry.provenance.position for entry in event.entries}
        assert all(source < event.position for source in sources)
        if event.position:
            assert sources, "five finished episodes of the same kind have something to say"


async def test_the_same_question_asked_again_never_sees_its_own_lesson(tmp_path: Path) -> None:
    (asked,) = questions(1)
    again = msgspec.structs.replace(asked, id="again", text=f"  {asked.text.upper()}  ")
    model = ScriptedModel([wrapped(sql) for sql in (WRONG, RIGHT, WRONG, RIGHT)])
    async with staged(tmp_path, model, (asked, again)) as run:
        events = await all_of(run)
    assert all(not event.entries for event in of(MemoriesRetrieved, events))


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_every_strategy_runs_through_the_one_loop(strategy: str, tmp_path: Path) -> None:
    answers = {"n": 0}

    def answer(messages: object, _sampling: object) -> str:
        answers["n"] += 1
        if "<reflection>" in messages[-1].content:  # type: ignore[index]
            return "<reflection>Only boats with a crew count.</reflection>"
        return wrapped([WRONG, BROKEN, RIGHT][answers["n"] % 3])

    async with staged(tmp_path, ScriptedModel(answer), questions(6), strategy=strategy) as run:
        events = await all_of(run)
    row = STRATEGIES[strategy]
    outcomes = Counter(event.outcome for event in of(EpisodeEnded, events))
    assert sum(outcomes.values()) == 6
    asked = {(event.position, event.attempt) for event in of(PromptSent, events) if event.attempt}
    recalled = {(event.position, event.attempt) for event in of(MemoriesRetrieved, events)}
    drafts = [
        (at, number)
        for position in range(6)
        for number, at in enumerate(sorted(at for at in asked if at[0] == position), 1)
    ]
    if row.repairs:
        assert recalled == {at for at, number in drafts if row.recalls(number) is not None}
    assert bool(of(ReflectionWritten, events)) == row.reflects
    assert (outcomes[EpisodeOutcome.REPAIRED] > 0) == row.repairs
    taught = [event for event in of(EpisodeEnded, events) if event.memory]
    assert bool(taught) == row.learns
    numbers = [event.seq for event in events if event.seq]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_reflexion_reflects_after_every_failure_the_last_included(tmp_path: Path) -> None:
    def answer(messages: object, _sampling: object) -> str:
        asked = messages[-1].content  # type: ignore[index]
        return "<reflection>R</reflection>" if "<reflection>" in asked else wrapped(WRONG)

    async with staged(
        tmp_path, ScriptedModel(answer), questions(1), strategy="reflexion", budget=2
    ) as run:
        events = await all_of(run)
    assert [event.attempt for event in of(ReflectionWritten, events)] == [0, 1, 2]
    rooms = {
        event.sampling.max_tokens for event in of(PromptSent, events) if event.purpose == "reflection"
    }
    assert rooms == {REFLECTION.max_tokens}
    assert of(EpisodeEnded, events)[0].memory.reflections == ("R", "R", "R")


MARKER = "GOLDMARKER7731"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("gold_runs", [True, False])
async def test_gold_is_never_seen_outside_the_evaluator(
    strategy: str, gold_runs: bool, tmp_path: Path
) -> None:
    """A marker in the gold SQL and in its rows is looked for in every prompt, event and entry."""
    gold = f"SELECT '{MARKER}' AS {MARKER}" if gold_runs else f"SELECT {MARKER} FROM {MARKER}"
    model = ScriptedModel(lambda _m, s: wrapped(f"SELECT {s.seed}, crew FROM boat"))
    asked = questions(3)
    golds = {question.id: gold for question in asked}
    async with staged(tmp_path, model, asked, strategy=strategy, golds=golds) as run:
        events = await all_of(run)
    assert all(MARKER.lower() not in to_json(event).decode().lower() for event in events)
    seen = [message.content for messages, _ in model.calls for message in messages]
    assert seen
    assert all(MARKER.lower() not in text.lower() for text in seen)
    outcome = EpisodeOutcome.FAILED if gold_runs else EpisodeOutcome.BROKEN
    assert {event.outcome for event in of(EpisodeEnded, events)} == {outcome}


async def test_a_broken_gold_is_reported_by_name_and_the_run_goes_on(tmp_path: Path) -> None:
    asked = questions(2)
    golds = {"q0": "SELECT nothing FROM nowhere", "q1": RIGHT}
    model = ScriptedModel(lambda _m, _s: wrapped(RIGHT))
    async with staged(tmp_path, model, asked, golds=golds) as run:
        ended = of(EpisodeEnded, await all_of(run))
    assert ended[0].outcome is EpisodeOutcome.BROKEN
    assert "q0" in ended[0].note
    assert ended[1].outcome is EpisodeOutcome.RIGHT_AT_ONCE


async def test_initial_predictions_are_shared_under_model_prompt_and_sampling(tmp_path: Path) -> None:
    first = await played(tmp_path, [WRONG, RIGHT])
    (made, _) = of(AnswerWritten, first)
    assert made.prediction_key

    class Stored:
        def prediction(self, key: str) -> object:
            from core.models.chat import Answer

            assert key == made.prediction_key
            return Answer(text=made.text, usage=made.usage, seconds=made.seconds)

    second = await played(tmp_path, [RIGHT], predictions=Stored(), strategy="iterative")
    reused, repair = of(AnswerWritten, second)
    assert (reused.reused, reused.sql) == (True, made.sql)
    assert (repair.reused, repair.prediction_key) == (False, "")


async def test_repairs_are_shared_where_runs_are_compared(tmp_path: Path) -> None:
    first = await played(tmp_path, [WRONG, RIGHT], strategy="resample", shares_repairs=True)
    made = {each.prediction_key: each for each in of(AnswerWritten, first)}
    assert len(made) == 2

    class Stored:
        def prediction(self, key: str) -> object:
            from core.models.chat import Answer

            return Answer(text=made[key].text, usage=made[key].usage, seconds=made[key].seconds)

    second = await played(tmp_path, [], predictions=Stored(), strategy="resample", shares_repairs=True)
    assert [(each.reused, each.sql, each.usage) for each in of(AnswerWritten, second)] == [
        (True, each.sql, each.usage) for each in made.values()
    ]


class TestInterruption:
    """A run that is taken up again goes on as if it had never stopped."""

    @staticmethod
    def model() -> ScriptedModel:
        def answer(messages: object, _sampling: object) -> str:
            text = "".join(message.content for message in messages)  # type: ignore[attr-defined]
            return wrapped([WRONG, BROKEN, f"SELECT {len(text)} FROM boat", RIGHT][len(text) % 4])

        return ScriptedModel(answer)

    async def test_after_any_committed_event_the_rest_is_the_same(self, tmp_path: Path) -> None:
        from core.run.events import CLOSING

        asked = questions(5)
        async with staged(tmp_path, self.model(), asked) as run:
            whole = await all_of(run)
        cuts = [index for index, event in enumerate(whole) if isinstance(event, CLOSING)][:-1]
        for cut in cuts:
            kept = [event for event in whole[: cut + 1] if event.seq]
            finished = {event.position: event for event in kept if isinstance(event, EpisodeEnded)}
            open_events: dict[int, tuple[AnyEvent, ...]] = {}
            for event in kept:
                place = getattr(event, "position", None)
                if place is not None and place not in finished:
                    open_events[place] = (*open_events.get(place, ()), event)
            progress = Progress(
                finished=finished,
                unfinished=open_events,
                next_seq=kept[-1].seq + 1,
                entries=tuple(event.memory for event in finished.values() if event.memory),
            )
            async with staged(tmp_path, self.model(), asked, progress=progress) as run:
                rest = await all_of(run)
            assert self.told(kept) + self.told(rest) == self.told(whole)
            assert sum(isinstance(event, EpisodeStarted) for event in [*kept, *rest]) == 5

    @staticmethod
    def told(events: list[AnyEvent]) -> list[str]:
        """What was asked, answered, judged and learned, without numbers of order and of time."""
        told = []
        for event in events:
            match event:
                case AnswerWritten():
                    told.append(f"{event.position}.{event.attempt} wrote {event.text}")
                case AttemptJudged():
                    told.append(f"{event.position}.{event.attempt} {event.sql} {event.status}")
                case EpisodeEnded():
                    told.append(f"{event.position} {event.outcome} {event.memory and event.memory.id}")
                case _:
                    pass
        return told

    async def test_a_stop_keeps_what_was_finished(self, tmp_path: Path) -> None:
        model = ScriptedModel(lambda _m, _s: wrapped(WRONG))
        async with staged(tmp_path, model, questions(3)) as run:
            events = []
            async for event in run.events():
                events.append(event)
                if isinstance(event, EpisodeEnded):
                    run.equipment.control.stop()
        assert events[-1].reason == "stopped"
        assert len(of(EpisodeEnded, events)) == 1


class TestControl:
    """Pause, step and skip, as keys and tests use them alike."""

    async def test_a_step_lets_one_attempt_happen(self, tmp_path: Path) -> None:
        import asyncio

        model = ScriptedModel(lambda _m, s: wrapped(f"SELECT {s.seed} FROM boat"))
        async with staged(tmp_path, model, questions(1), strategy="resample") as run:
            control = run.equipment.control
            control.pause()
            seen: list[AnyEvent] = []
            judged = asyncio.Event()

            async def watch() -> None:
                async for event in run.events():
                    seen.append(event)
                    if isinstance(event, AttemptJudged):
                        judged.set()

            task = asyncio.create_task(watch())
            for expected in (1, 2, 3):
                judged.clear()
                control.step()
                await asyncio.wait_for(judged.wait(), 10)
                await asyncio.sleep(0)
                assert len(of(AttemptJudged, seen)) == expected
                assert control.paused
            control.resume()
            await asyncio.wait_for(task, 10)
        assert isinstance(seen[-1], RunEnded)

    async def test_a_skipped_episode_teaches_nothing(self, tmp_path: Path) -> None:
        model = ScriptedModel(lambda _m, _s: wrapped(WRONG))
        async with staged(tmp_path, model, questions(2)) as run:
            run.equipment.control.skip(0)
            ended = of(EpisodeEnded, await all_of(run))
        assert (ended[0].outcome, ended[0].memory) == (EpisodeOutcome.SKIPPED, None)
        assert ended[1].outcome is EpisodeOutcome.FAILED


class TestModelFails:
    """The run waits, retries or pauses; it never invents an answer and never loses the episode."""

    async def test_what_can_pass_is_tried_again(self, tmp_path: Path) -> None:
        trouble = ModelTrouble("The server is busy.", "Wait.", passing=True)
        model = ScriptedModel([trouble, wrapped(RIGHT)])
        async with staged(tmp_path, model, questions(1)) as run:
            events = await all_of(run)
        (stumble,) = of(ModelStumbled, events)
        assert (stumble.problem, stumble.retry_in) == ("The server is busy.", 0.0)
        assert of(EpisodeEnded, events)[0].outcome is EpisodeOutcome.RIGHT_AT_ONCE

    async def test_what_cannot_pass_ends_the_session_and_keeps_the_episode_open(
        self, tmp_path: Path
    ) -> None:
        model = ScriptedModel([wrapped(WRONG), ModelTrouble("The model is gone.", "Pull it.")])
        async with staged(tmp_path, model, questions(1)) as run:
            seen = await before_it_failed(run, "gone")
        assert seen[-1].reason == "the model failed"
        assert not of(EpisodeEnded, seen)
        assert len(of(AttemptJudged, seen)) == 1

    async def test_an_encoder_that_fails_is_named(self, tmp_path: Path) -> None:
        class Gone(HashingEncoder):
            async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
                raise MeritoError("The encoder cannot be loaded.", "Run `merito doctor`.")

        model = ScriptedModel([wrapped(WRONG), wrapped(RIGHT)])
        async with staged(tmp_path, model, questions(1), encoder=Gone()) as run:
            seen = await before_it_failed(run, "encoder")
        assert seen[-1].reason == "the encoder failed"
        assert "doctor" in of(ModelStumbled, seen)[-1].mend

    async def test_a_console_pauses_and_goes_on_where_it_was(self, tmp_path: Path) -> None:
        model = ScriptedModel([wrapped(WRONG), ModelTrouble("Gone.", "Start it."), wrapped(RIGHT)])
        seen: list[AnyEvent] = []
        async with staged(tmp_path, model, questions(1), waits=True) as run:
            async for event in run.events():
                seen.append(event)
                if isinstance(event, ModelStumbled):
                    import asyncio

                    asyncio.get_running_loop().call_later(0.01, run.equipment.control.resume)
        assert of(EpisodeEnded, seen)[0].outcome is EpisodeOutcome.REPAIRED
        assert [event.attempt for event in of(AttemptJudged, seen)] == [0, 1]

    async def test_an_encoder_that_does_not_start_breaks_no_question(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from core.errors import MeritoError
        from tests.encoders import HashingEncoder

        starts = []

        async def space(encoder: HashingEncoder) -> object:
            starts.append(encoder)
            if len(starts) == 1:
                raise MeritoError("The encoder does not start.", "See the log.")
            return await working(encoder)

        working = HashingEncoder.space
        monkeypatch.setattr(HashingEncoder, "space", space)
        model = ScriptedModel([wrapped(WRONG), wrapped(RIGHT)])
        seen: list[AnyEvent] = []
        async with staged(tmp_path, model, questions(1), waits=True) as run:
            async for event in run.events():
                seen.append(event)
                if isinstance(event, ModelStumbled):
                    import asyncio

                    asyncio.get_running_loop().call_later(0.01, run.equipment.control.resume)
        (stumble,) = of(ModelStumbled, seen)
        assert stumble.problem == "The encoder does not start."
        assert of(EpisodeEnded, seen)[0].outcome is EpisodeOutcome.REPAIRED

    async def test_a_prompt_that_does_not_fit_ends_its_own_episode_only(self, tmp_path: Path) -> None:
        too_long = ModelTrouble("The prompt is too long.", "Shorten it.", concerns_prompt=True)
        model = ScriptedModel([wrapped(WRONG), too_long, wrapped(RIGHT)])
        async with staged(tmp_path, model, questions(2)) as run:
            ended = of(EpisodeEnded, await all_of(run))
        assert ended[0].outcome is EpisodeOutcome.FAILED
        assert "too long" in ended[0].note
        assert ended[1].outcome is EpisodeOutcome.RIGHT_AT_ONCE
