"""The engine against its bar (quality.md, "Speed and size"): attempts a second with a scripted model
that answers at once, strategy `iterative`, one commit an attempt (`pytest -m bench -s`)."""

from __future__ import annotations

import os
import platform
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.models.chat import Message, Sampling
from core.run.events import AttemptJudged
from stores.recorder import Recorder
from stores.store import Durability, Store
from tests.core.run.stage import questions, staged, wrapped
from tests.scripted import ScriptedModel

pytestmark = [pytest.mark.bench, pytest.mark.slow]

QUESTIONS, BUDGET = 60, 7
ROUNDS = 3
"""The best of them counts: what else the machine does only takes away."""


class Failing:
    """Another wrong query each time, so that every attempt is executed and judged."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, _messages: Sequence[Message], _sampling: Sampling) -> str:
        self._count += 1
        return wrapped(f"SELECT name FROM boat WHERE crew > 3 AND id <> {self._count} - {self._count}")


async def attempts_a_second(folder: Path, durability: Durability) -> float:
    """One run of `iterative` that never succeeds, recorded."""
    asked, count = questions(QUESTIONS), 0
    golds = {question.id: "SELECT crew FROM boat WHERE id < 0" for question in asked}
    model = ScriptedModel(Failing())
    stage = staged(folder, model, asked, strategy="iterative", budget=BUDGET, golds=golds)
    with Store.open(folder / "s.sqlite", create=True, durability=durability) as store:
        async with stage as run:
            began = time.perf_counter()
            async for event in Recorder(store).record(run.events()):
                count += isinstance(event, AttemptJudged)
            took = time.perf_counter() - began
    assert count == QUESTIONS * (BUDGET + 1)
    return count / took


@pytest.mark.parametrize(("durability", "bar"), [("OFF", 200), ("FULL", 100)])
async def test_attempts_a_second(tmp_path: Path, durability: Durability, bar: int) -> None:
    rates = []
    for place in range(ROUNDS):
        folder = tmp_path / str(place)
        folder.mkdir()
        rates.append(await attempts_a_second(folder, durability))
    load = os.getloadavg()[0]
    print(
        f"\nattempts a second, synchronous={durability}: best {max(rates):.0f},"
        f" worst {min(rates):.0f} of {ROUNDS} ({QUESTIONS} questions, K = {BUDGET};"
        f" {os.cpu_count()} cores, Python {platform.python_version()},"
        f" SQLite {sqlite3.sqlite_version}, load {load:.1f})"
    )
    assert max(rates) > bar
