"""From executed candidates to a choice, by any row of the table of methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import msgspec

from core.models.chat import ModelTrouble, Sampling
from core.selection.answers import Ranked, read_letter, read_ranking, read_score
from core.selection.calls import Caller, Tab
from core.selection.grouped import Candidates
from core.selection.listwise import slide, window_count
from core.selection.method import Method, Terms
from core.selection.permutation import Standing, in_prior_order, ranks_of, run_order
from core.selection.prompts import Front, answer_tokens
from core.selection.selection import Duel, Run, Score, Selection, Spent
from core.selection.turns import in_turn

Item = TypeVar("Item")
Result = TypeVar("Result")

NO_GREEDY = "the pool has no greedy candidate"
NO_CANDIDATES = "there are no candidates"


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What prompts begin with, and which memories that shows."""

    front: Front
    memories: tuple[str, ...] = ()


Prepare = Callable[[bool, int], Awaitable[Prepared]]
"""Prepares the prompts' front, with memories or without, for prompts that show so many candidates at
most; asked only where a call will be made."""


async def select(
    method: Method,
    candidates: Candidates,
    *,
    question: str,
    prepare: Prepare,
    caller: Caller | None,
    terms: Terms,
    judge: Caller | None = None,
) -> Selection:
    """Choose. `question` is the id that seeds the shuffles; `judge` scores ties, the selector
    itself where there is none. Where all candidates agree no call is made, and those that the
    method's paper makes count as saved. A prompt that no context has room for is no choice, and the
    remark says why. Raises ModelTrouble where the engine fails."""
    if method.compares == "nothing":
        greedy = candidates.greedy
        return Selection(method=method.name, choice=greedy, remark=NO_GREEDY if greedy is None else "")
    if not candidates.groups:
        return Selection(method=method.name, choice=None, remark=NO_CANDIDATES)
    if len(candidates.groups) == 1 or method.compares == "groups":
        choice = candidates.face(candidates.groups[0])
        spent = Spent(saved=method.calls_alone(len(candidates.executed)))
        return Selection(method=method.name, choice=choice, spent=spent)
    assert caller is not None, "a method that asks has a selector"
    tab = Tab(repeats=not terms.early_stop)
    prepared = None
    try:
        most = _MOST_SHOWN[method.compares](terms, len(candidates.executed))
        prepared = await prepare(method.memory, most)
        asking = _Asking(
            method=method,
            candidates=candidates,
            question=question,
            front=prepared.front,
            caller=caller,
            judge=caller if judge is None or method.own_judge else judge,
            terms=terms,
            tab=tab,
        )
        found = await _WAYS[method.compares](asking)
    except ModelTrouble as trouble:
        if not trouble.concerns_prompt:
            raise
        found = Selection(method=method.name, choice=None, remark=trouble.problem)
    memories = prepared.memories if prepared else ()
    return msgspec.structs.replace(found, memories=memories, spent=tab.spent, asked=tab.asked)


_MOST_SHOWN: dict[str, Callable[[Terms, int], int]] = {
    "list": lambda terms, count: min(terms.window, count),
    "choice": lambda _terms, count: count,
    "pairs": lambda _terms, _count: 2,
    "scores": lambda _terms, _count: 1,
}
"""Candidates in a method's largest prompt."""


@dataclass
class _Asking:
    """One question on its way to a choice."""

    method: Method
    candidates: Candidates
    question: str
    front: Front
    caller: Caller
    judge: Caller
    terms: Terms
    tab: Tab
    lost: list[ModelTrouble] = field(default_factory=list)
    """Why single judgements are missing, where their prompts were too long."""
    _notes: list[str] = field(init=False)

    def __post_init__(self) -> None:
        everyone = len(self.candidates.executed)
        agreeing = {i: len(group) for group in self.candidates.groups for i in group}
        self._notes = [f"Agreement: {agreeing[i]} of {everyone}" for i in range(everyone)]

    async def answer(self, template: str, shown: Sequence[int], judge: Caller | None = None) -> str:
        """The answer to a prompt about the candidates `shown`."""
        notes = [self._notes[index] for index in shown] if self.method.consensus else ()
        messages = self.front.prompt(template, [self.candidates.executed[i] for i in shown], notes)
        sampling = Sampling(max_tokens=answer_tokens(len(shown)))
        answer = await self.tab.ask(judge or self.caller, messages, sampling, template)
        return answer.text

    async def rank(self, shown: Sequence[int]) -> Ranked:
        """One window."""
        return read_ranking(await self.answer("select-list", shown), len(shown))

    async def judgement(
        self, template: str, shown: Sequence[int], judge: Caller | None = None
    ) -> str | None:
        """The answer to one of many prompts; None where this one is too long, which is the loss of
        those that it shows and not the others'."""
        try:
            return await self.answer(template, shown, judge)
        except ModelTrouble as trouble:
            if not trouble.concerns_prompt:
                raise
            self.lost.append(trouble)
            return None

    def need_one_of(self, judgements: int) -> None:
        """Nothing, unless every one of so many judgements is lost. Raises the ModelTrouble of one."""
        if self.lost and len(self.lost) == judgements:
            raise self.lost[0]

    async def scores(self, indexes: Sequence[int], judge: Caller) -> list[Score]:
        """Pointwise scores, in the order of `indexes`."""

        async def score(index: int) -> Score:
            answer = await self.judgement("select-score", [index], judge)
            return Score(candidate=index, score=None if answer is None else read_score(answer))

        return await self.all(score, indexes)

    async def all(
        self, ask: Callable[[Item], Awaitable[Result]], items: Iterable[Item]
    ) -> list[Result]:
        """What each of several independent questions has for an answer, in their order."""
        return [each async for each in in_turn(items, ask, self.caller.at_once)]

    def chosen(self, choice: int, **grounds: object) -> Selection:
        """The selection, before its cost is added."""
        return Selection(method=self.method.name, choice=choice, **grounds)  # type: ignore[arg-type]

    def weight(self, index: int) -> int:
        """The size of a candidate's group, as a prior: errors agree on nothing."""
        ran = self.candidates.executed[index].ran
        return len(self.candidates.groups[self.candidates.group_of[index]]) if ran else 0


async def _by_list(asking: _Asking) -> Selection:
    """Runs, mean ranks, confidence, tie-break (MAP-SQL, section 4.2)."""
    runs, standing = await _runs(asking)
    rival = standing.rivals[0]
    grounds: dict[str, object] = {
        "runs": runs,
        "mean_ranks": standing.means,
        "rival": rival,
        "confidence": standing.confidence_over(rival),
    }
    tied = standing.tied(asking.terms.tau)
    if not asking.method.breaks_ties or len(tied) == 1:
        return asking.chosen(standing.first, **grounds)
    scores = await asking.scores(tied, asking.judge)
    executed = asking.candidates.executed
    best = min(
        scores,
        key=lambda each: (
            -each.value,
            -asking.weight(each.candidate),
            standing.means[each.candidate],
            executed[each.candidate].key,
        ),
    )
    return asking.chosen(best.candidate, tied=tied, scores=tuple(scores), **grounds)


async def _runs(asking: _Asking) -> tuple[tuple[Run, ...], Standing]:
    """The runs up to the first after which the rest cannot change the answer. Those that were asked
    beside it in vain are paid for and do not count: how many calls an engine takes at once decides
    nothing."""
    terms, groups = asking.terms, asking.candidates.groups
    keys = [each.key for each in asking.candidates.executed]
    wanted = terms.runs(asking.method)
    made: list[Run | ModelTrouble] = []
    runs: list[Run] = []

    async def run(number: int) -> Run | ModelTrouble:
        order = run_order(asking.method.shuffles, groups, terms.seed, asking.question, number)
        try:
            return await slide(order, asking.rank, terms.window, terms.stride)
        except ModelTrouble as trouble:
            if not trouble.concerns_prompt:
                raise
            return trouble

    while True:
        # The first run alone: it fills the engine's cache with what the others begin with.
        several, known = asking.caller.at_once if made else 1, len(made)
        made += await asking.all(run, range(known, min(known + several, wanted)))
        for each in made[known:]:
            if isinstance(each, ModelTrouble):
                raise each
            runs.append(each)
            standing = Standing([ranks_of(each.final) for each in runs], groups, keys)
            remaining = wanted - len(runs)
            settled = terms.early_stop and standing.settled(
                remaining, breaks_ties=asking.method.breaks_ties, tau=terms.tau
            )
            if settled or not remaining:
                unasked = wanted - len(made)
                asking.tab.saved += unasked * window_count(len(keys), terms.window, terms.stride)
                return tuple(runs), standing


async def _by_score(asking: _Asking) -> Selection:
    """Every candidate on its own; ties by the group's size, then by key."""
    scores = await asking.scores(in_prior_order(asking.candidates.groups), asking.caller)
    asking.need_one_of(len(scores))
    executed = asking.candidates.executed
    best = min(
        scores,
        key=lambda s: (-s.value, -asking.weight(s.candidate), executed[s.candidate].key),
    )
    return asking.chosen(best.candidate, scores=tuple(scores))


async def _by_choice(asking: _Asking) -> Selection:
    """One call over all candidates in the prior's order; an answer that names none keeps it."""
    order = in_prior_order(asking.candidates.groups)
    place = read_letter(await asking.answer("select-choice", order), len(order))
    if place is None:
        return asking.chosen(asking.candidates.face(asking.candidates.groups[0]))
    return asking.chosen(order[place])


async def _by_pairs(asking: _Asking) -> Selection:
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


async def _duel(asking: _Asking, pair: tuple[int, int]) -> Duel:
    executed = asking.candidates.executed
    shown = sorted(pair, key=lambda index: executed[index].key)
    answer = await asking.judgement("select-choice", shown)
    place = None if answer is None else read_letter(answer, 2)
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


_WAYS: dict[str, Callable[[_Asking], Awaitable[Selection]]] = {
    "list": _by_list,
    "scores": _by_score,
    "choice": _by_choice,
    "pairs": _by_pairs,
}
