"""Text that repeats is written sooner with drafts from the prompt: a repair is such a text."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from core.models.chat import Answer, Message, Sampling
from core.models.embedded import EmbeddedModel

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]

SCHEMA = """CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER);
CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, concert_name TEXT, theme TEXT, year TEXT);
CREATE TABLE singer_in_concert (concert_id INTEGER, singer_id INTEGER);"""
QUERY = (
    "SELECT T1.name, T1.country, T2.concert_name FROM singer AS T1 JOIN singer_in_concert AS T3"
    " ON T1.singer_id = T3.singer_id JOIN concert AS T2 ON T2.concert_id = T3.concert_id"
    " WHERE T1.age > 30 ORDER BY T1.nme"
)
REPAIR = (
    Message("user", f"{SCHEMA}\nNames, countries and concerts of singers over 30, by name, as SQL."),
    Message("assistant", QUERY),
    Message("user", "no such column: T1.nme. Write the whole query again, mended, and nothing else."),
)


async def answered(model: EmbeddedModel, seed: int) -> Answer:
    """One repair, at a temperature that lets the model wander."""
    sampling = Sampling(max_tokens=120, temperature=0.2, seed=seed)
    async with aclosing(model.stream(REPAIR, sampling)) as items:
        async for item in items:
            if isinstance(item, Answer):
                return item
    raise AssertionError("a stream ends with its answer")


async def test_a_repair_is_written_sooner_with_drafts(small_weights: Path, tmp_path: Path) -> None:
    seconds = {True: 0.0, False: 0.0}
    tokens = {True: 0, False: 0}
    models = {
        drafts: EmbeddedModel(
            small_weights, context_tokens=2048, drafts=drafts, log=tmp_path / f"{drafts}.log"
        )
        for drafts in seconds
    }
    try:
        for model in models.values():
            await answered(model, 0)
        for seed in range(1, 6):
            for drafts, model in models.items():
                answer = await answered(model, seed)
                seconds[drafts] += answer.seconds
                tokens[drafts] += answer.usage.output_tokens or 0
    finally:
        for model in models.values():
            await model.close()
    pace = {drafts: tokens[drafts] / seconds[drafts] for drafts in seconds}
    print(f"{pace[True]:.1f} tokens/s with drafts, {pace[False]:.1f} without", end=", ")
    print(f"{pace[True] / pace[False]:.2f} x")
    assert pace[True] > 1.2 * pace[False]
