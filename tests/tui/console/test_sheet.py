"""The style sheet is parsed once for each theme, however often the look is refreshed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textual.css import stylesheet

from tui.console.app import MeritoApp
from tui.console.widgets.head import Head


async def test_rules_are_parsed_once_before_the_first_paint_and_anew_for_another_theme(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: Counter[tuple[Any, ...]] = Counter()
    parse = stylesheet.parse

    def counted(scope: str, css: str, read_from: Any, **rest: Any) -> Any:
        parsed[scope, css, read_from, rest["tie_breaker"]] += 1
        return parse(scope, css, read_from, **rest)

    monkeypatch.setattr(stylesheet, "parse", counted)
    app = MeritoApp(theme="merito-dark")
    async with app.run_test() as pilot:
        await pilot.pause()
        assert set(parsed.values()) == {1}
        dark = app.screen.query_one(Head).styles.background
        app.refresh_css()
        await pilot.pause()
        assert set(parsed.values()) == {1}
        await pilot.press("T")
        await pilot.pause()
        assert app.screen.query_one(Head).styles.background != dark
        app.theme = "merito-dark"
        await pilot.pause()
        assert app.screen.query_one(Head).styles.background == dark
        assert app.theme_variables["edge"] == app.current_theme.variables["edge"]


@pytest.mark.parametrize("room", ["memory", "replay"])
async def test_the_room_that_was_asked_for_is_the_first_screen(room: str) -> None:
    app = MeritoApp(room=room)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert list(app.built) == [room]
        await pilot.press("1")
        await pilot.pause()
        assert app.current_mode == "run"
