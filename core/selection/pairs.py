"""Choosing by comparing every two candidates of different groups (CHASE-SQL; R3-SQL, untrained)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from core.selection.answers import read_letter
from core.selection.asking import Asking
from core.selection.grouped import Candidates
from core.selection.permutation import in_prior_order
from core.selection.selection import Duel, Selection


async def by_pairs(asking: Asking) -> Selection:
    """Every pair of candidates from different groups, once; which of the two is shown first is
    settled by their keys, which are as good as a coin and know nothing of the pool's order."""
    candidates = asking.candidates
    everyone, group_of = in_prior_order(candidates.groups), candidates.group_of
    pairs = [
        (first, second)
        for place, first in enumerate(everyone)
        for second in everyone[place + 1 :]
        if group_of[first] != group_of[second]
    ]
    duels = await asking.all(partial(_duel, asking), pairs)
    wins = Counter(duel.winner for duel in duels)
    if not asking.method.breaks_ties:
        asking.need_one_of(len(duels))
        shares = _shares(candidates, wins)
        group = min(range(len(shares)), key=lambda place: (-shares[place], place))
        choice = min(candidates.groups[group], key=lambda i: (-wins[i], candidates.executed[i].key))
        return asking.chosen(choice, duels=tuple(duels))
    scores = sorted(await asking.scores(everyone, asking.judge), key=lambda each: each.candidate)
    asking.need_one_of(len(duels) + len(scores))
    points = _points(candidates, duels)
    means = [sum(scores[index].value for index in group) / len(group) for group in candidates.groups]
    group = min(range(len(points)), key=lambda place: (-points[place], -means[place], place))
    choice = min(candidates.groups[group], key=lambda i: (-scores[i].value, candidates.executed[i].key))
    return asking.chosen(choice, duels=tuple(duels), scores=tuple(scores))


async def _duel(asking: Asking, pair: tuple[int, int]) -> Duel:
    executed = asking.candidates.executed
    shown = sorted(pair, key=lambda index: executed[index].key)
    answer = await asking.judgement("select-choice", shown)
    place = None if answer is None else read_letter(answer.text, 2)
    return Duel(first=shown[0], second=shown[1], winner=None if place is None else shown[place])


def _shares(candidates: Candidates, wins: Counter[int | None]) -> list[float]:
    """The share of its comparisons that each group has won (CHASE-SQL's aggregated wins, for groups
    of unequal size)."""
    everyone = len(candidates.executed)
    return [
        sum(wins[index] for index in group) / (len(group) * (everyone - len(group)))
        for group in candidates.groups
    ]


def _points(candidates: Candidates, duels: Sequence[Duel]) -> list[float]:
    """Two points for each other group that a group beats in most of their comparisons, one for a
    draw."""
    balance: Counter[tuple[int, int]] = Counter()
    group_of = candidates.group_of
    for duel in duels:
        if duel.winner is not None:
            loser = duel.first if duel.winner == duel.second else duel.second
            balance[group_of[duel.winner], group_of[loser]] += 1
    places = range(len(candidates.groups))
    return [
        sum(
            1.0
            + (balance[mine, other] > balance[other, mine])
            - (balance[mine, other] < balance[other, mine])
            for other in places
            if other != mine
        )
        for mine in places
    ]
