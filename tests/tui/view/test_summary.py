"""Figures in words."""

from __future__ import annotations

import pytest

from tui.view.summary import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0.00 s"),
        (0.000_2, "under 1 ms"),
        (0.002, "2 ms"),
        (0.42, "0.42 s"),
        (7.31, "7.3 s"),
        (12.2, "12 s"),
        (185, "3 min 05 s"),
        (7_620, "2 h 07 min"),
    ],
)
def test_a_duration_is_told_as_people_read_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words
