"""From executed candidates to a choice, by any row of the table of methods."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from core.models.chat import ModelTrouble
from core.selection.answers import read_letter
from core.selection.asking import Asking
from core.selection.calls import Caller, Tab
from core.selection.grouped import Candidates
from core.selection.listwise import slide, window_count
from core.selection.method import Method, Terms
from core.selection.pairs import by_pairs
from core.selection.permutation import Standing, in_prior_order, ranks_of, run_order
from core.selection.prompts import Front
from core.selection.selection import Run, Selection, Spent
from core.selection.weighing import by_verdicts

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
        asking = Asking(
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
    "verdicts": lambda _terms, _count: 1,
}
"""Candidates in a method's largest prompt."""


async def _by_list(asking: Asking) -> Selection:
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


async def _runs(asking: Asking) -> tuple[tuple[Run, ...], Standing]:
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


async def _by_score(asking: Asking) -> Selection:
    """Every candidate on its own; ties by the group's size, then by key."""
    scores = await asking.scores(in_prior_order(asking.candidates.groups), asking.caller)
    asking.need_one_of(len(scores))
    executed = asking.candidates.executed
    best = min(
        scores,
        key=lambda s: (-s.value, -asking.weight(s.candidate), executed[s.candidate].key),
    )
    return asking.chosen(best.candidate, scores=tuple(scores))


async def _by_choice(asking: Asking) -> Selection:
    """One call over all candidates in the prior's order; an answer that names none keeps it."""
    order = in_prior_order(asking.candidates.groups)
    place = read_letter((await asking.answer("select-choice", order)).text, len(order))
    if place is None:
        return asking.chosen(asking.candidates.face(asking.candidates.groups[0]))
    return asking.chosen(order[place])


_WAYS: dict[str, Callable[[Asking], Awaitable[Selection]]] = {
    "verdicts": by_verdicts,
    "list": _by_list,
    "scores": _by_score,
    "choice": _by_choice,
    "pairs": by_pairs,
}
