"""Words of a question that are stored values are told with their place and spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.database.sandbox import Sandbox
from core.database.schema import read_schema
from core.repair.hints import lookup_in
from core.repair.hints.mentions import MOST_MENTIONS, mentioned_values

TABLES = """
CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, country TEXT, age TEXT);
CREATE TABLE city (name TEXT, "in" TEXT);
INSERT INTO singer VALUES (1, 'Ana', 'France', '32'), (2, 'O''Hara', 'usa', 'x');
INSERT INTO singer VALUES (3, 'The', 'Peru', 'y');
INSERT INTO city VALUES ('New York', 'usa'), ('York', 'uk'), ('Ana', 'brazil');
"""


CASES = {
    "a value and its column": (
        "Who is from France?",
        ["“France” of the question is stored in singer.country as 'France'."],
    ),
    "as it is spelled there": (
        "singers of the USA",
        ["“USA” of the question is stored in singer.country as 'usa' and city.`in` as 'usa'."],
    ),
    "the longest phrase": (
        "How many live in new york?",
        ["“new york” of the question is stored in city.name as 'New York'."],
    ),
    "a quote in it": (
        "How old is o'hara?",
        ["“o'hara” of the question is stored in singer.name as 'O''Hara'."],
    ),
    "a number kept as text": (
        "Who is aged 32?",
        ["“32” of the question is stored in singer.age as '32'."],
    ),
    "plain words tell nothing": ("Who are the singers?", []),
    "nothing stored": ("Who is from Mars?", []),
    "nothing asked": ("", []),
}


@pytest.mark.parametrize(("question", "told"), CASES.values(), ids=CASES)
async def test_mentions(question: str, told: list[str], database: Path, sandbox: Sandbox) -> None:
    look_up = lookup_in(sandbox, database)
    facts = [text async for _, text in mentioned_values(question, read_schema(database), look_up)]
    assert facts == told


async def test_a_long_question_tells_a_few(database: Path, sandbox: Sandbox) -> None:
    question = "Ana, Peru, France, usa, York, brazil, uk, 32 '; DROP TABLE singer; --"
    look_up = lookup_in(sandbox, database)
    facts = [fact async for fact in mentioned_values(question, read_schema(database), look_up)]
    assert len(facts) == MOST_MENTIONS
