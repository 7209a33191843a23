"""One question on its way to a choice: how every method asks, and what it may lose."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from core.models.chat import Answer, ModelTrouble, Sampling
from core.selection.answers import Ranked, read_ranking, read_score
from core.selection.calls import Caller, Tab
from core.selection.grouped import Candidates
from core.selection.method import Method, Terms
from core.selection.prompts import Front, answer_tokens
from core.selection.selection import Score, Selection
from core.selection.turns import in_turn

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class Asking:
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

    async def answer(
        self,
        template: str,
        shown: Sequence[int],
        judge: Caller | None = None,
        sampling: Sampling | None = None,
    ) -> Answer:
        """The answer to a prompt about the candidates `shown`, greedy where no sampling is given."""
        notes = [self._notes[index] for index in shown] if self.method.consensus else ()
        messages = self.front.prompt(template, [self.candidates.executed[i] for i in shown], notes)
        sampling = sampling or Sampling(max_tokens=answer_tokens(len(shown)))
        return await self.tab.ask(judge or self.caller, messages, sampling, template)

    async def rank(self, shown: Sequence[int]) -> Ranked:
        """One window."""
        answer = await self.answer("select-list", shown)
        return read_ranking(answer.text, len(shown))

    async def judgement(
        self,
        template: str,
        shown: Sequence[int],
        judge: Caller | None = None,
        sampling: Sampling | None = None,
    ) -> Answer | None:
        """The answer to one of many prompts; None where this one is too long, which is the loss of
        those that it shows and not the others'."""
        try:
            return await self.answer(template, shown, judge, sampling)
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
            return Score(candidate=index, score=None if answer is None else read_score(answer.text))

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
