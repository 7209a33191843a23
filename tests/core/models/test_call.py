"""Token estimates, and messages that are safe to show."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.models.call import estimated_tokens, one_line, refuse_too_long
from core.models.chat import Message


def tokens(text: str) -> int:
    return estimated_tokens([Message("user", text)]) - estimated_tokens([Message("user", "")])


def test_words_digits_and_signs_are_counted_by_kind() -> None:
    assert tokens("name") == 2
    assert tokens("id") == 1
    assert tokens("2014") == 4
    assert tokens("in 2014") == 1 + 1 + 4
    assert tokens("((") == 2
    assert tokens("\n\n\n") == 1
    assert tokens("歌手") == 4


def test_every_message_costs_its_frame() -> None:
    one, two = ([Message("user", "")] * n for n in (1, 2))
    assert estimated_tokens(two) > estimated_tokens(one)


@given(st.text(), st.text())
def test_more_text_never_needs_fewer_tokens_than_its_parts_apart(a: str, b: str) -> None:
    assert tokens(a + "\n" + b) >= max(tokens(a), tokens(b))


@given(st.text())
def test_a_servers_words_are_one_printable_line(said: str) -> None:
    line = one_line(said)
    assert line.isprintable()
    assert len(line) <= 200


def test_a_prompt_that_fits_exactly_is_not_refused() -> None:
    refuse_too_long(90, 10, 100)
