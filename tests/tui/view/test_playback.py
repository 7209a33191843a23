"""Playing a stored run again: any place at any time looks as it did when the run was there."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Sequence

import msgspec
import pytest

from core.errors import MeritoError
from core.memory.entry import ReviewDecision, ReviewState
from core.run.events import (
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    JudgementAwaited,
    ReviewsApplied,
    RunResumed,
    SqlExecuted,
)
from tests.streams import EPOCH, run_events
from tui.view.chart import INTERVAL, LONGEST_PAUSE, Mark
from tui.view.playback import SPEEDS, Playback
from tui.view.reel import PAGE, Listed, Pages
from tui.view.run_view import RunView


def playback(events: Sequence[AnyEvent], speed: float = 1) -> Playback:
    """A playback that knows the whole run."""
    made = Playback(Listed(events), speed)
    while made.survey():
        pass
    return made


def folded(events: Sequence[AnyEvent]) -> RunView:
    """The view of a run that was watched up to here."""
    view = RunView()
    for event in events:
        view.apply(event)
    return view


@functools.cache
def long_run() -> list[AnyEvent]:
    """A run of many pages, quickly made."""
    return run_events(500, plans=[(EpisodeOutcome.RIGHT_AT_ONCE, 0)])


def numbered(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    return [
        msgspec.structs.replace(event, seq=place, at=EPOCH + place)
        for place, event in enumerate(events, start=1)
    ]


@functools.cache
def eventful(n: int = 60) -> list[AnyEvent]:
    """A run with everything in it: two episodes always under way at once, judgements awaited,
    reviews that count later, and an interruption."""
    begun, *middle, ended = run_events(n, reflections=True)
    lanes: list[list[AnyEvent]] = [[], []]
    for event in middle:
        lane = lanes[event.position % 2]  # type: ignore[union-attr]
        lane.append(event)
        if isinstance(event, SqlExecuted) and event.position % 7 == 3:
            lane.append(
                JudgementAwaited(
                    run="run-1", seq=0, at=EPOCH, position=event.position, attempt=event.attempt
                )
            )
    woven = [e for pair in itertools.zip_longest(*lanes) for e in pair if e is not None]
    lesson = next(e.memory for e in woven if isinstance(e, EpisodeEnded) and e.memory)
    decision = ReviewDecision(memory=lesson.id, state=ReviewState.REJECTED, who="ana", at=EPOCH)
    half = len(woven) // 2
    woven[half:half] = [
        ReviewsApplied(run="run-1", seq=0, at=EPOCH, position=9, decisions=(decision,)),
        RunResumed(run="run-1", seq=0, at=EPOCH, finished=4),
    ]
    return numbered([begun, *woven, ended])


def plain(view: RunView) -> dict[str, object]:
    """All that a face can read of a view; `version` alone counts how it came about."""
    left_out = {"version", "_keep", "_pinned", "_episodes"}
    shown = {name: value for name, value in vars(view).items() if name not in left_out}
    return shown | {"happenings": list(view.happenings), "waiting": list(view.waiting)}


def test_every_place_looks_as_it_did_when_the_run_was_there() -> None:
    events = eventful()
    assert len(events) > 2 * INTERVAL
    replay = playback(events)
    places = random.Random(7).choices(range(len(events) + 1), k=40)
    for place in [*places, 0, INTERVAL, INTERVAL - 1, INTERVAL + 1, len(events)]:
        replay.seek(place)
        then = folded(events[:place])
        assert replay.at == place
        assert plain(replay.view) == plain(then)
        if then.live is not None:
            assert replay.view.episode(then.live) == then.episode(then.live)


def test_any_episode_can_be_read_again_as_far_as_it_had_come() -> None:
    events = eventful()
    replay = playback(events)
    place = len(events) - 10
    replay.seek(place)
    then = RunView(keep=10_000)
    for event in events[:place]:
        then.apply(event)
    for position in (0, 3, 30, len(then.rows) - 1):
        if then.episode(position) is not None:
            assert replay.recall(position)
            assert replay.view.episode(position) == then.episode(position)


def test_an_episode_that_has_not_begun_has_no_detail() -> None:
    replay = playback(run_events(8))
    replay.seek(2)
    assert not replay.recall(5)
    assert replay.view.episode(5) is None


def test_played_to_its_end_a_replay_shows_what_the_run_showed() -> None:
    events = run_events(12)
    replay = playback(events)
    replay.play(True)
    while replay.playing:
        replay.advance(5.0)
    assert plain(replay.view) == plain(folded(events))


@pytest.mark.parametrize(
    ("mark", "kinds"),
    [
        (Mark.QUESTION, EpisodeStarted),
        (Mark.ATTEMPT, AttemptJudged),
        (Mark.FAILURE, AttemptJudged),
        (Mark.REPAIR, EpisodeEnded),
        (Mark.JUDGEMENT, AttemptJudged),
    ],
)
def test_marks_are_stepped_through_both_ways(mark: Mark, kinds: type[AnyEvent]) -> None:
    events = eventful()
    replay = playback(events)
    there = []
    while replay.next(mark):
        there.append(replay.at)
    back = []
    while replay.previous(mark):
        back.append(replay.at)
    assert there
    assert back == there[-2::-1]
    assert all(isinstance(events[place - 1], kinds) for place in there)


def test_marks_stand_where_they_should() -> None:
    events = eventful()
    marks = playback(events).chart.marks
    at = {mark: [events[place - 1] for place in places] for mark, places in marks.items()}
    asked = [event for event in events if isinstance(event, JudgementAwaited)]
    repaired = [
        e for e in events if isinstance(e, EpisodeEnded) and e.outcome is EpisodeOutcome.REPAIRED
    ]
    assert len(at[Mark.QUESTION]) == 60
    assert at[Mark.REPAIR] == repaired
    assert len(at[Mark.JUDGEMENT]) == len(asked)
    assert all(event.failure for event in at[Mark.FAILURE])


def test_a_run_that_is_not_wholly_read_yet_can_be_played_as_far_as_it_is() -> None:
    events = run_events(60)
    replay = Playback(Listed(events), 100)
    assert replay.survey(40)
    replay.seek(1_000)
    assert replay.at == 40
    assert replay.survey(10)
    replay.step(1)
    assert replay.at == 41
    assert plain(replay.view) == plain(folded(events[:41]))


def test_a_night_between_two_events_is_not_waited_for() -> None:
    events = run_events(2)
    events[5:] = [msgspec.structs.replace(event, at=event.at + 40_000) for event in events[5:]]
    assert playback(events).length < len(events) * LONGEST_PAUSE


def test_a_hundred_times_is_a_hundred_times_as_fast() -> None:
    replay = playback(run_events(30), 100)
    replay.play(True)
    replay.advance(0.5)
    assert replay.seconds == pytest.approx(50, abs=LONGEST_PAUSE)


def test_speeds_stay_within_the_table() -> None:
    replay = playback(run_events(1), 10_000)
    assert replay.speed == SPEEDS[-1] == 100
    replay.faster(1)
    assert replay.speed == 100
    for _ in range(20):
        replay.faster(-1)
    assert replay.speed == SPEEDS[0] == 1


def test_an_empty_run_can_be_played() -> None:
    replay = playback([])
    replay.play(True)
    replay.advance(1.0)
    assert not replay.next(Mark.QUESTION)
    assert not replay.previous(Mark.QUESTION)
    assert replay.ended


class Counted(Listed):
    """Notes what was read."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        super().__init__(events)
        self.reads: list[tuple[int, int]] = []

    def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
        self.reads.append((start, stop))
        return super().read(start, stop)


def test_pages_are_read_once_while_they_are_near_and_let_go_when_far() -> None:
    reel = Counted(long_run())
    pages = Pages(reel)
    assert [pages[place].seq for place in (0, 5, PAGE - 1, PAGE)] == [1, 6, PAGE, PAGE + 1]
    assert len(reel.reads) == 2
    assert len(list(pages.between(0, len(pages)))) == len(reel)
    assert len(pages._kept) < len(reel) / PAGE
    assert reel.reads[-1][1] == len(reel)


def test_a_jump_reads_a_few_pages_however_long_the_run() -> None:
    reel = Counted(long_run())
    replay = Playback(reel)
    while replay.survey():
        pass
    replay.seek(len(replay))
    reel.reads.clear()
    replay.seek(len(replay) // 2)
    assert len(reel.reads) <= 2 + INTERVAL // PAGE


def test_trouble_with_reading_is_passed_on_and_the_place_kept() -> None:
    class Torn(Listed):
        def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
            if start >= PAGE:
                raise MeritoError("The file is torn.")
            return super().read(start, stop)

    replay = Playback(Torn(long_run()))
    with pytest.raises(MeritoError, match="torn"):
        replay.survey(len(replay))
    replay.seek(100)
    assert replay.at == 100
