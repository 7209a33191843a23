"""Every colour that carries words can be read on every ground it stands on (WCAG 2.2, 1.4.3 and
1.4.6), and every colour that means something has a word or a sign beside it."""

from __future__ import annotations

import pytest
from textual.color import Color

from core.memory.entry import Polarity, ReviewState
from themes.palettes import INKS, palettes, with_inks
from tui.console.widgets.queue import STATE_STYLES
from tui.console.widgets.shelf import POLARITY_SIGNS, STATE_SIGNS
from tui.view.states import SIGNS, State

THEMES = {theme.name: with_inks(theme.to_color_system().generate()) for theme in palettes()}
GROUNDS = ("background", "panel", "cursor", "cursor-dim")
WORDS = ("foreground", *(ink for ink in INKS if ink.startswith("ink-") and not ink.endswith("ed")))
LEAST = {"merito-contrast": 7.0, "merito-projector": 7.0}
"""AAA where a theme is made for being read under difficulties; AA (4.5) elsewhere."""
BOLD_OR_LARGE = 3.0


def luminance(color: Color) -> float:
    """Relative luminance, 0 black to 1 white (WCAG 2.2, definitions)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (color.r / 255, color.g / 255, color.b / 255)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(theme: str, words: str, ground: str) -> float:
    """The contrast ratio of two of a theme's colours, 1 to 21."""
    lights = sorted(luminance(Color.parse(THEMES[theme][name])) for name in (words, ground))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def test_the_formula_is_the_standards() -> None:
    assert luminance(Color.parse("#ffffff")) == pytest.approx(1)
    assert luminance(Color.parse("#777777")) == pytest.approx(0.1845, abs=1e-3)


@pytest.mark.parametrize("theme", THEMES)
def test_words_can_be_read_on_every_ground(theme: str) -> None:
    least = LEAST.get(theme, 4.5)
    poor = {
        (words, ground): round(contrast(theme, words, ground), 2)
        for words in WORDS
        for ground in GROUNDS[:2]
        if contrast(theme, words, ground) < least
    }
    assert poor == {}


@pytest.mark.parametrize("theme", THEMES)
def test_the_selected_row_can_be_read(theme: str) -> None:
    """Its colours are hints there, the words are the foreground's and bold."""
    for ground in GROUNDS[2:]:
        assert contrast(theme, "foreground", ground) >= LEAST.get(theme, 4.5), ground
        for words in WORDS:
            assert contrast(theme, words, ground) >= BOLD_OR_LARGE, (words, ground)


@pytest.mark.parametrize("theme", THEMES)
def test_what_was_added_and_removed_can_be_read(theme: str) -> None:
    for ground in ("ink-added", "ink-removed"):
        assert contrast(theme, "foreground", ground) >= LEAST.get(theme, 4.5), ground
    assert contrast(theme, "background", "accent") >= 4.5, "the letters of jump mode"


@pytest.mark.parametrize("theme", THEMES)
def test_the_pane_with_the_keys_stands_out_from_the_others(theme: str) -> None:
    assert contrast(theme, "primary", "background") >= BOLD_OR_LARGE
    assert THEMES[theme]["primary"] != THEMES[theme]["edge"]


def test_no_meaning_is_told_by_colour_alone() -> None:
    assert set(STATE_STYLES) == set(State) == set(SIGNS)
    assert len({sign for sign, _ in STATE_SIGNS.values()}) == len(ReviewState)
    assert len({sign for sign, _ in POLARITY_SIGNS.values()}) == len(Polarity)
    alike = [a for a in State for b in State if a != b and (SIGNS[a], a.value) == (SIGNS[b], b.value)]
    assert not alike
