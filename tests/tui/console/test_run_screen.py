"""The Run screen: what it shows and what its keys do."""

from __future__ import annotations

import re

import pytest

from core.run.events import EpisodeOutcome, JudgementAwaited, ModelStumbled, SqlExecuted
from tests.streams import (
    EPOCH,
    episode_events,
    question,
    run_events,
    settings,
    unconfirmed_events,
)
from tests.tui.console.stage import console, notices, on_screen, replaced, settled, sheet, until
from tui.console.screens import dialogs
from tui.console.screens.dialogs import Confirm, Sheet, Words
from tui.console.screens.run import RunScreen
from tui.console.widgets import judgebar
from tui.console.widgets.judgebar import JudgeBar
from tui.console.widgets.queue import Queue
from tui.console.widgets.search import SearchField


def run_screen(app) -> RunScreen:
    screen = app.screen_stack[0]
    assert isinstance(screen, RunScreen)
    return screen


def awaiting() -> list:
    """A run whose first answer waits for a person."""
    events = [*run_events(2)[:1], *episode_events(0, EpisodeOutcome.REPAIRED, 1, asked=question(0))]
    executed = next(i for i, event in enumerate(events) if isinstance(event, SqlExecuted))
    asked = JudgementAwaited(run="run-1", seq=50, at=EPOCH + 9, position=0, attempt=0)
    return [*events[: executed + 1], asked, *events[executed + 1 :]]


async def test_the_live_episode_is_followed_with_its_memories() -> None:
    app = console()
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        assert run_screen(app).queue.position == 7
        text = on_screen(app)
        assert "RUN" in text.upper()
        assert "33.3 %" in text
        assert "83.3 %" in text
        assert "8/8" in text


async def test_moving_in_the_queue_stays_on_a_question_and_f_follows_again() -> None:
    app = console(hold=30)
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("g", "down")
        assert not run_screen(app).following
        assert run_screen(app).queue.position == 1
        assert "How many late stops does line 1 serve?" in sheet(app, "episode")
        app.staged.let_go.set()
        await until(pilot, lambda: app.session.view.ended)
        await settled(pilot)
        assert run_screen(app).queue.position == 1, "staying means staying"
        await pilot.press("f")
        assert run_screen(app).queue.position == 7


async def test_a_repaired_episode_shows_attempts_feedback_rows_and_memories() -> None:
    app = console()
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("g", "down", "down", "down")
        await settled(pilot)
        episode = sheet(app, "episode")
        for words in ("first SQL", "repair 1/7", "repair 3/7", "repeats repair 1", "3 rows in"):
            assert words in episode
        assert "hint no row has id > 0" in episode
        assert "learned + a positive memory" in episode
        memories = sheet(app, "memories")
        assert "for repair 3/7" in memories
        assert (
            "1 legal, 0 of the same failure type; too few, so all legal ones were ranked"
            in " ".join(memories.split())
        )
        assert "meaning" in memories
        assert "raw 0.900" in memories


async def test_an_answer_that_nobody_confirmed_is_nowhere_called_right() -> None:
    app = console(unconfirmed_events("execution"))
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        shown = on_screen(app)
        assert "runs now, unconfirmed" in shown
        assert "✓ ran, unconfirmed" in shown
        assert "1 made to run, 0 with memory" in shown
        queue = [run_screen(app).queue.row_content(row, 90, selected=False).plain for row in (0, 1)]
        assert " ran " in queue[0]
        assert " runs now " in queue[1]
        assert not re.search("✓ right|right at once|[+] repaired", shown)


async def test_attempts_are_selected_with_the_brackets() -> None:
    app = console()
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("g", "down", "down", "down")
        await pilot.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert "The first SQL is written without memory." in sheet(app, "memories")
        await pilot.press("right_square_bracket")
        assert "for repair 1/7" in sheet(app, "memories")


async def test_space_pauses_and_resumes_and_s_steps() -> None:
    app = console(hold=20)
    control = app.staged.control
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("space")
        assert control.paused
        await settled(pilot)
        assert "|| paused" in on_screen(app)
        await pilot.press("space")
        assert not control.paused
        await pilot.press("s")
        await control.checkpoint()
        assert control.paused, "one attempt, then held again"


async def test_keys_pressed_before_a_question_could_be_read_are_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dialogs, "GUARD", 3_600.0)
    app = console(hold=20)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y", "enter", "n")
        assert isinstance(app.screen, Confirm)
        monkeypatch.setattr(dialogs, "GUARD", 0.0)
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        assert not app.staged.control.stopped


async def test_stopping_asks_and_no_is_the_default() -> None:
    app = console(hold=20)
    control = app.staged.control
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        assert not control.stopped
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("y")
        await until(pilot, lambda: control.stopped)


async def test_skipping_asks_and_names_the_question() -> None:
    app = console(hold=10)
    control = app.staged.control
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        assert "Skip question 2?" in on_screen(app)
        await pilot.press("y")
        await until(pilot, lambda: control.skipped(1))


async def test_a_finished_question_cannot_be_skipped() -> None:
    app = console(hold=20)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("g", "x")
        assert notices(app) == ["Question 1 is finished; there is nothing to skip."]


async def test_a_waiting_answer_is_judged_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgebar, "GUARD", 3_600.0)
    app = console(awaiting())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        bar = app.screen.query_one(JudgeBar)
        assert bar.asked == (0, 0)
        assert "does it answer the question?" in on_screen(app)
        await pilot.press("r")
        assert app.staged.judgements == [], "a key in the first half second is no judgement"
        monkeypatch.setattr(judgebar, "GUARD", 0.0)
        await pilot.press("r")
        await until(pilot, lambda: app.staged.judgements)
        judgement = app.staged.judgements[0]
        assert (judgement.right, judgement.who) == (True, "ana")
        await until(pilot, lambda: not bar.display)


async def test_a_wrong_answer_takes_a_remark_and_esc_takes_it_back() -> None:
    app = console(awaiting())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.screen.query_one(JudgeBar).armed)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Words))
        assert app.staged.judgements == []
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press(*"per [year]", "enter")
        await until(pilot, lambda: app.staged.judgements)
        judgement = app.staged.judgements[0]
        assert (judgement.right, judgement.remark) == (False, "per [year]")


async def test_a_finished_run_is_followed_by_nobody() -> None:
    app = console(run_events(8))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.session.view.ended and not app.session.live)
        await settled(pilot)
        for _ in "jf":
            assert "following live" not in on_screen(app)
            assert "staying" not in on_screen(app)
            assert "f follow" not in on_screen(app).splitlines()[-1]
            await pilot.press("j")
            await settled(pilot)


async def test_a_live_run_is_followed() -> None:
    app = console(run_events(8), hold=20)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "following live" in on_screen(app))
        assert "f follow" in on_screen(app).splitlines()[-1]
        await pilot.press("f")
        await until(pilot, lambda: "staying (f follows)" in on_screen(app))


async def test_a_strategy_that_repairs_nothing_counts_towards_no_budget() -> None:
    plans = [(EpisodeOutcome.RIGHT_AT_ONCE, 0), (EpisodeOutcome.FAILED, 0)]
    for strategy, shown in (("none", False), ("merit", True)):
        app = console(run_events(4, plans=plans, run_settings=settings(strategy=strategy)))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda app=app: app.session.view.ended)
            await settled(pilot)
            assert ("0/7" in on_screen(app)) is shown


async def test_read_only_has_no_hand_on_the_run() -> None:
    app = console(awaiting(), read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert app.session.control is None, "below the interface: there is nothing to steer with"
        for key in ("space", "s", "X", "x", "r", "w"):
            await pilot.press(key)
        assert set(notices(app)) == {"This console is read-only: it shows the run and cannot steer it."}
        assert not app.staged.control.paused
        assert "read-only" in on_screen(app)


async def test_the_search_narrows_the_queue_while_it_is_typed() -> None:
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        queue = app.screen.query_one(Queue)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await pilot.press(*"tramway")
        assert queue.row_count == 2
        await pilot.press("enter")
        assert queue.has_focus
        assert queue.row_count == 2
        await pilot.press("slash")
        await pilot.press("escape")
        assert queue.row_count == 8


async def test_enter_on_an_attempt_opens_everything_about_it() -> None:
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("g", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        await settled(pilot)
        text = on_screen(app)
        assert "Prompt" in text
        assert "CREATE TABLE harvest" in text
        await pilot.press("escape")
        assert isinstance(app.screen, RunScreen)


async def test_engine_trouble_is_told_and_shown() -> None:
    events = run_events(8)
    stumble = next(i for i, event in enumerate(events) if isinstance(event, ModelStumbled))
    app = console(events, hold=stumble + 1)
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        banner = on_screen(app).splitlines()[2]
        assert "refused the connection. Start it with: ollama serve" in banner
        assert "Start it with: ollama serve" in " ".join(sheet(app, "episode").split())


async def test_trouble_that_pauses_the_run_is_announced() -> None:
    events = run_events(8)
    stumble = next(i for i, event in enumerate(events) if isinstance(event, ModelStumbled))
    events[stumble] = replaced(events[stumble], retry_in=None)
    app = console(events, hold=stumble + 1)
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        assert any(notice.startswith("The run is paused: ") for notice in notices(app))


async def test_a_run_that_breaks_off_says_why_and_the_console_stays() -> None:
    async def broken():
        yield run_events(2)[0]
        raise RuntimeError("[/bold] no [memory] left")

    from tui.console.app import MeritoApp

    app = MeritoApp(events=broken())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.session.failure)
        await settled(pilot)
        assert "[/bold] no [memory] left" in on_screen(app)
        assert any("details are in" in notice for notice in notices(app))
        await pilot.press("2")
        await settled(pilot)


@pytest.mark.parametrize("keys", [("1",), ("2",), ("3",)])
async def test_with_nothing_open_every_screen_says_what_to_do(keys) -> None:
    from tui.console.app import MeritoApp

    app = MeritoApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        assert "merito demo" in on_screen(app)


async def test_an_old_episode_is_read_from_the_archive() -> None:
    app = console(run_events(80))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.session.view.ended)
        await settled(pilot)
        assert app.session.view.forgotten(0)
        await pilot.press("g")
        await until(pilot, lambda: app.session.view.episode(0) is not None)
        await settled(pilot)
        assert "first SQL" in sheet(app, "episode")


async def test_without_an_archive_an_old_episode_says_so() -> None:
    app = console(run_events(80), archive=None)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.session.view.ended)
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        assert "no store is open to read it from" in " ".join(sheet(app, "episode").split())


async def test_quitting_during_a_run_asks_stops_it_and_closes_it() -> None:
    app = console(hold=20)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.armed)
        await pilot.press("y")
        await until(pilot, lambda: app.staged.closed, seconds=3)
        assert app.staged.control.stopped


async def test_quitting_with_no_run_asks_nothing() -> None:
    app = console()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("q")
        await until(pilot, lambda: app.return_value == 0)


async def test_resizing_during_a_run_keeps_the_selection() -> None:
    app = console(run_events(40, deltas=True), hold=400)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("g", "down", "down")
        for size in ((80, 24), (200, 60), (40, 12), (20, 6), (160, 50), (80, 24)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            assert run_screen(app).queue.position == 2
        app.staged.let_go.set()
        await until(pilot, lambda: app.session.view.ended)
        assert run_screen(app).queue.position == 2


async def test_one_pane_at_a_time_on_a_small_terminal() -> None:
    app = console()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        shown = lambda: [p.id for p in app.screen.query(".pane") if p.display and p.region.area]  # noqa: E731
        assert shown() == ["queue"]
        await pilot.press("tab")
        await settled(pilot)
        assert shown() == ["episode"]
        await pilot.press("tab")
        await settled(pilot)
        assert shown() == ["memories"]
        await pilot.press("shift+tab")
        await settled(pilot)
        assert shown() == ["episode"]
