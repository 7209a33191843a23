"""A small database, questions with gold, and everything a run needs, on a scripted model."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from core.database.files import DatabaseFolder
from core.database.sandbox import Sandbox
from core.feedback.regimes import RegimeParts, build_regime
from core.memory.embedding import Encoder
from core.models.retry import RetryPolicy
from core.prompts.layout import Prompts
from core.prompts.template import Templates
from core.question import Question
from core.repair.equipment import Equipment, NoPredictions, Predictions
from core.repair.experience import Experience
from core.repair.strategy import strategy_named
from core.run.control import Control
from core.run.engine import Run
from core.run.events import AnyEvent, RunSettings
from core.run.progress import Progress
from core.run.stamp import Stamp
from tests.encoders import HashingEncoder
from tests.scripted import ScriptedModel

RIGHT = "SELECT name FROM boat WHERE crew > 3 ORDER BY name"
"""The gold of every question here; other SQL is wrong."""
WRONG = "SELECT crew FROM boat"
BROKEN = "SELECT nme FROM boat"


def harbour(folder: Path) -> Path:
    """A database `harbour` in `folder`, which is returned."""
    place = folder / "harbour"
    place.mkdir(parents=True, exist_ok=True)
    file = place / "harbour.sqlite"
    if file.exists():
        return folder
    with sqlite3.connect(file) as conn:
        conn.executescript(
            "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, crew INTEGER);"
            "CREATE TABLE trip (id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boat, fish REAL);"
            "INSERT INTO boat VALUES (1, 'Alba', 4), (2, 'Brisa', 2), (3, 'Coral', 7);"
            "INSERT INTO trip VALUES (1, 1, 10.5), (2, 3, NULL);"
        )
    conn.close()
    return folder


def questions(count: int) -> tuple[Question, ...]:
    """`count` different questions about the harbour."""
    return tuple(
        Question(id=f"q{n}", database="harbour", text=f"Which boats number {n} have a large crew?")
        for n in range(count)
    )


def wrapped(sql: str) -> str:
    """The SQL as the prompts ask for it."""
    return f"<answer>{sql}</answer>"


@asynccontextmanager
async def staged(
    folder: Path,
    model: ScriptedModel,
    asked: Sequence[Question],
    *,
    strategy: str = "merit",
    run: str = "r",
    progress: Progress | None = None,
    golds: dict[str, str] | None = None,
    predictions: Predictions | None = None,
    shares_repairs: bool = False,
    waits: bool = False,
    encoder: Encoder | None = None,
    **changes: Any,
) -> AsyncIterator[Run]:
    """A run over `asked` that is ready to go."""
    row = strategy_named(strategy)
    settings = RunSettings(
        dataset="harbour",
        strategy=strategy,
        strategy_fields=msgspec.to_builtins(row),
        **{"budget": 3, "layout": row.layout, **changes},
    )
    control = Control()
    async with Sandbox() as sandbox:
        databases = DatabaseFolder(harbour(folder))
        parts = RegimeParts(
            sandbox=sandbox,
            folder=databases,
            control=control,
            golds=golds or {question.id: RIGHT for question in asked},
            protocol="spider",
        )
        resumed = progress or Progress()
        experience = Experience(run, encoder or HashingEncoder(), holds=settings.holds)
        yield Run(
            Equipment(
                settings=settings,
                strategy=row,
                model=model,
                described=await model.describe(),
                sandbox=sandbox,
                folder=databases,
                regime=build_regime(settings.regime, parts),
                prompts=Prompts(Templates.load()),
                experience=experience,
                control=control,
                stamp=Stamp(run, resumed.next_seq, clock=lambda: 0.0),
                predictions=predictions or NoPredictions(),
                shares_repairs=shares_repairs,
                retries=RetryPolicy(waits=(0.0, 0.0)),
            ),
            asked,
            progress=resumed,
            waits_for_model=waits,
        )
        await experience.close()


async def all_of(run: Run) -> list[AnyEvent]:
    """Every event of the run."""
    return [event async for event in run.events()]


def of(kind: type[msgspec.Struct], events: list[AnyEvent]) -> list[AnyEvent]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


async def played(folder: Path, answers: list[str], count: int = 1, **changes: Any) -> list[AnyEvent]:
    """All events of a run whose model gives these answers, one after another."""
    model = ScriptedModel([wrapped(answer) for answer in answers])
    async with staged(folder, model, questions(count), **changes) as run:
        return await all_of(run)
