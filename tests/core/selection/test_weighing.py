"""Groups weighed by their size and by how probable the model's yes is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.models.call import PromptTooLong
from core.models.chat import Answer, Message, ModelTrouble, Sampling, WeighedSampling
from tests.core.selection.pools import choose, pool, preferring, shown, verdict
from tests.scripted import Reply

METHOD = "weighed-majority"


@pytest.mark.parametrize(("percent", "group"), [(50.0, 0), (74.0, 0), (76.0, 1), (99.9, 1)])
async def test_size_is_the_prior_and_odds_are_the_evidence(percent: float, group: int) -> None:
    """Three candidates at even odds against one: it takes odds of more than 3 : 1, which is 75 %."""
    candidates = pool(3, 1)
    script = preferring(lambda index: percent if index == 3 else 50.0)
    selection, _ = await choose(candidates, script, METHOD)
    assert selection.choice in candidates.groups[group]
    assert selection.scores[1].score == pytest.approx(percent)


async def test_one_short_call_a_group_that_ran() -> None:
    selection, model = await choose(pool(3, 2, 1, errors=2), preferring(lambda _i: 50), METHOD)
    assert selection.spent.calls == len(model.calls) == 3
    assert {sampling for _, sampling in model.calls} == {WeighedSampling()}
    assert selection.choice in (0, 1, 2)


async def test_a_group_that_ran_alone_needs_no_verdict() -> None:
    selection, model = await choose(pool(2, errors=5), preferring(float), METHOD)
    assert selection.choice in (0, 1)
    assert not model.calls


async def test_equal_groups_keep_the_priors_order() -> None:
    selection, _ = await choose(pool(2, 2), preferring(lambda _i: 80), METHOD)
    assert selection.choice in (0, 1)


async def test_any_presentation_leads_to_the_same_choice() -> None:
    candidates, script = pool(2, 2, 1), preferring(lambda index: 20.0 + index * 13)
    order = [4, 2, 0, 3, 1]
    here, first = await choose(candidates, script, METHOD)
    there, second = await choose(candidates.presented(order), script, METHOD)
    assert here.choice is not None
    assert there.choice is not None
    assert order[there.choice] == here.choice
    assert [messages for messages, _ in first.calls] == [messages for messages, _ in second.calls]


@pytest.mark.parametrize(
    "reply",
    [Answer(text="yes"), ModelTrouble("status 400: logprobs?", concerns_form=True)],
    ids=["passed over", "refused"],
)
async def test_an_engine_without_probabilities_is_named_after_one_call(reply: Reply) -> None:
    selection, model = await choose(pool(3, 2, 1), lambda _m, _s: reply, METHOD)
    assert selection.choice is None
    assert selection.remark == (
        "scripted tells no probabilities of its words, by which weighed-majority chooses: take another "
        "method or another engine."
    )
    assert len(model.calls) == 1


async def test_an_answer_that_is_neither_speaks_for_nobody() -> None:
    """A model that thinks aloud first, for one: the size decides, and the answer counts as mended."""
    thinking = Answer(text="<think>", first={"<think>": -0.1, "Well": -3.0})
    selection, _ = await choose(pool(2, 1), lambda _m, _s: thinking, METHOD)
    assert selection.choice in (0, 1)
    assert [each.score for each in selection.scores] == [None, None]
    assert selection.mended == 2


async def test_a_verdict_whose_prompt_is_too_long_is_its_own_loss_alone() -> None:
    def script(messages: Sequence[Message], _sampling: Sampling) -> Reply:
        return PromptTooLong(9_000, 4_096) if shown(messages) == [2] else verdict(10)

    selection, _ = await choose(pool(1, 1, 1), script, METHOD)
    assert selection.choice == 2
    assert selection.scores[2].score is None


async def test_other_trouble_is_raised() -> None:
    with pytest.raises(ModelTrouble, match="gone"):
        await choose(pool(2, 1), lambda _m, _s: ModelTrouble("gone"), METHOD)
