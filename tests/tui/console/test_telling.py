"""What the console tells in passing."""

from __future__ import annotations

import pytest
from textual.widgets._toast import Toast

from tests.streams import run_events
from tests.tui.console.stage import SIZES, console, notices, settled, until
from tests.tui.console.test_judging import asked_about
from tui.console.widgets.episode import Episode
from tui.console.widgets.judgebar import JudgeBar


async def test_a_notice_that_is_told_again_stands_once() -> None:
    app = console(run_events(8))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        for _ in range(4):
            app.tell("[/x] Choose a database first.")
            app.tell("Something else.")
            await pilot.pause()
        await settled(pilot)
        told = [each for each in notices(app) if "The run is over" not in each]
        assert told == ["[/x] Choose a database first.", "Something else."]
        await until(pilot, lambda: len(app.screen_stack[0].query(Toast)) == len(told))


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_notice_covers_no_answer_that_is_judged(size: tuple[int, int]) -> None:
    app = console(asked_about("SELECT name, n FROM boat", 0))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.screen_stack[0].query_one(JudgeBar).armed)
        app.clear_notifications()
        app.tell(
            "Nothing was kept: the disk that the store lies on is full. Make room, then say it again."
        )
        app.tell("And another.")
        await until(pilot, lambda: len(app.screen.query(Toast)) == 2)
        await settled(pilot)
        answer = app.screen.query_one(Episode).content_region
        bar = app.screen.query_one(JudgeBar).region
        for toast in app.screen.query(Toast):
            assert toast.region.size
            assert not toast.region.overlaps(answer)
            assert not toast.region.overlaps(bar)
