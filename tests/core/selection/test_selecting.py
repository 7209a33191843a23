"""What every method chooses, and how many calls that takes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import MeritoError
from core.models.chat import Message, ModelTrouble, Sampling
from core.selection.grouped import Candidates
from core.selection.listwise import window_count
from core.selection.method import METHODS, method_named
from core.selection.prompts import letter
from tests.core.selection.pools import choose, is_list, is_score, pool, preferring, shown

ASKING = [name for name, method in METHODS.items() if method.compares not in ("nothing", "groups")]
shapes = st.lists(st.integers(1, 5), min_size=2, max_size=6)


@settings(max_examples=25, deadline=None)
@given(shapes, st.data(), st.sampled_from(ASKING))
async def test_a_perfect_selector_finds_the_right_candidate(
    sizes: list[int], data: st.DataObject, method: str
) -> None:
    right = data.draw(st.integers(0, len(sizes) - 1))
    candidates = pool(*sizes, right=right, errors=data.draw(st.integers(0, 2)))
    perfect = preferring(lambda index: 90 if candidates.executed[index].correct else 10)
    selection, _ = await choose(candidates, perfect, method)
    assert selection.choice in candidates.groups[right]


@pytest.mark.parametrize("method", METHODS)
async def test_no_call_where_all_agree(method: str) -> None:
    selection, model = await choose(pool(8, greedy=3), preferring(float), method)
    assert selection.choice == 3
    assert not model.calls
    assert selection.spent.calls == selection.spent.saved == 0


async def test_errors_alone_are_one_group_too() -> None:
    selection, model = await choose(pool(errors=3), preferring(float))
    assert selection.choice is not None
    assert not model.calls


@pytest.mark.parametrize("method", METHODS)
async def test_an_empty_pool_has_no_choice_and_says_why(method: str) -> None:
    selection, _ = await choose(Candidates(executed=(), groups=()), preferring(float), method)
    assert selection.choice is None
    assert selection.remark


async def test_greedy_is_not_there_where_the_pool_has_none() -> None:
    selection, _ = await choose(pool(2, 1), preferring(float), "greedy")
    assert (selection.choice, selection.remark) == (None, "the pool has no greedy candidate")


def garbled(data: st.DataObject) -> st.SearchStrategy[str]:
    return st.text(max_size=20) | st.sampled_from(["[B] > [A]", "[Z]", "50", "[C] > [A] > [B]"])


@settings(max_examples=40, deadline=None)
@given(shapes, st.integers(1, 6), st.data())
async def test_calls_are_those_of_the_formula(
    sizes: list[int], permutations: int, data: st.DataObject
) -> None:
    """K (1 + ceil(max(0, n - w) / s)), and one for each tied group."""
    candidates, answers = pool(*sizes), garbled(data)
    terms = {"permutations": permutations, "early_stop": False}
    selection, model = await choose(candidates, lambda _m, _s: data.draw(answers), **terms)
    lists = permutations * window_count(sum(sizes))
    assert sum(is_list(messages) for messages, _ in model.calls) == lists
    assert selection.spent.calls == len(model.calls) == lists + len(selection.tied)
    assert selection.spent.saved == 0


@settings(max_examples=40, deadline=None)
@given(shapes, st.sampled_from([1, 4, 9]), st.data())
async def test_stopping_early_chooses_the_same_group_and_counts_what_it_saves(
    sizes: list[int], permutations: int, data: st.DataObject
) -> None:
    taste = data.draw(st.permutations(range(100, 100 + sum(sizes))))
    script = preferring(lambda index: float(taste[index]) / 2)
    candidates = pool(*sizes)
    early, asked = await choose(candidates, script, permutations=permutations)
    late, _ = await choose(candidates, script, permutations=permutations, early_stop=False)
    assert candidates.group_of[early.choice] == candidates.group_of[late.choice]
    assert early.spent.calls == len(asked.calls)
    assert early.spent.calls + early.spent.saved == late.spent.calls


async def test_groups_of_one_candidate_each_need_one_run() -> None:
    """Every permutation is the same prompt, so it is asked once."""
    selection, model = await choose(pool(1, 1, 1), preferring(float))
    assert len(model.calls) == 1
    assert (selection.choice, selection.spent.saved) == (2, 3)


@settings(max_examples=25, deadline=None)
@given(shapes, st.integers(0, 3))
async def test_ranks_are_permutations_and_groups_keep_their_order(sizes: list[int], seed: int) -> None:
    candidates = pool(*sizes)
    chance = random.Random(seed)

    def script(messages: Sequence[Message], _sampling: Sampling) -> str:
        return "".join(chance.choices("[]ABCDEFG >", k=30)) if is_list(messages) else "50"

    selection, _ = await choose(candidates, script)
    for run in selection.runs:
        places = [candidates.group_of[index] for index in run.order]
        assert places == sorted(places)
        assert sorted(run.final) == list(range(sum(sizes)))


async def test_a_selector_that_says_nothing_leaves_the_prior() -> None:
    selection, _ = await choose(pool(4, 3, 1), lambda _m, _s: "I cannot say.")
    assert selection.choice in range(4)


async def test_a_selector_that_answers_at_random_is_no_worse_than_its_prior() -> None:
    """Where the prior knows nothing (each group is as likely right), nothing is lost by asking a
    selector that knows nothing: right as often as the prior, within four standard errors."""
    chance = random.Random(7)

    def script(messages: Sequence[Message], _sampling: Sampling) -> str:
        if is_score(messages):
            return str(chance.randrange(101))
        count = len(shown(messages))
        return " > ".join(f"[{letter(place)}]" for place in chance.sample(range(count), count))

    rounds, wins = 300, {"map-sql": 0, "majority": 0}
    for _ in range(rounds):
        candidates = pool(4, 3, 1, right=chance.randrange(3))
        for method in wins:
            selection, _ = await choose(candidates, script, method)
            wins[method] += bool(candidates.executed[selection.choice or 0].correct)
    error = (2 * (1 / 3) * (2 / 3) / rounds) ** 0.5
    assert wins["map-sql"] / rounds > wins["majority"] / rounds - 4 * error


async def test_ties_are_scored_one_candidate_a_group() -> None:
    flips = iter([0, 1, 0, 1])

    def script(messages: Sequence[Message], _sampling: Sampling) -> str:
        candidates = shown(messages)
        if is_score(messages):
            return "80" if candidates[0] >= 4 else "20"
        last = next(flips)
        places = sorted(range(len(candidates)), key=lambda p: (candidates[p] >= 4) != bool(last))
        return " > ".join(f"[{letter(place)}]" for place in places)

    selection, model = await choose(pool(4, 3), script, early_stop=False)
    assert selection.confidence is not None
    assert selection.confidence < 0.95
    assert len(selection.tied) == len(selection.scores) == 2
    assert selection.choice in range(4, 7)
    assert selection.spent.calls == len(model.calls) == 6


@pytest.mark.parametrize(
    ("method", "calls"),
    [
        ("pointwise", 6),
        ("pairwise", 11),
        ("r3", 17),
        ("mcs", 1),
        ("listwise", 1),
        ("map-sql-no-permutation", 1),
    ],
)
async def test_what_the_others_cost(method: str, calls: int) -> None:
    """Groups of 3, 2 and 1: 3 x 2 + 3 x 1 + 2 x 1 pairs."""
    _, model = await choose(pool(3, 2, 1), preferring(float), method)
    assert len(model.calls) == calls


async def test_a_pair_is_shown_in_the_same_order_from_any_presentation() -> None:
    candidates = pool(2, 2)
    _, first = await choose(candidates, preferring(float), "pairwise")
    _, second = await choose(candidates.presented([3, 1, 0, 2]), preferring(float), "pairwise")
    prompts = [{messages for messages, _ in model.calls} for model in (first, second)]
    assert prompts[0] == prompts[1]


async def test_prompts_share_their_front() -> None:
    _, model = await choose(pool(5, 3), preferring(float))
    texts = [messages[0].content for messages, _ in model.calls]
    fronts = {text.partition("[A]\n")[0] for text in texts if is_list([Message("user", text)])}
    assert len(fronts) == 1


async def test_consensus_is_shown_where_the_method_says_so() -> None:
    _, model = await choose(pool(3, 1), preferring(float), "map-sql-consensus")
    assert "Agreement: 3 of 4" in model.calls[0][0][0].content
    _, model = await choose(pool(3, 1), preferring(float), "map-sql")
    assert "Agreement" not in model.calls[0][0][0].content


async def test_a_model_that_fails_is_no_choice() -> None:
    with pytest.raises(ModelTrouble):
        await choose(pool(2, 1), lambda _m, _s: ModelTrouble("gone"))


def test_an_unknown_method_names_the_nearest() -> None:
    with pytest.raises(MeritoError, match="Did you mean 'majority'"):
        method_named("majorty")
