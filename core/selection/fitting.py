"""How much of a schema a prompt has room for. The tokenizer has the last word: characters are a first
guess alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from core.database.schema import Schema
from core.database.schema_text import schema_text
from core.models.chat import Message

Count = Callable[[Sequence[Message]], Awaitable[int]]
"""Tokens of a chat, by the model's own tokenizer."""


async def fitting_schema(schema: Schema, question: str, budget: int, count: Count) -> str:
    """The whole schema where it takes at most `budget` tokens, else what has most to do with the
    question and fits; the least that can be shown where not even that does."""
    whole = schema_text(schema).text
    if await _tokens(whole, budget, count) <= budget:
        return whole
    guess = budget
    while True:
        text = schema_text(schema, question=question, budget=guess).text
        tokens = await _tokens(text, budget, count)
        if tokens <= budget or guess <= 0:
            return text
        guess = min(guess * budget // tokens, guess * 9 // 10)


async def _tokens(text: str, budget: int, count: Count) -> int:
    """Tokens of a text, which has no more of them than bytes: one that fits anyhow is not counted."""
    size = len(text.encode("utf-8", "replace"))
    return size if size <= budget else await count((Message("user", text),))
