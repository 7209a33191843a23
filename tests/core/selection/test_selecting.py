"""What every method chooses, and how many calls that takes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import MeritoError
from core.models.call import PromptTooLong
from core.models.chat import Message, ModelTrouble, Sampling
from core.selection.drafting import agreement
from core.selection.grouped import Candidates
from core.selection.listwise import window_count
from core.selection.method import METHODS, method_named
from core.selection.prompts import letter
from tests.core.selection.pools import choose, is_list, is_score, pool, preferring, shown
from tests.scripted import Reply, Script

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


SAVED = {"pointwise": 8, "r3": 8, "mcs": 1}
"""Calls that papers make although all of eight candidates agree: scores, and the one choice."""


@pytest.mark.parametrize("method", METHODS)
async def test_no_call_where_all_agree(method: str) -> None:
    selection, model = await choose(pool(8, greedy=3), preferring(float), method)
    assert selection.choice == 3
    assert not model.calls
    assert selection.spent.calls == 0
    assert selection.spent.saved == SAVED.get(method, 0)


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


def fickle(seed: int) -> Script:
    """A selector that answers by the prompt alone, and without any taste."""

    def script(messages: Sequence[Message], _sampling: Sampling) -> str:
        chance = random.Random(f"{seed} {messages[0].content}")
        if is_score(messages):
            return str(chance.randrange(101))
        count = len(shown(messages))
        # One run in four is at odds with the prior.
        places = list(range(count)) if chance.random() < 0.75 else chance.sample(range(count), count)
        return " > ".join(f"[{letter(place)}]" for place in places)

    return script


@settings(max_examples=25, deadline=None)
@given(shapes, st.integers(1, 9), st.integers(0, 1000), st.booleans())
async def test_how_many_calls_run_at_once_decides_nothing(
    sizes: list[int], permutations: int, seed: int, breaks: bool
) -> None:
    candidates = pool(*sizes)
    method = "map-sql" if breaks else "map-sql-no-tie-break"
    found = [
        await choose(candidates, fickle(seed), method, at_once=n, permutations=permutations)
        for n in (1, 4)
    ]
    (one, alone), (four, together) = found
    grounds = ("choice", "runs", "mean_ranks", "rival", "confidence", "tied", "scores")
    for name in grounds:
        assert getattr(one, name) == getattr(four, name)
    assert one.spent.calls + one.spent.saved == four.spent.calls + four.spent.saved
    assert (one.spent.calls, four.spent.calls) == (len(alone.calls), len(together.calls))
    assert len(four.asked) == four.spent.calls >= one.spent.calls


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


def without_room_for(candidate: int, script: Script) -> Script:
    """A selector whose context is too small for every prompt that shows a candidate."""

    def refusing(messages: Sequence[Message], sampling: Sampling) -> Reply:
        return (
            PromptTooLong(9_000, 4_096) if candidate in shown(messages) else script(messages, sampling)
        )

    return refusing


async def test_a_score_that_is_too_long_is_its_own_loss_alone() -> None:
    script = without_room_for(2, preferring(lambda index: 10.0 * index))
    selection, _ = await choose(pool(2, 1), script, "pointwise")
    assert selection.choice == 1
    assert [(each.candidate, each.score) for each in selection.scores] == [(0, 0), (1, 10), (2, None)]
    assert selection.spent.calls == len(selection.asked) == 2
    assert selection.mended == 1


async def test_a_pair_that_is_too_long_is_its_own_loss_alone() -> None:
    script = without_room_for(0, preferring(float))
    selection, _ = await choose(pool(1, 1, 1), script, "pairwise")
    assert selection.choice == 2
    assert [each.winner for each in selection.duels if 0 in (each.first, each.second)] == [None, None]


@pytest.mark.parametrize("method", ["pointwise", "pairwise", "r3"])
async def test_where_no_prompt_fits_there_is_no_choice(method: str) -> None:
    selection, _ = await choose(pool(2, 1), lambda _m, _s: PromptTooLong(9_000, 4_096), method)
    assert selection.choice is None
    assert "9,000 tokens" in selection.remark
    assert selection.spent.calls == 0


@pytest.mark.parametrize(("at_once", "asked"), [(1, 3), (3, 4)])
async def test_what_is_asked_in_vain_may_be_too_long(at_once: int, asked: int) -> None:
    """Three of the four runs settle it: each puts the first four places before the others."""
    numbers = iter(range(100))

    def script(messages: Sequence[Message], sampling: Sampling) -> Reply:
        last = next(numbers) == 3
        return PromptTooLong(9_000, 4_096) if last else preferring(float)(messages, sampling)

    selection, model = await choose(pool(4, 4), script, "map-sql-no-tie-break", at_once=at_once)
    assert (selection.choice, len(selection.runs)) == (7, 3)
    assert (len(model.calls), selection.spent.calls) == (asked, 3)


@pytest.mark.parametrize("at_once", [1, 4])
async def test_what_was_asked_before_a_prompt_was_too_long_is_counted(at_once: int) -> None:
    windows = iter(range(100))

    def script(messages: Sequence[Message], _sampling: Sampling) -> Reply:
        count = len(shown(messages))
        full = next(windows) == 2
        names = " > ".join(f"[{letter(place)}]" for place in range(count))
        return PromptTooLong(9_000, 4_096) if full else names

    selection, model = await choose(pool(6, 6), script, at_once=at_once)
    assert selection.choice is None
    assert "does not fit" in selection.remark
    # The calls beside it that were stopped half-way have no figures.
    assert 2 <= selection.spent.calls == len(selection.asked) < len(model.calls)
    assert (selection.spent.tokens_sent or 0) > 0


async def test_one_run_tells_no_probability() -> None:
    for method, terms in (("listwise", {}), ("map-sql", {"permutations": 1})):
        selection, _ = await choose(pool(3, 2), preferring(float), method, **terms)
        assert selection.choice in (3, 4)
        assert selection.rival in (0, 1, 2)
        assert selection.confidence is None
        assert selection.tied == ()


@pytest.mark.parametrize(
    ("sizes", "method", "agreed"),
    [
        ((3, 2), "majority", True),
        ((2, 3, 1), "majority", False),
        ((2, 2, 2), "map-sql", True),
        ((2, 2, 2), "listwise-memory", False),
        ((1, 1, 1), "map-sql", False),
    ],
)
async def test_candidates_agree_by_number_or_by_what_several_presentations_say(
    sizes: tuple[int, ...], method: str, agreed: bool
) -> None:
    """Where each group has one candidate every presentation is the same one."""
    candidates = pool(*sizes)
    selection, _ = await choose(candidates, preferring(float), method)
    assert selection.choice is not None
    sql = candidates.executed[selection.choice].sql
    assert agreement(candidates, selection) == (sql if agreed else "")


def test_an_unknown_method_names_the_nearest() -> None:
    with pytest.raises(MeritoError, match="Did you mean 'majority'"):
        method_named("majorty")
