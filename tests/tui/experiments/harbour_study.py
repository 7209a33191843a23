"""A small study on the harbour: questions with gold, and a model that is wrong in a known way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from core.models.chat import Message, Sampling
from tests.core.run.stage import BROKEN, RIGHT, WRONG, harbour, wrapped

STRATEGIES = "iterative,merit-no-dense"
"""Strategies that need no encoder, whose start would take most of a test's time."""
UNSTEADY = frozenset({"model s", "database s", "retrieval s", "of it embedding", "seconds", "at once"})
"""Columns that time decides, or that tell how much was under way."""

Script = Callable[[Sequence[Message], Sampling], str]


def questions_file(folder: Path, count: int = 12) -> Path:
    """`count` questions; every third has the gold of the one before it."""
    harbour(folder)
    file = folder / "questions.jsonl"
    lines = [
        {
            "id": f"q{n}",
            "database": "harbour",
            "question": f"Which boats are large ({n})?",
            "gold": f"{RIGHT} LIMIT {100 + n - (n % 3 == 2)}",
        }
        for n in range(count)
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


def answers(messages: Sequence[Message], sampling: Sampling) -> str:
    """Of four questions one is right at once, one after a repair, one is helped by memories alone,
    and one is never right. It depends on the prompt alone."""
    text = "\n".join(message.content for message in messages)
    before, number, after = re.split(r"Question: Which boats are large \((\d+)\)", text)[-3:]
    kind, failures = int(number) % 4, after.count(WRONG) + after.count(BROKEN)
    helped = RIGHT in before
    if kind == 0 or (kind == 1 and failures) or (kind == 2 and failures and helped):
        return wrapped(RIGHT)
    return wrapped((WRONG, BROKEN)[failures % 2])


def steady(lines: str) -> list[dict[str, object]]:
    """The rows of a report in JSON, without what time decides."""
    rows = [json.loads(line) for line in lines.splitlines()]
    return [
        {k: v for k, v in row.items() if k.removesuffix(" deviation") not in UNSTEADY}
        for row in rows
        if "table" in row
    ]
