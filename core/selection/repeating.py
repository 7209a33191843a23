"""The same choice many times over: several pools of the same questions, several seeds, and several
numbers of permutations (map-sql.md, "Metrics")."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

import msgspec

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


@dataclass
class Study:
    """The choices of every turn as far as they are made.

    `seeds` shuffle presentations and permutations; `sweep` are further numbers of permutations, for
    the methods that permute; the panel's own number comes first. Raises nothing of its own.
    """

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
        self, panel: Panel, pool: int, questions: Sequence[PooledQuestion], at_once: int
    ) -> AsyncGenerator[dict[Turn, list[Chosen]], None]:
        """Every turn's choices for each question, one question after the other, so that what its
        prompts begin with is still in the engine's cache. Raises ModelTrouble."""
        turns = self.turns(pool)
        panels = {turn: self._panel(panel, turn) for turn in turns}

        async def choose(pooled: PooledQuestion) -> dict[Turn, list[Chosen]]:
            return {turn: await panels[turn].choose(pooled) for turn in turns}

        async for chosen in in_turn(questions, choose, at_once):
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
        """The choices of each method in every repeat with so many permutations, method by method."""
        turns = [turn for turn in self._chosen if turn.permutations == permutations]
        by_turn = [list(zip(*self._chosen[turn], strict=True)) for turn in turns]
        return [list(each) for each in zip(*by_turn, strict=True)]

    def of_turn(self, turn: Turn) -> list[list[Chosen]]:
        """The choices of one turn, question by question."""
        return self._chosen.get(turn, [])

    @property
    def begun(self) -> list[Turn]:
        """Turns that have a choice."""
        return list(self._chosen)
