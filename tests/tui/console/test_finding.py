"""Words are found on a sheet: / asks for them, n and N go from place to place."""

from __future__ import annotations

from typing import cast

from textual import events

from tests.streams import run_events
from tests.tui.console.stage import console, settled, until
from tui.console.screens.dialogs import FindField, Sheet
from tui.console.widgets.paper import Paper
from tui.console.widgets.search import SearchField


async def test_words_are_found_on_the_help_while_they_are_typed() -> None:
    app = console(run_events(8))
    async with app.run_test(size=(120, 24)) as pilot:
        await settled(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        sheet = app.screen
        paper = sheet.query_one(Paper)

        def pointed() -> str:
            assert paper._pointed is not None
            top = paper.scroll_offset.y
            assert top <= paper._pointed < top + paper.size.height, "the place is in view"
            return paper._strips[paper._pointed].text

        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, FindField))
        await pilot.press(*"Pane")
        await until(pilot, lambda: paper._pointed is not None)
        places = paper.lines_with("pane")
        assert len(places) > 1
        assert "pane" in pointed().casefold()
        await pilot.press("enter")
        await until(pilot, lambda: app.focused is paper)
        assert app.screen is sheet, "enter ends the search, not the sheet"
        assert f"1 of {len(places)}" in str(paper.border_subtitle)
        await pilot.press("N")
        await settled(pilot)
        assert paper._pointed == places[-1]
        await pilot.press("n")
        await settled(pilot)
        assert paper._pointed == places[0]

        await pilot.press("slash", *"[/x]")
        await settled(pilot)
        assert paper._pointed is None
        assert "not found" in str(paper.border_subtitle)
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is paper)
        assert "/ finds" in str(paper.border_subtitle)
        await pilot.press("n")
        await settled(pilot)
        assert paper._pointed is None, "nothing is looked for any more"
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Sheet))


async def test_keys_that_come_at_once_are_all_in_the_field() -> None:
    app = console(run_events(8))
    async with app.run_test(size=(120, 24)) as pilot:
        await settled(pilot)

        def typed_in_one_go(words: str) -> None:
            for character in words:
                name = {"/": "slash"}.get(character, character)
                app.post_message(events.Key(name, character))

        typed_in_one_go("/tram/")
        await until(pilot, lambda: isinstance(app.focused, SearchField))
        await settled(pilot)
        assert cast("SearchField", app.focused).value == "tram/"
        await pilot.press("escape")

        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Sheet))
        sheet = app.screen
        typed_in_one_go("/pane/")
        await until(pilot, lambda: isinstance(app.focused, FindField))
        await settled(pilot)
        assert app.screen is sheet
        assert cast("FindField", app.focused).value == "pane/"
