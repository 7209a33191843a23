"""The sliding window: from the back to the front, the best carried along."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from core.selection.answers import Ranked, read_ranking
from core.selection.listwise import slide, window_count, window_starts


async def by_value(shown: Sequence[int]) -> Ranked:
    return Ranked(places=tuple(sorted(range(len(shown)), key=lambda place: shown[place])))


async def test_eight_candidates_are_one_call() -> None:
    run = await slide(range(7, -1, -1), by_value)
    assert len(run.windows) == 1
    assert run.final == tuple(range(8))


async def test_windows_overlap_by_half_and_reach_both_ends() -> None:
    run = await slide(range(32), by_value)
    assert [window.start for window in run.windows] == [24, 20, 16, 12, 8, 4, 0]
    assert {len(window.shown) for window in run.windows} == {8}


@settings(deadline=None)
@given(st.integers(1, 64), st.integers(2, 12), st.data())
def test_as_many_windows_as_the_formula_says(count: int, window: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, window))
    starts = list(window_starts(count, window, stride))
    assert len(starts) == window_count(count, window, stride)
    assert starts[-1] == 0
    assert starts[0] + window >= count


@settings(deadline=None)
@given(st.permutations(range(30)))
async def test_the_best_reaches_the_front_from_anywhere(order: list[int]) -> None:
    assert (await slide(order, by_value)).final[0] == 0


@settings(deadline=None)
@given(st.permutations(range(13)), st.data())
async def test_a_run_is_a_permutation_whatever_is_answered(
    order: list[int], data: st.DataObject
) -> None:
    async def garbled(shown: Sequence[int]) -> Ranked:
        return read_ranking(data.draw(st.text(max_size=20)), len(shown))

    run = await slide(order, garbled)
    assert sorted(run.final) == list(range(13))
    for window in run.windows:
        assert sorted(window.ranking) == sorted(window.shown)
