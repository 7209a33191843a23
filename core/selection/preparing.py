"""What a question's prompts begin with: its schema, as many memories as there is room for, and how much
of each candidate is shown."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.database.files import DatabaseFolder
from core.database.schema import Schema, read_schema
from core.models.call import estimated_tokens
from core.models.chat import Message
from core.question import Question
from core.selection.calls import Caller
from core.selection.fitting import fitting_schema
from core.selection.grouped import Candidates
from core.selection.prompts import BOUNDS, Front, answer_tokens, memory_block, shown_candidate
from core.selection.retrieval import MemoryBank, longest_fitting
from core.selection.selecting import Prepared

SCHEMA_SHARE = 0.45
"""The most of the context that a schema may take."""
MEMORY_SHARE = 0.15
"""What candidates leave of the context beside schema and answer where they can be shown in less: to the
memories, and to nobody where a method shows none, so that both see the same candidates."""
_RESERVED = 160
_SPARE = 10
"""Tokens beside each candidate of a prompt for what letters, counts and notes differ by."""


def reserved(shown: int) -> int:
    """Tokens kept for the answer to a prompt that shows so many candidates, and for what prompts of
    that size differ by."""
    return max(_RESERVED, answer_tokens(shown) + _SPARE * shown)


class Preparer:
    """Prepares the front of each question's prompts, for the selector and for the judge of its ties
    where that is another model. `memory_tokens` None fills what the context leaves after schema,
    candidates and answer."""

    def __init__(
        self,
        folder: DatabaseFolder,
        caller: Caller,
        bank: MemoryBank | None,
        memory_tokens: int | None = None,
        judge: Caller | None = None,
    ) -> None:
        self._folder, self._caller, self._bank = folder, caller, bank
        self._memory_tokens, self._judge = memory_tokens, judge
        callers = [caller, judge] if judge else [caller]
        self._context = min(each.described.context_tokens for each in callers)
        self._schemas: dict[str, Schema] = {}

    async def prepare(
        self, question: Question, candidates: Candidates, memory: bool, shown: int
    ) -> Prepared:
        """The front, with memories or without, of prompts that show at most so many candidates.
        Raises MeritoError for a schema that cannot be read or an encoder that fails."""
        front, room = await self._front(question, candidates, shown)
        if not memory or self._bank is None:
            return Prepared(front=front)
        nearest = await self._bank.nearest(question)
        entries = [(each.question, each.specification.text) for each in nearest]

        async def tokens(first: int) -> int:
            return await self._count((Message("user", memory_block(entries[:first])),))

        room = room if self._memory_tokens is None else min(room, self._memory_tokens)
        fit = await longest_fitting(len(entries), tokens, room)
        return Prepared(
            front=msgspec.structs.replace(front, memories=memory_block(entries[:fit])),
            memories=tuple(each.id for each in nearest[:fit]),
        )

    async def _front(self, question: Question, candidates: Candidates, shown: int) -> tuple[Front, int]:
        """The front without memories, with as much of the candidates as leaves room, and the tokens
        that are left beside the largest prompt that may come."""
        schema = await self._schema_text(question)
        for bounds in BOUNDS:
            front = Front(question=question, schema=schema, bounds=bounds)
            room = await self._room(front, candidates, shown)
            if room >= MEMORY_SHARE * self._context:
                break
        return front, room

    async def _room(self, front: Front, candidates: Candidates, shown: int) -> int:
        largest = sorted(
            candidates.executed,
            key=lambda each: estimated_tokens(
                (Message("user", shown_candidate("A", each, front.bounds)),)
            ),
            reverse=True,
        )
        askers = [(self._caller, "select-list", largest[:shown])]
        if self._judge:
            askers.append((self._judge, "select-score", largest[:1]))
        return min(
            [
                asker.described.context_tokens
                - await asker.model.count_tokens(front.prompt(template, them))
                - reserved(len(them))
                for asker, template, them in askers
            ]
        )

    async def _count(self, messages: Sequence[Message]) -> int:
        return await self._caller.model.count_tokens(messages)

    async def _schema_text(self, question: Question) -> str:
        database = question.database
        if database not in self._schemas:
            self._schemas[database] = read_schema(self._folder.path(database))
        budget = int(self._context * SCHEMA_SHARE)
        return await fitting_schema(self._schemas[database], question.text, budget, self._count)
