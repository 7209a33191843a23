"""Shuffles keep the prior's order of groups; what runs say together is settled by ranks, then by
the prior, then by keys."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from core.selection.permutation import (
    Standing,
    in_prior_order,
    ranks_of,
    run_order,
    within_groups,
)

sizes = st.lists(st.integers(1, 5), min_size=1, max_size=5)


def grouped(sizes: list[int]) -> tuple[tuple[int, ...], ...]:
    numbers = itertools.count()
    return tuple(tuple(itertools.islice(numbers, size)) for size in sizes)


@settings(deadline=None)
@given(sizes, st.integers())
def test_the_order_of_groups_never_changes(sizes: list[int], seed: int) -> None:
    groups = grouped(sizes)
    order = within_groups(groups, random.Random(seed))
    home = {index: place for place, group in enumerate(groups) for index in group}
    assert sorted(order) == sorted(in_prior_order(groups))
    assert [home[index] for index in order] == sorted(home.values())


@settings(deadline=None)
@given(sizes, st.integers(0, 5))
def test_a_seed_gives_the_same_runs_again(sizes: list[int], seed: int) -> None:
    groups = grouped(sizes)
    for shuffles in ("none", "groups", "all"):
        runs = [[run_order(shuffles, groups, seed, "q", run) for run in range(4)] for _ in range(2)]
        assert runs[0] == runs[1]


def test_runs_and_questions_are_shuffled_differently() -> None:
    groups = grouped([8])
    orders = {run_order("groups", groups, 0, q, run) for q in ("a", "b") for run in range(4)}
    assert len(orders) == 8


@settings(deadline=None)
@given(st.permutations(range(9)))
def test_ranks_are_a_permutation(final: list[int]) -> None:
    assert sorted(ranks_of(final)) == list(range(1, 10))


def test_equal_mean_ranks_are_settled_by_group_and_then_by_key() -> None:
    groups = ((0, 1), (2,))
    keys = ["b", "a", "0"]
    runs = [ranks_of([0, 1, 2]), ranks_of([1, 0, 2])]
    assert Standing(runs, groups, keys).order == [1, 0, 2]
    runs = [ranks_of([0, 2, 1]), ranks_of([2, 0, 1])]
    assert Standing(runs, groups, keys).order == [0, 2, 1]


def test_the_rival_is_of_another_group() -> None:
    runs = [ranks_of([0, 1, 2]), ranks_of([0, 1, 2])]
    standing = Standing(runs, ((0, 1), (2,)), ["a", "b", "c"])
    assert (standing.first, standing.rivals) == (0, (2,))
    assert standing.confidence_over(2) == 1.0
    assert standing.tied() == (0,)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.booleans())
def test_a_settled_standing_stays_settled_whatever_comes(data: st.DataObject, breaks: bool) -> None:
    groups = ((0, 1), (2,))
    keys = ["a", "b", "c"]
    finals = list(itertools.permutations(range(3)))
    # Runs that mostly agree, since others settle nothing.
    often = st.sampled_from([finals[0], finals[0], finals[0], finals[2], *finals])
    runs = [ranks_of(final) for final in data.draw(st.lists(often, min_size=1, max_size=12))]
    remaining = data.draw(st.integers(1, 2))
    standing = Standing(runs, groups, keys)
    if not standing.settled(remaining, breaks_ties=breaks):
        return
    home = groups[0] if standing.first in groups[0] else groups[1]
    for future in itertools.product(finals, repeat=remaining):
        later = Standing([*runs, *map(ranks_of, future)], groups, keys)
        assert later.first in home
        assert not breaks or len(later.tied()) == 1


def test_some_standings_are_settled_before_the_end() -> None:
    runs = [ranks_of([0, 1])] * 3
    assert Standing(runs, ((0,), (1,)), ["a", "b"]).settled(1, breaks_ties=False)
    assert not Standing(runs, ((0,), (1,)), ["a", "b"]).settled(1, breaks_ties=True)
    assert Standing(runs * 4, ((0,), (1,)), ["a", "b"]).settled(1, breaks_ties=True)
