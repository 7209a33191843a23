"""Text from outside, made safe to look at."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.view.difference import change_words, changes
from tui.view.legible import cell_text, legible, one_line

ANY_TEXT = st.text(st.characters(), max_size=300)
"""Surrogates, controls and unassigned code points included."""


@given(ANY_TEXT)
def test_nothing_invisible_and_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    for char in one_line(text):
        assert unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"}
    assert "\n" not in one_line(text)
    assert set(legible(text)) & {"\x1b", "\r", "\x00", "\u202e"} == set()


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=80))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


@given(ANY_TEXT, st.integers(5, 50))
def test_a_cut_is_said(text: str, limit: int) -> None:
    if len(text) > limit:
        assert f"({len(text) - limit:,} more characters)" in legible(text, limit)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "NULL"),
        ("NULL", "'NULL'"),
        ("", "''"),
        (" x", "' x'"),
        (1, "1"),
        (2.5, "2.5"),
        ("a\x00b", "a␀b"),
        ("\x1b[31m", "␛[31m"),
        ("[/x]", "[/x]"),
    ],
)
def test_cells(cell: int | float | str | None, shown: str) -> None:
    assert cell_text(cell) == shown


def test_changes_are_told_token_by_token() -> None:
    old = "SELECT contry FROM singer WHERE name = 'A  b'"
    new = "SELECT country FROM singer WHERE name = 'A b' LIMIT 1"
    assert [change_words(change) for change in changes(old, new)] == [
        "contry -> country",
        "'A  b' -> 'A b' LIMIT 1",
    ]


def test_case_of_keywords_is_no_change_but_case_in_a_literal_is() -> None:
    assert changes("select A from t", "SELECT a FROM T") == ()
    assert len(changes("SELECT 'A'", "SELECT 'a'")) == 1


@given(ANY_TEXT, ANY_TEXT)
def test_a_change_points_at_its_place_in_the_new_text(old: str, new: str) -> None:
    for change in changes(old, new):
        assert new[change.start : change.end] == change.new


@given(ANY_TEXT)
def test_equal_texts_have_no_changes(text: str) -> None:
    assert changes(text, text) == ()
