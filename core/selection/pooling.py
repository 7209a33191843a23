"""Choosing for every question of a pool, by one or more methods over the same executed candidates."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import msgspec

from core.errors import MeritoError
from core.selection.calls import Caller
from core.selection.candidates import Executor, unusable
from core.selection.grouped import Candidates
from core.selection.method import Method, Terms
from core.selection.pool import PooledQuestion
from core.selection.preparing import Preparer
from core.selection.selecting import Prepared, select
from core.selection.selection import Selection
from core.selection.turns import in_turn


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What one method chose for one question. Indexes count in the pool's order."""

    pooled: PooledQuestion
    candidates: Candidates
    selection: Selection
    consistent: bool | None = None
    """Whether another presentation led to the same text, which it did not where the method failed;
    None where nobody asked, or where the method does not apply."""

    @property
    def sql(self) -> str | None:
        """The chosen text."""
        choice = self.selection.choice
        return None if choice is None else self.candidates.executed[choice].sql

    @property
    def correct(self) -> bool | None:
        """Whether the choice is right; None where nothing can be judged, or where the method does
        not apply. A method that failed is wrong."""
        choice = self.selection.choice
        if choice is not None:
            return self.candidates.executed[choice].correct
        applies = self.selection.method != "greedy" and self.candidates.oracle is not None
        return False if applies else None


FILE_ORDER = 0
"""The presentation of a pool as its file has it; every other number is a shuffle of its own."""

Fronts = dict[tuple[bool, int], Prepared]
"""What one question's prompts begin with: without memories and with them, by how many candidates the
largest shows."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What choosing works with. Without a selector only methods that ask nobody can be used."""

    executor: Executor
    methods: Sequence[Method]
    terms: Terms
    caller: Caller | None = None
    judge: Caller | None = None
    preparer: Preparer | None = None
    presentations: tuple[int, ...] = (FILE_ORDER,)
    """How each pool is shown: the first leads to the choice, a second tells whether it stays."""
    executed: dict[str, Candidates] = field(default_factory=dict)
    """By question id, for whoever chooses from the same pool again."""

    async def choose_all(
        self, questions: Sequence[PooledQuestion], at_once: int
    ) -> AsyncGenerator[list[Chosen], None]:
        """One choice a method for each question, in the questions' order. Raises ModelTrouble where
        the engine fails for good: whatever was answered until then is kept."""
        async for chosen in in_turn(questions, self.choose, at_once):
            yield chosen

    async def choose(self, pooled: PooledQuestion) -> list[Chosen]:
        """One choice a method."""
        candidates = await self._candidates(pooled)
        fronts: Fronts = {}
        # Methods with the same front after one another, so that the engine's cache holds it.
        chosen = {
            method.name: await self._by(method, pooled, candidates, fronts)
            for method in sorted(self.methods, key=lambda method: method.memory)
        }
        return [chosen[method.name] for method in self.methods]

    async def _candidates(self, pooled: PooledQuestion) -> Candidates:
        name = pooled.question.id
        if name not in self.executed:
            try:
                self.executed[name] = await self.executor.execute(pooled)
            except MeritoError as trouble:
                self.executed[name] = unusable(pooled, trouble)
        return self.executed[name]

    async def _by(
        self, method: Method, pooled: PooledQuestion, candidates: Candidates, fronts: Fronts
    ) -> Chosen:
        everyone = tuple(range(len(candidates.executed)))
        found = [
            await self._select(
                method,
                pooled,
                candidates,
                _presentation(self.terms.seed, pooled, which, everyone),
                fronts,
            )
            for which in self.presentations
        ]
        texts = [None if s.choice is None else candidates.executed[s.choice].key for s in found]
        return Chosen(
            pooled=pooled,
            candidates=candidates,
            selection=found[0],
            consistent=(
                None not in texts and len(set(texts)) == 1
                if len(texts) > 1 and _applies(method, candidates)
                else None
            ),
        )

    async def _select(
        self,
        method: Method,
        pooled: PooledQuestion,
        candidates: Candidates,
        order: tuple[int, ...],
        fronts: Fronts,
    ) -> Selection:
        async def prepare(memory: bool, shown: int) -> Prepared:
            assert self.preparer is not None, "a method that asks has a selector"
            if (memory, shown) not in fronts:
                fronts[memory, shown] = await self.preparer.prepare(
                    pooled.question, candidates, memory, shown
                )
            return fronts[memory, shown]

        found = await select(
            method,
            candidates.presented(order),
            question=pooled.question.id,
            prepare=prepare,
            caller=self.caller,
            judge=self.judge,
            terms=self.terms,
        )
        return found.renamed(order)


def _applies(method: Method, candidates: Candidates) -> bool:
    """Whether there is something for a method to choose from."""
    there = candidates.greedy is not None or method.compares != "nothing"
    return bool(candidates.groups) and there


def _presentation(
    seed: int, pooled: PooledQuestion, which: int, everyone: tuple[int, ...]
) -> tuple[int, ...]:
    if which == FILE_ORDER:
        return everyone
    chance = random.Random(f"{seed}\x1fpresentation {which}\x1f{pooled.question.id}")
    return tuple(chance.sample(everyone, len(everyone)))
