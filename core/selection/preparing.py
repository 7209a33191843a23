"""What a question's prompts begin with: its schema, and as many memories as there is room for."""

from __future__ import annotations

from core.database.files import DatabaseFolder
from core.database.schema import Schema, read_schema
from core.database.schema_text import schema_text
from core.models.chat import Message
from core.question import Question
from core.selection.calls import Caller
from core.selection.grouped import Candidates
from core.selection.listwise import WINDOW
from core.selection.prompts import Front, memory_block, shown_result
from core.selection.retrieval import MemoryBank, longest_fitting
from core.selection.selecting import Prepared

SCHEMA_SHARE = 0.45
"""The most of the context that a schema may take."""
RESERVED = 160
"""Tokens for the answer of a whole window, and for what letters and counts differ by."""


class Preparer:
    """Prepares the front of each question's prompts. `memory_tokens` None fills what the context
    leaves after schema, candidates and answer."""

    def __init__(
        self,
        folder: DatabaseFolder,
        caller: Caller,
        bank: MemoryBank | None,
        memory_tokens: int | None = None,
        window: int = WINDOW,
    ) -> None:
        self._folder, self._caller, self._bank = folder, caller, bank
        self._memory_tokens, self._window = memory_tokens, window
        self._schemas: dict[str, Schema] = {}

    async def prepare(self, question: Question, candidates: Candidates, memory: bool) -> Prepared:
        """The front, with memories or without. Raises MeritoError for a schema that cannot be read
        or an encoder that fails."""
        front = Front(question=question, schema=self._schema_text(question))
        if not memory or self._bank is None:
            return Prepared(front=front)
        nearest = await self._bank.nearest(question)
        entries = [(each.question, each.specification.text) for each in nearest]

        async def tokens(first: int) -> int:
            return await self._count((Message("user", memory_block(entries[:first])),))

        room = await self._room(front, candidates)
        shown = await longest_fitting(len(entries), tokens, room)
        return Prepared(
            front=Front(question=question, schema=front.schema, memories=memory_block(entries[:shown])),
            memories=tuple(each.id for each in nearest[:shown]),
        )

    async def _room(self, front: Front, candidates: Candidates) -> int:
        """Tokens for memories beside the largest window that may come."""
        largest = sorted(
            candidates.executed, key=lambda each: -len(each.sql) - len(shown_result(each.table))
        )[: self._window]
        taken = await self._count(front.prompt("select-list", largest))
        left = self._caller.described.context_tokens - taken - RESERVED
        return left if self._memory_tokens is None else min(left, self._memory_tokens)

    async def _count(self, messages: tuple[Message, ...]) -> int:
        return await self._caller.model.count_tokens(messages)

    def _schema_text(self, question: Question) -> str:
        database = question.database
        if database not in self._schemas:
            self._schemas[database] = read_schema(self._folder.path(database))
        budget = int(self._caller.described.context_tokens * SCHEMA_SHARE)
        return schema_text(self._schemas[database], question=question.text, budget=budget).text
