"""Choosing by the size of each group and the odds that the model gives it.

A small model does not rank, but what it holds probable is worth something: the size of a group is the
prior, the odds of yes against no, asked about one of its members, are the evidence, and by Bayes' rule
the two are multiplied. Of neither paper; `pointwise` asks for the same as a number, which small models
give without looking.
"""

from __future__ import annotations

import math

from core.models.chat import ModelTrouble, WeighedSampling
from core.selection.answers import read_verdict
from core.selection.asking import Asking
from core.selection.selection import Score, Selection

_SUREST = 1e-6
"""A probability counts as no nearer to 0 or 1."""


async def by_verdicts(asking: Asking) -> Selection:
    """The group that ran and is the most probable; equal ones by the prior's order. One that ran alone
    needs no verdict. Raises ModelTrouble where the engine tells no probabilities."""
    candidates = asking.candidates
    ran = [group for group in candidates.groups if candidates.executed[group[0]].ran]
    faces = [candidates.face(group) for group in ran or candidates.groups[:1]]
    if len(faces) == 1:
        return asking.chosen(faces[0])
    # The first alone: it fills the engine's cache with what the others begin with, and an engine that
    # tells no probabilities is asked no further.
    scores = [await _verdict(asking, faces[0])]
    scores += await asking.all(lambda face: _verdict(asking, face), faces[1:])
    asking.need_one_of(len(scores))
    weights = [
        math.log(len(group)) + _log_odds(each.score) for group, each in zip(ran, scores, strict=True)
    ]
    best = max(range(len(faces)), key=lambda place: (weights[place], -place))
    return asking.chosen(faces[best], scores=tuple(scores))


async def _verdict(asking: Asking, face: int) -> Score:
    """The probability of yes, in per cent."""
    try:
        answer = await asking.judgement("select-verdict", [face], sampling=WeighedSampling())
    except ModelTrouble as trouble:
        if trouble.concerns_form:
            raise _no_probabilities(asking) from trouble
        raise
    if answer is None:
        return Score(candidate=face, score=None)
    if not answer.first:
        raise _no_probabilities(asking)
    share = read_verdict(answer.first)
    return Score(candidate=face, score=None if share is None else 100 * share)


def _no_probabilities(asking: Asking) -> ModelTrouble:
    return ModelTrouble(
        f"{asking.caller.described.name} tells no probabilities of its words, by which "
        f"{asking.method.name} chooses: take another method or another engine.",
        concerns_prompt=True,
    )


def _log_odds(score: float | None) -> float:
    """No verdict speaks neither for a group nor against it."""
    share = 0.5 if score is None else min(max(score / 100, _SUREST), 1 - _SUREST)
    return math.log(share / (1 - share))
