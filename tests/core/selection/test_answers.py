"""Answers are read tolerantly, and never become anything but an order of what was shown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.selection.answers import read_letter, read_ranking, read_score
from core.selection.prompts import letter

READINGS = [
    ("[B] > [A] > [C]", (1, 0, 2), ()),
    ("[b]>[a]>[c]", (1, 0, 2), ()),
    ("B > A > C", (1, 0, 2), ()),
    ("Ranking: [C] > [A]", (2, 0, 1), ("missing: B",)),
    ("[C] > [C] > [A] > [B]", (2, 0, 1), ("repeated: C",)),
    ("[D] > [B] > [A] > [C]", (1, 0, 2), ("unknown: D",)),
    ("", (0, 1, 2), ("no letters",)),
    ("None of them is a good answer.", (0, 1, 2), ("no letters",)),
    ("A better one would join the tables", (0, 1, 2), ("no letters",)),
]


@pytest.mark.parametrize(("answer", "places", "mended"), READINGS)
def test_what_is_mended_is_recorded(
    answer: str, places: tuple[int, ...], mended: tuple[str, ...]
) -> None:
    ranked = read_ranking(answer, 3)
    assert (ranked.places, ranked.mended) == (places, mended)


ALPHABET = st.text(st.sampled_from("[]ABCDEXYZ> \nabc12'漢"), max_size=60)


@settings(deadline=None)
@given(ALPHABET | st.text(max_size=60), st.integers(1, 32))
def test_any_answer_is_a_permutation(answer: str, count: int) -> None:
    assert sorted(read_ranking(answer, count).places) == list(range(count))


@settings(deadline=None)
@given(st.permutations(range(30)))
def test_a_whole_ranking_is_taken_as_it_is(order: list[int]) -> None:
    ranked = read_ranking(" > ".join(f"[{letter(place)}]" for place in order), 30)
    assert ranked.places == tuple(order)
    assert not ranked.mended


@pytest.mark.parametrize(
    ("answer", "score"),
    [("87", 87.0), ("Score: 12.5", 12.5), ("100", 100.0), ("101", None), ("-3", None), ("high", None)],
)
def test_scores(answer: str, score: float | None) -> None:
    assert read_score(answer) == score


def test_a_choice_that_names_nothing_is_no_choice() -> None:
    assert read_letter("[B]", 2) == 1
    assert read_letter("neither", 2) is None
