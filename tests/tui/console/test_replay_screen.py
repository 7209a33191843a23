"""The Replay screen, and the playback behind it."""

from __future__ import annotations

import pytest

from tests.streams import run_events
from tests.tui.console.stage import Annals, console, on_screen, settled, until
from tui.console.screens.replay import ReplayScreen
from tui.console.screens.runs import ChooseRun
from tui.view.playback import LONGEST_PAUSE, SPEEDS, Playback
from tui.view.run_view import RunView


def whole(events) -> RunView:
    view = RunView()
    for event in events:
        view.apply(event)
    return view


def test_played_to_its_end_a_replay_shows_what_the_run_showed() -> None:
    events = run_events(12)
    playback = Playback(events)
    playback.play(True)
    while playback.playing:
        playback.advance(5.0)
    assert playback.view.figures == whole(events).figures
    assert playback.view.rows == whole(events).rows


def test_back_and_forth_ends_where_it_began() -> None:
    events = run_events(6)
    playback = Playback(events)
    playback.seek(20)
    rows = [(row.state, row.repairs) for row in playback.view.rows]
    playback.step(9)
    playback.step(-9)
    assert [(row.state, row.repairs) for row in playback.view.rows] == rows


def test_questions_are_stepped_through_both_ways() -> None:
    playback = Playback(run_events(6))
    playback.seek(1)
    playback.next_question()
    assert playback.view.live == 0
    playback.next_question()
    assert playback.view.live == 1
    playback.previous_question()
    assert playback.view.live == 0


def test_a_night_between_two_events_is_not_waited_for() -> None:
    from tests.tui.console.stage import replaced

    events = run_events(2)
    events[5:] = [replaced(event, at=event.at + 40_000) for event in events[5:]]
    assert Playback(events).length < len(events) * LONGEST_PAUSE


def test_a_hundred_times_is_a_hundred_times_as_fast() -> None:
    playback = Playback(run_events(30), 100)
    playback.play(True)
    playback.advance(0.5)
    assert playback.seconds == pytest.approx(50, abs=LONGEST_PAUSE)


def test_speeds_stay_within_the_table() -> None:
    playback = Playback(run_events(1), 10_000)
    assert playback.speed == SPEEDS[-1]
    playback.faster(1)
    assert playback.speed == SPEEDS[-1]
    for _ in range(20):
        playback.faster(-1)
    assert playback.speed == SPEEDS[0]


def test_an_empty_run_can_be_played() -> None:
    playback = Playback([])
    playback.play(True)
    playback.advance(1.0)
    playback.next_question()
    playback.previous_question()
    assert playback.ended


def screen(app) -> ReplayScreen:
    found = app.screen_stack[0]
    assert isinstance(found, ReplayScreen)
    return found


async def test_the_newest_run_stands_at_its_beginning_and_is_labelled() -> None:
    app = console(room="replay")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert screen(app).playback.at == 1
        assert "replay" in on_screen(app)
        assert "|| held 1x" in on_screen(app)


async def test_keys_step_jump_and_change_speed() -> None:
    app = console(room="replay")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        playback = screen(app).playback
        await pilot.press("n", "n")
        assert playback.view.live == 1
        at = playback.at
        await pilot.press("full_stop", "right")
        assert playback.at == at + 2
        await pilot.press("comma")
        assert playback.at == at + 1
        await pilot.press("plus")
        assert playback.speed == 2
        await pilot.press("minus")
        assert playback.speed == 1
        await pilot.press("p")
        assert playback.view.live in (0, 1)


async def test_space_plays_and_holds() -> None:
    app = console(room="replay")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        playback = screen(app).playback
        for _ in range(6):
            await pilot.press("plus")
        await pilot.press("space")
        await until(pilot, lambda: playback.at > 20)
        await pilot.press("space")
        assert not playback.playing


async def test_a_run_that_was_asked_for_plays_at_once() -> None:
    app = console(room="replay", replay_run="run-1", replay_speed=100)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: screen(app).playback is not None and screen(app).playback.ended)
        await settled(pilot)
        assert "8/8" in on_screen(app)


async def test_another_run_is_chosen_from_the_list() -> None:
    first, second = run_events(8), run_events(3, run="run-2")
    app = console(first, room="replay", archive=Annals(first, second))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ChooseRun))
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen(app).playback.view.figures.run == "run-2")
        await settled(pilot)
        assert "0/3" in on_screen(app)


async def test_a_replay_leaves_the_live_run_alone() -> None:
    app = console(hold=20)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        finished = app.session.view.figures.finished
        await pilot.press("3")
        await settled(pilot)
        await pilot.press("n", "n", "n", "n")
        assert app.session.view.figures.finished == finished
        await pilot.press("1")
        await settled(pilot)
        assert f"{finished}/8" in on_screen(app)
