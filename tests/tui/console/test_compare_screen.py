"""Two runs side by side, question by question."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.console.stage import (
    notices,
    on_screen,
    settled,
    until,
)
from tests.tui.console.studied import (
    compared,
    computed,
    ids,
    ran,
    replayed,
    room,
    story,
    study,
)
from tui.console.screens.compare import CompareScreen
from tui.console.screens.dialogs import Sheet
from tui.console.screens.experiments import ExperimentsScreen


async def test_two_marked_runs_are_compared_where_they_differ() -> None:
    app = room(study())
    async with app.run_test(size=(200, 60)) as pilot:
        found = await compared(pilot, app)
        assert found.runs == ("iterative-0", "merit-0")
        assert ids(found) == ["q1", "q2", "q4", "q5"]
        shown = on_screen(app)
        for words in (
            "-28.6 points",
            "n = 7",
            "only first right 1",
            "only second right 3",
            "p = 0.625",
        ):
            assert words in shown
        assert "repaired" in story(found, "first")
        assert "failed" in story(found, "second")
        await pilot.press("down")
        await settled(pilot)
        assert "Question 3" in story(found, "first")
        assert "repaired" in story(found, "second")


async def test_d_goes_through_the_choices_of_questions() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        found = await compared(pilot, app)
        seen = []
        for _ in range(4):
            await pilot.press("d")
            await settled(pilot)
            seen.append(ids(found))
        assert seen == [["q1"], ["q2", "q4", "q5"], ["q7"], [f"q{n}" for n in range(8)]]


async def test_swap_search_and_back() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        found = await compared(pilot, app)
        await pilot.press("s")
        await until(pilot, lambda: "+28.6 points" in on_screen(app))
        assert found.runs == ("merit-0", "iterative-0")
        await settled(pilot)
        await pilot.press("slash", *"tramway", "enter")
        await settled(pilot)
        assert ids(found) == ["q1", "q5"]
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, ExperimentsScreen)


async def test_attempts_are_chosen_opened_and_copied_in_the_story_that_has_the_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    app = room(study())
    async with app.run_test(size=(200, 60)) as pilot:
        await compared(pilot, app)
        await pilot.press("tab", "tab", "left_square_bracket", "c")
        await settled(pilot)
        assert app.clipboard == "SELECT name, COUNT(*) FROM stop WHERE id > 2 GROUP BY name"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        await pilot.pause()
        assert "second" in app.screen.query_one("#sheet").border_title


async def test_a_compared_run_opens_in_replay_and_the_comparison_is_there_afterwards() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await compared(pilot, app)
        await pilot.press("tab", "tab", "o")
        await until(pilot, lambda: app.current_mode == "replay")
        await settled(pilot)
        await until(pilot, lambda: replayed(app) == "merit-0")
        await pilot.press("4")
        await settled(pilot)
        assert isinstance(app.screen, CompareScreen)


async def test_runs_that_never_differ_show_every_question() -> None:
    app = room([ran("none"), ran("none", order=1)])
    async with app.run_test(size=(120, 40)) as pilot:
        found = await compared(pilot, app, "v")
        assert len(ids(found)) == 8
        assert "+0.0 points" in on_screen(app)


async def test_what_cannot_be_compared_says_why() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("v")
        assert "Mark two runs" in notices(app)[-1]
