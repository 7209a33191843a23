"""Runs as they are listed, found, followed, resumed and summed up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.models.chat import Answer, Sampling, Usage
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    PromptSent,
    ReflectionWritten,
    RunEnded,
    RunResumed,
    SelectorAnswered,
)
from core.run.figures import figures_of
from stores.store import Store
from tests.streams import EPOCH, EventWriter, batches, episode_events, run_events, settings


def test_runs_are_listed_newest_first(store: Store) -> None:
    store.append(run_events(3, run="older", at=1000.0))
    store.append(run_events(8, run="newer", at=2000.0, end=None))
    newer, older = store.runs()
    assert (newer.id, newer.state, newer.questions, newer.ended, newer.finished) == (
        "newer",
        "open",
        8,
        8,
        False,
    )
    assert (older.id, older.state, older.finished) == ("older", "finished", True)
    assert older.model == "scripted:qwen-scripted"
    assert older.last_seq == run_events(3)[-1].seq


def test_the_beginning_of_an_id_is_enough_where_it_is_one_run_s(store: Store) -> None:
    for name in ("20260901-1015-ab12", "20260901-1107-cd34", "20260902-0800-ef56"):
        store.append(run_events(1, run=name))
    assert store.run("20260902").id == "20260902-0800-ef56"
    assert store.run("20260901-1015-ab12").id == "20260901-1015-ab12"
    with pytest.raises(MeritoError, match="could be any of 2: 20260901-1015-ab12, 20260901-1107-cd34"):
        store.run("20260901")
    with pytest.raises(MeritoError) as caught:
        store.run("20260902-0800-ef57")
    assert caught.value.problem == "There is no run '20260902-0800-ef57'."
    assert caught.value.mend == "Did you mean 20260902-0800-ef56?"
    with pytest.raises(MeritoError) as caught:
        store.run("nope")
    assert caught.value.mend == (
        "There are: 20260901-1015-ab12, 20260901-1107-cd34, 20260902-0800-ef56."
    )
    store.append(run_events(1, run="20260902-0900-0a0a"))
    with pytest.raises(MeritoError, match=r"The last of 4: 20260901-1107-cd34, .*-0a0a"):
        store.run("nope")


@pytest.mark.parametrize("name", ["", "%", "nothing", "'; DROP TABLE runs; --"])
def test_an_unknown_run_is_named(store: Store, name: str) -> None:
    with pytest.raises(MeritoError, match="There is no run"):
        store.run(name)
    store.append(run_events(1))
    with pytest.raises(MeritoError, match="There is no run"):
        store.run(name)


def test_the_newest_unfinished_run_with_equal_settings_is_found(store: Store) -> None:
    wanted = settings(strategy_fields={"b": 1, "a": [1, 2]}, seed=3)
    same = settings(strategy_fields={"a": [1, 2], "b": 1}, seed=3)
    assert store.find_run(wanted) is None
    store.append(run_events(1, run="first", run_settings=wanted, at=1.0, end="stopped"))
    store.append(run_events(1, run="second", run_settings=same, at=2.0, end=None))
    store.append(run_events(1, run="done", run_settings=same, at=3.0, end="finished"))
    store.append(run_events(1, run="other", run_settings=settings(seed=4), at=4.0, end=None))
    found = store.find_run(wanted)
    assert found is not None
    assert found.id == "second"


def test_a_finished_run_is_not_resumed(store: Store) -> None:
    store.append(run_events(2))
    with pytest.raises(MeritoError, match="is finished"):
        store.resume_state("run-1")


def test_a_run_goes_on_where_its_last_attempt_was_committed(store: Store) -> None:
    events = run_events(4, end=None)
    half_way = [*events, *episode_events(4, EpisodeOutcome.FAILED, 3, after=events[-1].seq)]
    judged = [i for i, event in enumerate(half_way) if isinstance(event, AttemptJudged)]
    stored = half_way[: judged[-2] + 1]
    store.append(stored)
    state = store.resume_state("run-1")
    assert state.questions == events[0].questions  # type: ignore[union-attr]
    assert state.settings == settings()
    assert sorted(state.progress.finished) == [0, 1, 2, 3]
    assert list(state.progress.unfinished) == [4]
    assert list(state.progress.unfinished[4]) == stored[len(events) :]
    assert state.progress.next_seq == len(stored) + 1
    assert list(state.progress.entries) == store.entries()
    assert state.progress.begun


def test_the_first_events_of_an_attempt_that_was_cut_off_do_not_count(store: Store) -> None:
    """RunEnded commits them, and the next session makes the whole attempt again."""
    writer = EventWriter(seq=0)
    writer.events = run_events(1, end=None)
    episode = episode_events(1, EpisodeOutcome.REPAIRED, 2, after=writer.events[-1].seq)
    first_judged = next(i for i, event in enumerate(episode) if isinstance(event, AttemptJudged))
    writer.events += episode[: first_judged + 2]
    assert isinstance(writer.events[-1], PromptSent)
    writer.seq = writer.events[-1].seq
    writer.add(RunEnded, reason="stopped")
    writer.add(RunResumed, finished=1)
    again = [e for e in episode[first_judged + 1 :] if e.position == 1]  # type: ignore[union-attr]
    for event in again[:4]:
        fields = {name: getattr(event, name) for name in event.__struct_fields__[3:]}
        writer.add(type(event), **fields)
    assert isinstance(writer.events[-1], AttemptJudged)
    store.append(writer.events)
    committed = store.resume_state("run-1").progress.unfinished[1]
    kinds = [type(event).__name__ for event in committed]
    assert kinds.count("EpisodeStarted") == 1
    assert (
        kinds.count("PromptSent") == kinds.count("AnswerWritten") == kinds.count("AttemptJudged") == 2
    )
    assert store.check() == ()


@pytest.mark.parametrize(
    "kept", range(1, len(list(batches(run_events(4, end=None, reflections=True)))) + 1)
)
def test_every_commit_is_a_place_to_go_on_from(store: Store, kept: int) -> None:
    all_batches = list(batches(run_events(4, end=None, reflections=True)))
    stored = [event for batch in all_batches[:kept] for event in batch]
    for batch in all_batches[:kept]:
        store.append(batch)
    progress = store.resume_state("run-1").progress
    ended = [event for event in stored if isinstance(event, EpisodeEnded)]
    assert progress.finished == {event.position: event for event in ended}
    assert progress.entries == tuple(event.memory for event in ended if event.memory)
    assert progress.next_seq == len(stored) + 1
    open_events = stored[ended[-1].seq if ended else 1 :]
    position = len(ended)
    started = any(isinstance(event, EpisodeStarted) for event in open_events)
    assert progress.unfinished == ({position: tuple(open_events)} if started else {})


def test_an_initial_answer_is_shared_under_its_key(store: Store) -> None:
    assert store.prediction("k1") is None
    for run, text, key, reused in (
        ("run-1", "first", "k1", False),
        ("run-2", "second", "k1", False),
        ("run-3", "third", "k2", True),
    ):
        store.append(_with_answer(run, text, key, reused))
    assert store.prediction("k1") == Answer(
        text="first", usage=Usage(prompt_tokens=7, output_tokens=2), seconds=0.5
    )
    assert store.prediction("k2") is None, "an answer that was itself reused is no source"
    assert store.prediction("") is None


def _with_answer(run: str, text: str, key: str, reused: bool) -> list[AnyEvent]:
    writer = EventWriter(run=run)
    writer.events = run_events(1, run=run, end=None)[:2]
    writer.seq = 2
    writer.add(
        AnswerWritten,
        position=0,
        attempt=0,
        text=text,
        sql="",
        usage=Usage(prompt_tokens=7, output_tokens=2),
        seconds=0.5,
        reused=reused,
        prediction_key=key,
    )
    return writer.events


async def test_a_reader_follows_a_writer_live(path: Path) -> None:
    events = run_events(3)
    seen: list[AnyEvent] = []
    with Store.open(path, create=True) as writer, Store.open(path, mode="read") as reader:
        stored, *waiting = batches(events)
        writer.append(stored)

        async with asyncio.timeout(20):
            async for event in reader.follow("run-1"):
                seen.append(event)
                if waiting and event == stored[-1]:
                    stored = waiting.pop(0)
                    writer.append(stored)
    assert seen == events


async def test_following_a_stored_run_ends_with_it(store: Store) -> None:
    events = run_events(3)
    store.append(events)
    assert [event async for event in store.follow("run-1")] == events
    assert [event async for event in store.follow("run-1", after=10)] == events[10:]


def test_the_time_between_two_sessions_does_not_count(store: Store) -> None:
    events = run_events(2, end="stopped")
    worked = events[-1].at - events[0].at
    writer = EventWriter(seq=events[-1].seq, at=events[-1].at + 86_400)
    writer.add(RunResumed, finished=2)
    writer.events += episode_events(2, after=writer.seq, at=writer.at)
    store.append([*events, *writer.events])
    more = writer.events[-1].at - writer.events[0].at
    record = store.run("run-1")
    assert record.seconds == pytest.approx(worked + more)
    assert (record.sessions, record.state) == (2, "open")


def test_a_call_names_the_events_that_hold_its_prompt_and_answer(store: Store) -> None:
    events = run_events(3, reflections=True)
    store.append(events)
    calls = list(store.database["calls"].rows)
    assert len(calls) == sum(isinstance(event, PromptSent) for event in events)
    for call in calls:
        prompt, answer = events[call["prompt_seq"] - 1], events[call["answer_seq"] - 1]
        assert isinstance(prompt, PromptSent)
        assert isinstance(answer, AnswerWritten | ReflectionWritten)
        assert (prompt.purpose, prompt.template) == (call["purpose"], call["template"])
        assert (prompt.attempt, answer.attempt) == (call["attempt"], call["attempt"])


def test_what_candidates_and_their_choice_cost_are_calls_too(store: Store) -> None:
    events = run_events(1)
    writer = EventWriter(seq=events[-1].seq, at=events[-1].at)
    here = {"position": 1, "attempt": 0, "seconds": 0.5}
    said = {"sampling": Sampling(), "text": "t", "sql": "q", "usage": Usage(prompt_tokens=7)}
    writer.add(CandidateDrawn, number=1, **said, **here)
    for template, tokens in (("select-list", 30), ("select-list", 31), ("select-score", 20)):
        usage = Usage(prompt_tokens=tokens, cached_tokens=20, output_tokens=4)
        writer.add(SelectorAnswered, template=template, usage=usage, **here)
    store.append([*events, *writer.events])
    calls = store.database.query(
        "SELECT purpose, template, count(*) AS n, sum(prompt_tokens) AS sent, sum(seconds) AS seconds"
        " FROM calls WHERE position = 1 GROUP BY 1, 2 ORDER BY 1, 2"
    )
    assert [tuple(call.values()) for call in calls] == [
        ("candidate", None, 1, 7, 0.5),
        ("selection", "select-list", 2, 61, 1.0),
        ("selection", "select-score", 1, 20, 0.5),
    ]


def test_one_episode_is_read_by_its_position(store: Store) -> None:
    events = run_events(4)
    store.append(events)
    assert store.episode("run-1", 2) == [e for e in events if getattr(e, "position", None) == 2]
    assert store.episode("run-1", 99) == []


def test_standings_are_of_the_runs_that_moved(store: Store) -> None:
    first, second = run_events(8, run="a"), run_events(4, run="b", at=EPOCH + 100)
    store.append(first[:30])
    store.append(second)
    standings = store.standings()
    assert [each.record.id for each in standings] == ["b", "a"]
    known = {each.record.id: each.record.last_seq for each in standings}
    assert store.standings(known) == []
    store.append(first[30:])
    (moved,) = store.standings(known)
    assert moved.record == store.run("a")
    assert moved.settings == first[0].settings
    assert moved.outcomes == dict(figures_of(first).outcomes)
