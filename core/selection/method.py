"""Every way of choosing, as rows of one table that few code paths read (map-sql.md, "Methods")."""

from __future__ import annotations

from typing import Literal

import msgspec

from core.errors import UsageMistake
from core.selection.confidence import TAU
from core.selection.listwise import STRIDE, WINDOW


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """One way of choosing."""

    name: str
    about: str
    compares: Literal["nothing", "groups", "verdicts", "scores", "pairs", "choice", "list"]
    """What the decision rests on: the greedy mark, the groups' sizes, those and a verdict on each, a
    score of each candidate, pairs of different groups, one multiple choice, or ranked lists."""
    memory: bool = False
    """Whether prompts begin with specifications of similar questions."""
    shuffles: Literal["none", "groups", "all"] = "none"
    """What the runs of a list shuffle; without shuffling there is one run."""
    breaks_ties: bool = False
    """Whether pointwise scores decide what the comparison leaves open."""
    own_judge: bool = False
    """Whether ties are broken by the selector itself, also where another model is given for it."""
    consensus: bool = False
    """Whether each candidate is shown with how many others agree with it."""
    studied: bool = True
    """Whether a study compares it without being told to."""

    def calls_alone(self, count: int) -> int:
        """Calls that the method's paper makes where all of so many candidates agree."""
        scores = self.compares == "scores" or (self.compares == "pairs" and self.breaks_ties)
        return count if scores else int(self.compares == "choice")


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(name="greedy", about="the candidate generated without sampling", compares="nothing"),
        Method(name="majority", about="the largest group of equal results", compares="groups"),
        Method(
            name="weighed-majority",
            about="the largest group, each weighed by how probable it is that the model says yes to it",
            compares="verdicts",
        ),
        Method(name="pointwise", about="the highest score of its own", compares="scores"),
        Method(
            name="pairwise",
            about="most wins over candidates of other groups (CHASE-SQL)",
            compares="pairs",
        ),
        Method(
            name="r3",
            about="groups compared by pairs, scores where that is open (R3-SQL, untrained)",
            compares="pairs",
            breaks_ties=True,
        ),
        Method(
            name="mcs", about="one multiple choice over the sorted list (MCS-SQL)", compares="choice"
        ),
        Method(name="listwise", about="one ranked list", compares="list"),
        Method(
            name="listwise-memory",
            about="one ranked list, with specification memories",
            compares="list",
            memory=True,
        ),
        Method(
            name="map-sql",
            about="ranked lists under permutations, memories, pointwise tie-break",
            compares="list",
            memory=True,
            shuffles="groups",
            breaks_ties=True,
        ),
        Method(
            name="map-sql-no-memory",
            about="map-sql without memories",
            compares="list",
            shuffles="groups",
            breaks_ties=True,
        ),
        Method(
            name="map-sql-no-permutation",
            about="map-sql with one run, which is listwise-memory",
            compares="list",
            memory=True,
        ),
        Method(
            name="map-sql-no-memory-no-permutation",
            about="map-sql without both, which is listwise",
            compares="list",
        ),
        Method(
            name="map-sql-no-tie-break",
            about="map-sql that takes the best mean rank as it is",
            compares="list",
            memory=True,
            shuffles="groups",
        ),
        Method(
            name="map-sql-global",
            about="map-sql that shuffles all candidates, groups or not",
            compares="list",
            memory=True,
            shuffles="all",
            breaks_ties=True,
        ),
        Method(
            name="map-sql-own-tie-break",
            about="map-sql whose ties the selector breaks, whatever other judge is given",
            compares="list",
            memory=True,
            shuffles="groups",
            breaks_ties=True,
            own_judge=True,
        ),
        Method(
            name="map-sql-consensus",
            about="map-sql that says with each candidate how many agree with it",
            compares="list",
            memory=True,
            shuffles="groups",
            breaks_ties=True,
            consensus=True,
            studied=False,
        ),
    )
}
"""By name. Where all candidates agree no method asks anybody: there is nothing to choose. The papers
of `pointwise`, `r3` and `mcs` score or ask all the same; calls that they make then count as saved."""


def method_named(name: str) -> Method:
    """The method of that name. Raises MeritoError, which names the nearest."""
    method = METHODS.get(name)
    if method is None:
        import difflib

        near = difflib.get_close_matches(name, METHODS, 1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        raise UsageMistake(
            f"There is no selection method '{name}'.", f"{hint}There are: {', '.join(METHODS)}."
        )
    return method


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What methods are run under; the paper's values."""

    permutations: int = 4
    """K, at least 1."""
    window: int = WINDOW
    stride: int = STRIDE
    tau: float = TAU
    seed: int = 0
    early_stop: bool = True
    """Leave out calls that cannot change the answer: runs that are settled, prompts that repeat."""

    def runs(self, method: Method) -> int:
        """Runs of a list method."""
        return 1 if method.shuffles == "none" else self.permutations
