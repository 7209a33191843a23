"""The same choice many times over: several pools of the same questions, several seeds, and several
numbers of permutations (map-sql.md, "Metrics")."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from core.errors import UsageMistake
from core.selection.figures import Repeats
from core.selection.pool import PooledQuestion
from core.selection.pooling import Chosen, Panel
from core.selection.turns import in_turn


class Turn(msgspec.Struct, frozen=True):
    """What one repeat of the choice is made under."""

    pool: int
    """Place of the pool among the study's."""
    seed: int
    permutations: int


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """A repeat that was interrupted, or never begun."""

    repeat: int
    """Its place among the repeats."""
    chosen: int
    """Questions that are chosen for."""
    questions: int
    """Questions of its pool."""
    left_out: bool
    """Whether the figures are without it; one alone stands where no repeat is complete."""


@dataclass
class Study:
    """The choices of every turn as far as they are made.

    `pools` are the questions of each pool; `seeds` shuffle presentations and permutations; `sweep` are
    further numbers of permutations, for the methods that permute; the panel's own number comes first.
    Raises nothing of its own.
    """

    pools: Sequence[Sequence[PooledQuestion]]
    seeds: Sequence[int]
    permutations: int
    sweep: Sequence[int] = ()

    def __post_init__(self) -> None:
        self._chosen: dict[Turn, list[list[Chosen]]] = {}

    def turns(self, pool: int) -> list[Turn]:
        """The turns of one pool; the first is what a study without repeats consists of."""
        numbers = dict.fromkeys((self.permutations, *self.sweep))
        return [Turn(pool, seed, number) for number in numbers for seed in self.seeds]

    async def choose_all(
        self, panel: Panel, pool: int, at_once: int
    ) -> AsyncGenerator[dict[Turn, list[Chosen]], None]:
        """Every turn's choices for each question of a pool, one question after the other, so that what
        its prompts begin with is still in the engine's cache. Raises ModelTrouble."""
        turns = self.turns(pool)
        panels = {turn: self._panel(panel, turn) for turn in turns}

        async def choose(pooled: PooledQuestion) -> dict[Turn, list[Chosen]]:
            return {turn: await panels[turn].choose(pooled) for turn in turns}

        async for chosen in in_turn(self.pools[pool], choose, at_once):
            for turn, each in chosen.items():
                self._chosen.setdefault(turn, []).append(each)
            yield chosen

    def _panel(self, panel: Panel, turn: Turn) -> Panel:
        terms = msgspec.structs.replace(panel.terms, seed=turn.seed, permutations=turn.permutations)
        methods = panel.methods
        if turn.permutations != self.permutations:
            methods = [method for method in methods if method.shuffles != "none"]
        return replace(panel, terms=terms, methods=methods)

    def repeats(self, permutations: int) -> list[Repeats]:
        """The choices of each method in every complete repeat with so many permutations, method by
        method. Where none is complete, the first that is begun stands alone."""
        turns = self._standing(permutations)
        by_turn = [list(zip(*self._chosen[turn], strict=True)) for turn in turns]
        return [list(each) for each in zip(*by_turn, strict=True)]

    def unfinished(self, permutations: int) -> list[Unfinished]:
        """The repeats with so many permutations that are not complete."""
        standing = self._standing(permutations)
        return [
            Unfinished(
                repeat=place,
                chosen=len(self._chosen.get(turn, ())),
                questions=len(self.pools[turn.pool]),
                left_out=turn not in standing,
            )
            for place, turn in enumerate(self._planned(permutations))
            if not self._complete(turn)
        ]

    def _standing(self, permutations: int) -> list[Turn]:
        """The turns that figures are made of: an unfinished one would weigh as much as a whole one,
        on fewer questions."""
        planned = self._planned(permutations)
        complete = [turn for turn in planned if self._complete(turn)]
        return complete or [turn for turn in planned if turn in self._chosen][:1]

    def _planned(self, permutations: int) -> list[Turn]:
        every = [turn for pool in range(len(self.pools)) for turn in self.turns(pool)]
        return [turn for turn in every if turn.permutations == permutations]

    def _complete(self, turn: Turn) -> bool:
        return len(self._chosen.get(turn, ())) == len(self.pools[turn.pool])


def refuse_other_questions(pools: Mapping[str, Sequence[PooledQuestion]]) -> None:
    """Nothing, where the pools (by name, at least one) are repeats of one choice: the same questions,
    with gold for the same of them. Raises UsageMistake that names the first pool and question that
    differ."""
    (first, questions), *others = pools.items()
    known = _by_identity(questions)
    for name, other in others:
        found = _by_identity(other)
        _refuse(
            [(name, first, each) for key, each in known.items() if key not in found]
            + [(first, name, each) for key, each in found.items() if key not in known],
            "",
            "Give pools of the same questions (--limit takes the first of each), or choose from each "
            "pool in a command of its own.",
        )
        _refuse(
            [
                (first, name, found[key]) if found[key].gold.strip() else (name, first, each)
                for key, each in known.items()
                if bool(each.gold.strip()) != bool(found[key].gold.strip())
            ],
            "gold SQL for ",
            "Give every pool the same gold SQL, or choose from each pool in a command of its own.",
        )


def _refuse(lacking: Iterable[tuple[str, str, PooledQuestion]], what: str, mend: str) -> None:
    for lacks, has, pooled in lacking:
        raise UsageMistake(
            f"{lacks} has no {what}question {pooled.id} of the database '{pooled.question.database}', "
            f"and {has} has: they are no repeats of one choice.",
            mend,
        )


def _by_identity(questions: Sequence[PooledQuestion]) -> dict[tuple[str, str], PooledQuestion]:
    return {(each.question.database, each.question.id): each for each in questions}
