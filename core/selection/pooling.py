"""Choosing for every question of a pool, by one or more methods over the same executed candidates."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from core.errors import MeritoError
from core.models.chat import ModelTrouble
from core.selection.calls import Caller
from core.selection.candidates import Candidates, Executor, unusable
from core.selection.method import Method, Terms
from core.selection.pool import PooledQuestion
from core.selection.preparing import Preparer
from core.selection.selecting import Prepared, Selection, select
from core.selection.turns import in_turn


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What one method chose for one question. Indexes count in the pool's order."""

    pooled: PooledQuestion
    candidates: Candidates
    selection: Selection
    consistent: bool | None = None
    """Whether another presentation led to the same text; None where nobody asked."""

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


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What choosing works with. Without a selector only methods that ask nobody can be used."""

    executor: Executor
    methods: Sequence[Method]
    terms: Terms
    caller: Caller | None = None
    judge: Caller | None = None
    preparer: Preparer | None = None
    consistency: bool = False

    async def choose_all(
        self, questions: Sequence[PooledQuestion], at_once: int
    ) -> AsyncGenerator[list[Chosen], None]:
        """One choice a method for each question, in the questions' order. Raises ModelTrouble where
        the engine fails for good: whatever was answered until then is kept."""
        async for chosen in in_turn(questions, self.choose, at_once):
            yield chosen

    async def choose(self, pooled: PooledQuestion) -> list[Chosen]:
        """One choice a method."""
        try:
            candidates = await self.executor.execute(pooled)
        except MeritoError as trouble:
            candidates = unusable(pooled, trouble)
        return [await self._by(method, pooled, candidates) for method in self.methods]

    async def _by(self, method: Method, pooled: PooledQuestion, candidates: Candidates) -> Chosen:
        everyone = tuple(range(len(candidates.executed)))
        if not self.consistency:
            selection = await self._select(method, pooled, candidates, everyone)
            return Chosen(pooled=pooled, candidates=candidates, selection=selection)
        orders = [_presentation(self.terms.seed, pooled, which, everyone) for which in (1, 2)]
        first, second = [await self._select(method, pooled, candidates, order) for order in orders]
        texts = [
            None if each.choice is None else candidates.executed[each.choice].key
            for each in (first, second)
        ]
        return Chosen(
            pooled=pooled,
            candidates=candidates,
            selection=first,
            consistent=texts[0] == texts[1] if all(texts) else None,
        )

    async def _select(
        self,
        method: Method,
        pooled: PooledQuestion,
        candidates: Candidates,
        order: tuple[int, ...],
    ) -> Selection:
        presented = candidates.presented(order)
        caller = self.caller
        try:
            found = await select(
                method,
                presented,
                question=pooled.question.id,
                prepare=partial(self._prepare, pooled, candidates),
                caller=caller,
                judge=self.judge,
                terms=self.terms,
            )
        except ModelTrouble as trouble:
            if not trouble.concerns_prompt:
                raise
            return Selection(method=method.name, choice=None, remark=trouble.problem)
        return _restored(found, order)

    async def _prepare(self, pooled: PooledQuestion, candidates: Candidates, memory: bool) -> Prepared:
        assert self.preparer is not None, "a method that asks has a selector"
        return await self.preparer.prepare(pooled.question, candidates, memory)


def _presentation(
    seed: int, pooled: PooledQuestion, which: int, everyone: tuple[int, ...]
) -> tuple[int, ...]:
    chance = random.Random(f"{seed}\x1fpresentation {which}\x1f{pooled.question.id}")
    return tuple(chance.sample(everyone, len(everyone)))


def _restored(selection: Selection, order: tuple[int, ...]) -> Selection:
    """A selection over a presentation, with the pool's own indexes. What only the presentation has
    (windows, duels) stays out where the two differ."""
    if order == tuple(sorted(order)):
        return selection
    place = {index: new for new, index in enumerate(order)}
    means = selection.mean_ranks
    return msgspec.structs.replace(
        selection,
        choice=None if selection.choice is None else order[selection.choice],
        rival=None if selection.rival is None else order[selection.rival],
        tied=tuple(order[index] for index in selection.tied),
        mean_ranks=tuple(means[place[index]] for index in sorted(order)) if means else (),
        runs=(),
        duels=(),
        scores=(),
    )
