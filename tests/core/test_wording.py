"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from core.wording import counted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((0, "run"), "0 runs"),
        ((1, "run"), "1 run"),
        ((1_200, "run"), "1,200 runs"),
        ((1, "new memory", "new memories"), "1 new memory"),
        ((2, "query", "queries"), "2 queries"),
    ],
)
def test_a_noun_follows_its_number(words: tuple[int, str, str], said: str) -> None:
    assert counted(*words) == said
