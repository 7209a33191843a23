"""Executed candidates and their groups of equal results, as every face may show them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.database.rows import Outcome, ResultTable

GREEDY = "greedy"
"""The source of the candidate that was generated without sampling."""


class Executed(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate and what it returned, as prompts and screens may show it."""

    sql: str
    source: str
    key: str
    """SHA-256 of the normalised SQL: what settles every last tie."""
    table: ResultTable
    correct: bool | None = None
    """Whether it is right; None where there is no gold that works. No method may look."""

    @property
    def ran(self) -> bool:
        """Whether there is a result."""
        return self.table.outcome is Outcome.OK


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """All candidates of one question in their pool's order, and their groups in the prior's order."""

    executed: tuple[Executed, ...]
    groups: tuple[tuple[int, ...], ...]
    """Indexes into `executed`. Largest group first, then by the smallest key; errors last."""
    problems: tuple[str, ...] = ()
    """What the user should know, one line each."""

    @property
    def group_of(self) -> dict[int, int]:
        """The place of each candidate's group."""
        return {index: place for place, group in enumerate(self.groups) for index in group}

    @property
    def greedy(self) -> int | None:
        """The greedy candidate, where the pool has one."""
        named = (i for i, each in enumerate(self.executed) if each.source.casefold() == GREEDY)
        return next(named, None)

    def smallest(self, group: Sequence[int]) -> int:
        """The member of a group with the smallest key; of equal texts the first."""
        return min(group, key=lambda index: (self.executed[index].key, index))

    def face(self, group: Sequence[int]) -> int:
        """The member that stands for a group when nothing tells them apart: the greedy candidate
        where it is in it, else the one with the smallest key."""
        greedy = self.greedy
        return greedy if greedy is not None and greedy in group else self.smallest(group)

    @property
    def oracle(self) -> bool | None:
        """Whether any candidate is right; None where nothing could be judged."""
        known = [each.correct for each in self.executed if each.correct is not None]
        return any(known) if known else None

    def presented(self, order: Sequence[int]) -> Candidates:
        """The same candidates as a pool that lists them in `order` would have them."""
        place = {index: new for new, index in enumerate(order)}
        return msgspec.structs.replace(
            self,
            executed=tuple(self.executed[index] for index in order),
            groups=tuple(tuple(sorted(place[index] for index in group)) for group in self.groups),
        )
