"""A choice in words: what it rests on, and nothing that it does not rest on."""

from __future__ import annotations

import pytest

from tests.core.selection.pools import choose, pool, preferring
from tui.view.selection_words import selection_words, tie_words


@pytest.mark.parametrize(
    ("method", "terms"), [("listwise", {}), ("map-sql", {"permutations": 1}), ("map-sql", {})]
)
async def test_one_run_is_told_as_one_run(method: str, terms: dict[str, int]) -> None:
    candidates = pool(3, 2)
    selection, _ = await choose(candidates, preferring(float), method, **terms)
    told = "\n".join(selection_words(candidates, selection))
    if len(selection.runs) > 1:
        assert "no tie" in told
        assert "P over candidate" in told
    else:
        assert tie_words(selection) == ""
        assert "ranked first, once" in told
        assert "no tie" not in told
        assert "P over" not in told


async def test_what_all_agree_on_is_told_so() -> None:
    candidates = pool(3)
    selection, _ = await choose(candidates, preferring(float), "pointwise")
    assert "nobody had to be asked" in "\n".join(selection_words(candidates, selection))


async def test_a_group_that_is_weighed_is_told_so() -> None:
    candidates = pool(2, 1)
    selection, _ = await choose(
        candidates, preferring(lambda i: 90.0 if i == 2 else 10.0), "weighed-majority"
    )
    told = "\n".join(selection_words(candidates, selection))
    assert "chosen by weighed-majority: candidate 3" in told
    assert "its group is the most probable one, by its size and the model's odds for it" in told


async def test_a_group_that_ran_alone_is_not_said_to_be_weighed() -> None:
    candidates = pool(1, errors=3)
    selection, _ = await choose(candidates, preferring(float), "weighed-majority")
    assert "no other group ran" in "\n".join(selection_words(candidates, selection))
