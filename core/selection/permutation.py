"""Runs over shuffled presentations, and what they say together (MAP-SQL, section 4.2)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from core.selection.confidence import TAU, confidence, least_confidence

Groups = Sequence[Sequence[int]]
Ranks = Sequence[Sequence[int]]
"""One row a run: the rank of each candidate, from 1."""


def in_prior_order(groups: Groups) -> tuple[int, ...]:
    """The candidates group by group, each group as the pool presents it."""
    return tuple(index for group in groups for index in group)


def within_groups(groups: Groups, chance: random.Random) -> tuple[int, ...]:
    """Each group shuffled, the groups in their order: the prior is never lost."""
    return tuple(index for group in groups for index in chance.sample(list(group), len(group)))


def across_groups(groups: Groups, chance: random.Random) -> tuple[int, ...]:
    """All candidates shuffled (the ablation "global permutation")."""
    everyone = in_prior_order(groups)
    return tuple(chance.sample(everyone, len(everyone)))


SHUFFLES: dict[str, Callable[[Groups, random.Random], tuple[int, ...]]] = {
    "none": lambda groups, _chance: in_prior_order(groups),
    "groups": within_groups,
    "all": across_groups,
}


def run_order(shuffles: str, groups: Groups, seed: int, question: str, run: int) -> tuple[int, ...]:
    """The presentation of run `run`; the same for the same seed, question and groups."""
    chance = random.Random(f"{seed}\x1f{question}\x1f{run}")
    return SHUFFLES[shuffles](groups, chance)


def ranks_of(final: Sequence[int]) -> tuple[int, ...]:
    """The rank of each candidate, from 1, in a final order."""
    ranks = [0] * len(final)
    for place, index in enumerate(final, 1):
        ranks[index] = place
    return tuple(ranks)


class Standing:
    """The ranks of all runs so far, and what follows from them.

    `keys` settle the last ties: of two candidates with one mean rank the one of the earlier group
    comes first, then the one with the smaller key.
    """

    def __init__(self, ranks: Ranks, groups: Groups, keys: Sequence[str]) -> None:
        self._ranks = ranks
        self._group = {index: place for place, group in enumerate(groups) for index in group}
        self._sums = [sum(run[index] for run in ranks) for index in range(len(keys))]
        self.order = sorted(range(len(keys)), key=lambda i: (self._sums[i], self._group[i], keys[i], i))

    @property
    def means(self) -> tuple[float, ...]:
        """The mean rank of each candidate (equation 4)."""
        return tuple(total / len(self._ranks) for total in self._sums)

    @property
    def first(self) -> int:
        """The candidate with the lowest mean rank."""
        return self.order[0]

    @property
    def rivals(self) -> tuple[int, ...]:
        """The best-ranked candidate of every other group, best first."""
        best: dict[int, int] = {}
        for index in self.order:
            best.setdefault(self._group[index], index)
        return tuple(index for index in best.values() if index != self.first)

    def confidence_over(self, other: int) -> float | None:
        """P that the first beats `other`; None after one run, which cannot tell."""
        return confidence(self._differences(self.first, other)) if len(self._ranks) > 1 else None

    def tied(self, tau: float = TAU) -> tuple[int, ...]:
        """The first, and the rivals that the same test does not separate from it. After one run there
        is nothing to test: its order is taken as it is."""
        sure = {each: self.confidence_over(each) for each in self.rivals}
        return (self.first, *(each for each, p in sure.items() if p is not None and p < tau))

    def settled(self, remaining: int, *, breaks_ties: bool, tau: float = TAU) -> bool:
        """Whether `remaining` more runs cannot change which group is chosen, whatever they say."""
        if remaining == 0:
            return True
        most, home = len(self._sums) - 1, self._group[self.first]
        others = [index for index in self.order if self._group[index] != home]
        if not breaks_ties:
            return all(self._leads(self.first, other, remaining * most) for other in others)
        # Any mate that could still come first must be beyond a tie with every other group.
        mates = [index for index in self.order if self._group[index] == home]
        possible = [mate for mate in mates if not self._leads(self.first, mate, remaining * most)]
        return all(
            least_confidence(self._differences(mate, other), remaining, most) >= tau
            for mate in possible
            for other in others
        )

    def _leads(self, first: int, other: int, most: int) -> bool:
        """Whether `first` stays ahead even if the runs to come take `most` off its lead."""
        return self._sums[other] - self._sums[first] > most

    def _differences(self, first: int, other: int) -> list[int]:
        return [run[other] - run[first] for run in self._ranks]
