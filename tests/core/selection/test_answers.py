"""Answers are read tolerantly, and never become anything but an order of what was shown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.selection.answers import read_letter, read_ranking, read_score, read_verdict
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
    ("B > A because the second filter is right", (1, 0, 2), ("missing: C",)),
    ("Candidate [A] joins wrongly, [B] is right.\n[B] > [A] > [C]", (1, 0, 2), ()),
    ("[A] > [B] > [C]? No, since C counts twice: [C] > [B] > [A]", (2, 1, 0), ()),
    ("**[C]** > **[A]** > **[B]**", (2, 0, 1), ()),
    ("[C] > [A] > [B], as the count of A > C shows", (2, 0, 1), ()),
    ("C >\nA >\nB", (2, 0, 1), ()),
    ("1. [C]\n2. [A]\n3. [B]", (2, 0, 1), ()),
    ("C, A, B", (2, 0, 1), ()),
    ("The best candidate is C, and A beats B.", (2, 1, 0), ("missing: A",)),
    ("I would say that C is right", (2, 0, 1), ("missing: A, B",)),
    ("Candidate A joins wrongly", (0, 1, 2), ("missing: B, C",)),
    ("The columns OR their names IN the list are wrong", (0, 1, 2), ("no letters",)),
    ("The filter T.A > 3 is wrong in all of them", (0, 1, 2), ("no letters",)),
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


@settings(deadline=None)
@given(st.permutations(range(12)), st.sampled_from(["[A] is wrong. ", "A > B? ", "Ranking: "]))
def test_a_bare_ranking_behind_words_is_taken_as_it_is(order: list[int], before: str) -> None:
    ranked = read_ranking(before + " > ".join(letter(place) for place in order), 12)
    assert ranked.places == tuple(order)


SCORES = [
    ("87", 87.0),
    ("Score: 12.5", 12.5),
    ("100", 100.0),
    ("101", None),
    ("-3", None),
    ("high", None),
    ("Candidate 1: 85", 85.0),
    ("The score of candidate 1 is 85", 85.0),
    ("85/100", 85.0),
    ("85 out of 100", 85.0),
    ("On a scale from 0 to 100, I say 85.", 85.0),
    ("**85** because 3 of 4 columns are right", 85.0),
    ("It has 2 joins and 3 filters. Score: 40. There are 5 rows.", 40.0),
    ("It returns 3 columns in place of 2, so 20", 20.0),
    ("Candidate [1] returns 5000 rows", None),
]


@pytest.mark.parametrize(("answer", "score"), SCORES)
def test_scores(answer: str, score: float | None) -> None:
    assert read_score(answer) == score


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("[B]", 1),
        ("B", 1),
        ("neither", None),
        ("The correct candidate is B.", 1),
        ("The correct candidate is A.", 0),
        ("A candidate that joins is better", None),
        ("Candidate [A] joins wrongly.\n[B]", 1),
        ("Candidate A joins wrongly.\n**B**.", 1),
        ("B > A because the second filter is right", 1),
        ("[Z]", None),
    ],
)
def test_a_choice(answer: str, place: int | None) -> None:
    assert read_letter(answer, 2) == place


@settings(deadline=None)
@given(ALPHABET | st.text(max_size=60), st.integers(1, 32))
def test_any_choice_is_a_place_or_none(answer: str, count: int) -> None:
    assert read_letter(answer, count) in (None, *range(count))


@pytest.mark.parametrize(
    ("first", "share"),
    [
        ({"yes": 0.6, "no": 0.2}, 0.75),
        ({"Yes": 0.3, " yes": 0.2, "**yes": 0.1, "NO": 0.2, "Maybe": 0.1}, 0.75),
        ({"yes": 0.6, "Well": 0.2}, 0.75),
        ({"no": 0.8, "Well": 0.1}, 1 / 9),
        ({"no": 0.9}, 0.1),
        ({"Well": 0.5, "yesterday": 0.2}, None),
        ({}, None),
    ],
)
def test_a_verdict(first: dict[str, float], share: float | None) -> None:
    """What is missing counts as the least that is told, or as what that leaves."""
    found = read_verdict({token: math.log(each) for token, each in first.items()})
    assert found == (share if share is None else pytest.approx(share))


@given(st.dictionaries(st.sampled_from(["yes", "no", "Yes", "x"]), st.floats(-1e4, 0)))
def test_any_verdict_is_a_probability_or_none(first: dict[str, float]) -> None:
    found = read_verdict(first)
    assert found is None or 0 <= found <= 1
