"""Examples, right answers without a transition, in every place that tells a memory."""

from __future__ import annotations

import pytest

from core.memory.entry import Polarity
from tests.core.memory.memories import memory
from tui.console.widgets.memories import transition
from tui.console.widgets.shelf import POLARITY_SIGNS
from tui.console.widgets.transition import SIDE_BY_SIDE, transition_lines
from tui.view.polarity import POLARITY_WORDS, change_of

EXAMPLE = memory(
    polarity=Polarity.EXAMPLE, failed_sql="", revised_sql="SELECT COUNT(*) FROM singer", delta=()
)


@pytest.mark.parametrize("width", [60, SIDE_BY_SIDE])
def test_the_entry_shows_its_answer_and_no_failure(width: int) -> None:
    text = "\n".join(line.content.plain for line in transition_lines(EXAMPLE, width))
    assert "right at once" in text
    assert "SELECT COUNT(*) FROM singer" in text
    assert "failed" not in text


def test_among_the_memories_used_it_shows_its_answer_and_no_failure() -> None:
    text = "\n".join(line.content.plain for line in transition(EXAMPLE, 2))
    assert "right at once" in text
    assert "SELECT COUNT(*) FROM singer" in text
    assert "failed" not in text


def test_its_change_is_the_answer_alone() -> None:
    assert change_of(EXAMPLE) == "SELECT COUNT(*) FROM singer"


def test_each_polarity_has_words_and_a_sign_of_its_own() -> None:
    assert set(POLARITY_WORDS) == set(POLARITY_SIGNS) == set(Polarity)
    for polarity in Polarity:
        assert POLARITY_WORDS[polarity].sign == POLARITY_SIGNS[polarity][0]
    assert len({words.sign for words in POLARITY_WORDS.values()}) == len(Polarity)
