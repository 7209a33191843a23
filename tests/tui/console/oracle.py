"""A person as the oracle: consoles over real runs on a scripted model, real databases and sandboxes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.database.files import DatabaseFolder
from core.models.chat import Message, Sampling
from core.models.choosing import Choice
from tests.core.run.stage import RIGHT, WRONG, harbour, questions, staged, wrapped
from tests.encoders import HashingEncoder
from tests.scripted import ScriptedModel
from tui.console.app import MeritoApp
from tui.console.asker import Asker
from tui.console.session import Opened
from tui.engines import Engines
from tui.order import Order
from tui.workbench import Workbench


def learner() -> ScriptedModel:
    """WRONG at first; RIGHT where the prompt says what was wrong, or remembers it."""

    def answer(messages: Sequence[Message], _sampling: Sampling) -> str:
        told = "".join(message.content for message in messages)
        return wrapped(RIGHT if WRONG in told or "crew > 3" in told or "remark" in told else WRONG)

    return ScriptedModel(answer)


def judged_console(folder: Path, count: int, **options: Any) -> MeritoApp:
    """A console over a run of `count` questions that asks a person about each answer."""

    @asynccontextmanager
    async def open_run() -> AsyncGenerator[Opened, None]:
        workbench = Workbench(DatabaseFolder(harbour(folder)))
        async with staged(folder, learner(), questions(count), regime="operator") as run:
            yield Opened(run.events(), run.equipment.control, None, None, workbench)
        await workbench.close()

    return MeritoApp(open_run=open_run, who="ana", **options)


def asking_console(folder: Path, **options: Any) -> MeritoApp:
    """A console in which questions can be put to the harbour."""
    asker = Asker(
        lambda: Order(stream="", store=folder / "merito.sqlite", strategy="merit"),
        folders=[(harbour(folder), "sample")],
        engines=lambda: Engines(Choice(model=learner(), why=()), HashingEncoder()),  # type: ignore[arg-type]
    )
    options = {"room": "ask", **options}
    return MeritoApp(asker=asker, who="ana", **options)
