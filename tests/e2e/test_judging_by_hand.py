"""A person judges on a plain terminal: the real program under a pseudo-terminal, asked and answered one
line at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.models.chat import Message, Sampling
from core.run.events import AttemptJudged, EpisodeEnded, EpisodeOutcome
from stores.store import Store
from tests.core.models.server import FakeServer
from tests.core.run.stage import RIGHT, WRONG, harbour, wrapped
from tests.scripted import ScriptedModel
from tests.tui.console.terminal import Terminal

pytestmark = pytest.mark.slow

PATIENCE = 60.0
"""Seconds in which a busy machine gets to start the program, or to end it."""
CHOICES = b"[r] right, [w] wrong, [e] correct it, [x] skip: "
REMARK = "names, [/x] {please} \u202e\u4e2d"


def answer(messages: Sequence[Message], _sampling: Sampling) -> str:
    """WRONG, until the prompt holds the remark."""
    told = "".join(message.content for message in messages)
    return wrapped(RIGHT if "{please}" in told else WRONG)


class Person:
    """Sits at the terminal: waits for what is asked, then types."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.read = b""
        """Everything that was shown so far."""

    async def types(self, asked: bytes, line: bytes) -> bytes:
        """Answer what is asked; gives what was shown since the answer before."""
        await asyncio.to_thread(self._terminal.until, asked, PATIENCE)
        shown, self._terminal.seen = self._terminal.seen, b""
        self.read += shown
        self._terminal.write(line)
        return shown

    async def leaves(self) -> int:
        """Wait for the end; the exit code. The terminal is as it was, and nothing reached it raw."""
        code = await asyncio.to_thread(self._terminal.wait, PATIENCE)
        self.read += self._terminal.seen
        assert self._terminal.cooked
        assert b"Traceback" not in self.read
        assert b"\x1b" not in self.read
        return code


@asynccontextmanager
async def sitting(folder: Path, *words: str) -> AsyncIterator[Person]:
    """Somebody at a terminal in which `merito` runs with these words, and a scripted model."""
    harbour(folder)
    environment = {
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder),
        "MERITO_STORE": str(folder / "m.sqlite"),
        "MERITO_STRATEGY": "merit-no-dense",
        "LANG": "C.UTF-8",
    }
    async with FakeServer(ScriptedModel(answer)).running() as server:
        environment["MERITO_MODEL"] = f"openai:{server.address}/v1#scripted"
        with Terminal([*words, "--plain", "--as", "ana"], environment=environment) as terminal:
            yield Person(terminal)


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """Four questions about the harbour, without gold: a person judges."""
    file = tmp_path / "questions.jsonl"
    lines = [
        {"id": f"q{n}", "database": "harbour", "question": f"Which boats are large ({n})?"}
        for n in range(4)
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


async def test_right_wrong_a_correction_and_the_end_of_input_reach_their_questions(
    stream: Path, tmp_path: Path
) -> None:
    words = ("run", str(stream), "--root", str(tmp_path), "--regime", "operator")
    async with sitting(tmp_path, *words) as ana:
        shown = await ana.types(b"Question 1: does it answer the question? " + CHOICES, b"r\n")
        assert b"SELECT crew FROM boat" in shown, "what is asked about stands above"
        await ana.types(b"Question 2: does it answer the question? " + CHOICES, b"perhaps\n")
        await ana.types(b"Question 2: does it answer the question? " + CHOICES, b"n\n")
        await ana.types(b"What is wrong with it? ", f"{REMARK}\n".encode())
        shown = await ana.types(b"Question 2: does it answer the question? " + CHOICES, b"right\n")
        assert b"SELECT name FROM boat WHERE crew > 3" in shown
        await ana.types(b"Question 3: " + b"does it answer the question? " + CHOICES, b"e\n")
        await ana.types(b"an empty line ends it:\r\n  > ", b"SELECT nme FROM boat;\n")
        assert b"no such column: nme" in await ana.types(CHOICES, b"e\n")
        await ana.types(b"  > ", b"select crew\nfrom boat\n\n")
        assert b"as it stands" in await ana.types(CHOICES, b"e\n")
        await ana.types(b"  > ", b"DELETE FROM boat;\n")
        assert b"not authorized" in await ana.types(CHOICES, b"e\n")
        await ana.types(b"  > ", b"SELECT boat.crew FROM boat;\n")
        shown = await ana.types(b"[w] wrong all the same, learn from mine, [n] edit on: ", b"n\n")
        assert b"Both give the same rows. The answer is [y] right as it is" in b" ".join(shown.split())
        await ana.types(CHOICES, b"e\n")
        await ana.types(b"  > ", b"SELECT name\nFROM boat\nWHERE crew > 3\n\n")
        shown = await ana.types(b"Is that the right answer? [y] yes, [n] no: ", b"n\n")
        assert b"rows: 2" in shown
        await ana.types(CHOICES, b"e\n")
        await ana.types(b"  > ", b"SELECT name FROM boat WHERE crew > 3;\n")
        await ana.types(b"Is that the right answer? [y] yes, [n] no: ", b"y\n")
        await ana.types(b"Question 4: does it answer the question? " + CHOICES, b"\x04")
        assert await ana.leaves() == 0
    with Store.open(tmp_path / "m.sqlite", mode="read") as store:
        events = list(store.events(store.runs()[0].id))
    judged = [event for event in events if isinstance(event, AttemptJudged)]
    assert {event.judge for event in judged if event.judge} == {"ana"}
    assert [event.remark for event in judged if event.remark] == [REMARK]
    assert [event.outcome for event in events if isinstance(event, EpisodeEnded)] == [
        EpisodeOutcome.RIGHT_AT_ONCE,
        EpisodeOutcome.REPAIRED,
        EpisodeOutcome.CORRECTED,
        EpisodeOutcome.SKIPPED,
    ]


async def test_a_question_of_ones_own_is_judged_where_it_was_asked(tmp_path: Path) -> None:
    database = str(tmp_path / "harbour" / "harbour.sqlite")
    async with sitting(tmp_path, "ask", database, "Which boats are large?") as ana:
        await ana.types(b"  does it answer the question? " + CHOICES, b"w\n")
        await ana.types(b"What is wrong with it? ", f"{REMARK}\n".encode())
        await ana.types(CHOICES, b"y\n")
        assert await ana.leaves() == 0
    assert b"Alba" in ana.read


async def test_ctrl_c_at_the_question_keeps_what_was_judged(stream: Path, tmp_path: Path) -> None:
    words = ("run", str(stream), "--root", str(tmp_path), "--regime", "operator")
    async with sitting(tmp_path, *words) as ana:
        await ana.types(b"Question 1: does it answer the question? " + CHOICES, b"r\n")
        await ana.types(b"Question 2: does it answer the question? " + CHOICES, b"\x03")
        assert await ana.leaves() == 130
    assert b"merito run --resume" in ana.read
    with Store.open(tmp_path / "m.sqlite", mode="read") as store:
        events = list(store.events(store.runs()[0].id))
    assert sum(isinstance(event, EpisodeEnded) for event in events) == 1
