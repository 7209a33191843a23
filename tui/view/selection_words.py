"""A selection in words: the groups, the choice, why, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator

from core.selection.grouped import Candidates
from core.selection.selection import Selection
from core.wording import counted

WEIGHED = "weighed-majority"
"""The method whose scores are probabilities."""


def name_of(index: int) -> str:
    """What a candidate is called on screens: numbers from 1, in the pool's order."""
    return f"candidate {index + 1}"


def selection_words(candidates: Candidates, selection: Selection) -> Iterator[str]:
    """One line each."""
    yield _groups(candidates)
    if selection.choice is None:
        yield f"no choice by {selection.method}: {selection.remark}"
        return
    sql = candidates.executed[selection.choice].sql
    yield f"chosen by {selection.method}: {name_of(selection.choice)}, {sql}"
    yield f"because {why(candidates, selection)}"
    cost = cost_words(selection)
    if cost:
        yield cost


def _groups(candidates: Candidates) -> str:
    sizes = []
    for group in candidates.groups:
        ran = candidates.executed[group[0]].ran
        sizes.append(f"{len(group)}" if ran else f"{len(group)} that did not run")
    count = len(candidates.executed)
    many = f"{counted(len(sizes), 'group')} of equal results"
    return f"{counted(count, 'candidate')} in {many}: {', '.join(sizes) or 'none'}"


def why(candidates: Candidates, selection: Selection) -> str:
    """The ground of a choice."""
    choice = selection.choice
    if choice is None:
        return selection.remark
    if len(candidates.groups) == 1:
        return "all candidates return the same, so nobody had to be asked"
    if selection.method == WEIGHED and not selection.scores:
        return "no other group ran, so nobody had to be asked"
    if selection.scores and selection.tied:
        scores = ", ".join(
            f"{name_of(each.candidate)} {'no score' if each.score is None else f'{each.score:g}'}"
            for each in selection.scores
        )
        return f"{tie_words(selection)}, and scores of their own broke the tie: {scores}"
    if selection.mean_ranks:
        sure = tie_words(selection)
        if not sure:
            return "it was ranked first, once: one run tells no probability"
        return f"its mean rank is the best, {selection.mean_ranks[choice]:.2f}; {sure}"
    return _PLAIN.get(selection.method, "of what it was compared with")


_PLAIN = {
    "greedy": "it was generated without sampling",
    "majority": "its result is the most frequent one",
    WEIGHED: "its group is the most probable one, by its size and the model's odds for it",
    "pointwise": "its own score is the highest",
    "pairwise": "its group won the largest share of its comparisons",
    "r3": "its group won against most others",
    "mcs": "it was picked from the list",
}


def tie_words(selection: Selection) -> str:
    """P of the first over its rival, and whether that is a tie; empty where one run, or none, leaves
    nothing to say."""
    if selection.confidence is None or selection.rival is None or len(selection.runs) < 2:
        return ""
    tie = f"a tie of {len(selection.tied)} groups" if selection.tied else "no tie"
    return f"P over {name_of(selection.rival)} is {selection.confidence:.3f}, {tie}"


def cost_words(selection: Selection) -> str:
    """Calls and tokens; empty where nobody was asked."""
    spent = selection.spent
    if not spent.calls:
        return ""
    saved = f", {spent.saved} saved" if spent.saved else ""
    tokens = "unknown" if spent.tokens_sent is None else f"{spent.tokens_sent:,}"
    read = "" if spent.tokens_evaluated is None else f" ({spent.tokens_evaluated:,} evaluated)"
    return f"{counted(spent.calls, 'call')}{saved}; {tokens} tokens sent{read}, {spent.seconds:.1f} s"
