"""Every word on every screen can be read in every theme: as the terminal shows it, not as the table of
colours promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from textual.color import Color
from textual.screen import ModalScreen

from tests.themes.test_contrast import luminance
from tests.tui.console.scenes import ROOMS, SHEETS
from tests.tui.console.stage import settled
from themes.palettes import palettes
from tui.console.app import MeritoApp

LEAST = 4.5
"""AA (WCAG 2.2, 1.4.3), also on the grounds that mark a row or a change; where a theme promises more
on its plain grounds, the table of colours is held to it."""
SCENES = {**ROOMS, **{name: SHEETS[name] for name in ("correction", "compare")}}


def contrast(segment: Segment) -> float:
    """The contrast ratio of a piece of text on its ground."""
    style = segment.style
    assert style is not None
    words, ground = _colour(style.color, "#ffffff"), _colour(style.bgcolor, "#000000")
    lights = sorted((luminance(words), luminance(ground)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _colour(found: RichColor | None, otherwise: str) -> Color:
    return Color.from_rich_color(found) if found is not None else Color.parse(otherwise)


def words_on(app: MeritoApp) -> Iterator[Segment]:
    """The pieces of text that hold a letter or a digit; of what a dialog dims, none."""
    screen = app.screen
    inside = [child.region for child in screen.children if child.region]
    front = inside[0] if isinstance(screen, ModalScreen) else screen.region
    for y, strip in enumerate(screen._compositor.render_strips()):
        if front.y <= y < front.bottom:
            found = strip.crop(front.x, front.right)
            yield from (each for each in found if any(letter.isalnum() for letter in each.text))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
async def test_every_word_can_be_read_in_every_theme(name: str, tmp_path: Path) -> None:
    app = SCENES[name].build(tmp_path, "merito-dark")
    poor: dict[str, float] = {}
    async with app.run_test(size=(120, 40)) as pilot:
        await SCENES[name].act(app, pilot)
        seen = set()
        for theme in palettes():
            app.theme = theme.name
            await settled(pilot)
            found = list(words_on(app))
            seen.add(str(found))
            poor |= {
                f"{theme.name}: {s.text.strip()}": contrast(s) for s in found if contrast(s) < LEAST
            }
    if app.asker is not None:
        await app.asker.close()
    assert poor == {}
    assert len(seen) == len(palettes()), "each was drawn"
