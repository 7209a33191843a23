"""What the console tells in passing."""

from __future__ import annotations

from textual.widgets._toast import Toast

from tests.streams import run_events
from tests.tui.console.stage import console, notices, settled, until


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
