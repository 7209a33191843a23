"""Candidates for a question's first SQL: drawn, executed, grouped, and one of them chosen."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

import msgspec

from core.errors import MeritoError
from core.models.chat import Answer, Message, Sampling
from core.prompts.extract import extract_sql
from core.question import Question
from core.run.events import (
    AnswerWritten,
    CandidateDrawn,
    CandidatesSelected,
    Drafting,
    SelectorAnswered,
)
from core.run.stamp import Stamp
from core.selection.confidence import TAU
from core.selection.grouped import GREEDY, Candidates
from core.selection.selection import Selection
from core.selection.turns import in_turn

if TYPE_CHECKING:
    from core.selection.calls import Caller
    from core.selection.pool import PooledQuestion
    from core.selection.pooling import Chosen, Panel


class Drawn(Protocol):
    """What has been drawn for a question so far (`core.repair.history.History`)."""

    position: int
    question: Question
    greedy: AnswerWritten | None
    drawn: dict[int, CandidateDrawn]
    selected: CandidatesSelected | None


class Drafter:
    """Draws and chooses for one run.

    `panel` chooses by one method and judges nothing; `caller` draws. `agreed` is filled with the SQL
    that the candidates of each question agree on, for whoever judges by it.
    """

    def __init__(
        self, drafting: Drafting, seed: int, caller: Caller, panel: Panel, agreed: dict[str, str]
    ) -> None:
        self._drafting, self._seed = drafting, seed
        self._caller, self._panel, self._agreed = caller, panel, agreed

    async def events(
        self, known: Drawn, prompt: Sequence[Message], stamp: Stamp
    ) -> AsyncGenerator[CandidateDrawn | SelectorAnswered | CandidatesSelected, None]:
        """What is not known yet: every further candidate, then the choice. Raises ModelTrouble, and
        MeritoError where the database cannot be used."""
        if known.selected is None:
            async with aclosing(self._draws(known, prompt, stamp)) as draws:
                async for drawn in draws:
                    known.drawn[drawn.number] = drawn
                    yield drawn
            chosen = await self._choose(known)
            for asked in chosen.selection.asked:
                fields = msgspec.structs.asdict(asked)
                yield stamp(SelectorAnswered, position=known.position, attempt=0, **fields)
            known.selected = _selected(known, chosen, stamp)
            yield known.selected
        if known.selected.agreed:
            self._agreed[known.question.id] = known.selected.agreed

    def first(self, known: Drawn) -> str:
        """The SQL to begin with: the choice, or the greedy answer where the choice only judges."""
        assert known.selected is not None
        choice = known.selected.selection.choice if self._drafting.takes else 0
        return known.selected.candidates.executed[choice or 0].sql

    async def _draws(
        self, known: Drawn, prompt: Sequence[Message], stamp: Stamp
    ) -> AsyncGenerator[CandidateDrawn, None]:
        missing = [n for n in range(1, self._drafting.candidates) if n not in known.drawn]

        async def draw(number: int) -> tuple[int, Sampling, Answer]:
            sampling = Sampling(
                temperature=self._drafting.temperature,
                top_p=self._drafting.top_p,
                seed=candidate_seed(self._seed, known.question.id, number),
            )
            return number, sampling, await self._caller.ask(prompt, sampling)

        # The greedy answer came first, so the prompt is in the engine's cache by now.
        async with aclosing(in_turn(missing, draw, self._caller.at_once)) as answers:
            async for number, sampling, answer in answers:
                yield stamp(
                    CandidateDrawn,
                    position=known.position,
                    attempt=0,
                    number=number,
                    sampling=sampling,
                    text=answer.text,
                    sql=extract_sql(answer.text, answer.finish).sql,
                    usage=answer.usage,
                    seconds=answer.seconds,
                    finish=answer.finish,
                )

    async def _choose(self, known: Drawn) -> Chosen:
        (chosen,) = await self._panel.choose(self._pooled(known))
        self._panel.executed.clear()
        if not chosen.candidates.executed:
            raise MeritoError(chosen.candidates.problems[0])
        return chosen

    def _pooled(self, known: Drawn) -> PooledQuestion:
        from core.selection.pool import Candidate, PooledQuestion

        def candidates() -> Iterator[Candidate]:
            assert known.greedy is not None, "the greedy answer comes first"
            yield Candidate(sql=known.greedy.sql, source=GREEDY)
            for number in sorted(known.drawn):
                drawn = known.drawn[number]
                yield Candidate(sql=drawn.sql, source=f"seed {drawn.sampling.seed}")

        return PooledQuestion(
            question=known.question, candidates=tuple(candidates()), id=known.question.id
        )


def _selected(known: Drawn, chosen: Chosen, stamp: Stamp) -> CandidatesSelected:
    return stamp(
        CandidatesSelected,
        position=known.position,
        attempt=0,
        candidates=chosen.candidates,
        selection=msgspec.structs.replace(chosen.selection, asked=()),
        agreed=agreement(chosen.candidates, chosen.selection),
    )


def candidate_seed(run_seed: int, question: str, number: int) -> int:
    """The seed of one candidate: the same in every run with the same seed, whatever the order of
    the stream, and none of a repair's."""
    import hashlib

    digest = hashlib.sha256(f"{run_seed}\x1f{question}\x1fcandidate {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def agreement(candidates: Candidates, selection: Selection, tau: float = TAU) -> str:
    """The chosen SQL where the candidates agree on its result: all of them, or more than half, or the
    selector is sure of it (P >= tau over every other group, from at least two presentations that
    differ: the same prompt has the same answer and says nothing twice). Empty where they do not."""
    choice = selection.choice
    if choice is None or not candidates.executed[choice].ran:
        return ""
    group = candidates.groups[candidates.group_of[choice]]
    keys = [each.key for each in candidates.executed]
    presented = {tuple(keys[index] for index in run.order) for run in selection.runs}
    p = selection.confidence if len(presented) > 1 else None
    sure = p is not None and p >= tau and not selection.tied
    many = 2 * len(group) > len(candidates.executed)
    return candidates.executed[choice].sql if sure or many else ""
