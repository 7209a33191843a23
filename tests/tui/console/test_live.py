"""The console over a run that begins with it: the real program's way in and out, in a terminal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from stores.store import Store
from tests.tui.console.terminal import Terminal

SCRIPT = """
import asyncio, sys, time
from contextlib import asynccontextmanager
from pathlib import Path
from core.errors import MeritoError
from core.run.control import Control
from stores.recorder import Recorder
from stores.store import Store
from tests.streams import run_events
from tui.console import live
import tui.main

path, mode = Path(sys.argv[1]), sys.argv[2]

class Run:
    run = "run-1"
    def __init__(self, store):
        self.store, self.control, self.workbench, self.engines = store, Control(), None, None
    async def made(self):
        for event in run_events(8):
            if mode == "slow" and event.seq > 20:
                await self.control.checkpoint()
                await asyncio.sleep(60)
            if mode == "stuck" and event.seq > 20:
                await asyncio.to_thread(time.sleep, 60)
            if mode == "breaks" and event.seq > 20:
                raise MeritoError("The engine is gone.", "Start it again.")
            yield event
    def events(self):
        return Recorder(self.store).record(self.made())

@asynccontextmanager
async def opening():
    if mode == "cannot":
        raise MeritoError("There is no model.", "Get one: merito models pull.")
    with Store.open(path, create=True) as store:
        try:
            yield Run(store)
        finally:
            if mode == "stuck":
                await asyncio.sleep(60)

import tui.commands.console
tui.commands.console.command.callback = lambda **_: live.run_live(opening)
tui.main.main(["console"])
"""


def opened(tmp_path: Path, mode: str) -> Terminal:
    return Terminal([str(tmp_path / "store.sqlite"), mode], script=SCRIPT)


def main_screen(terminal: Terminal) -> str:
    """What stands on the terminal after the console has left."""
    return terminal.seen.rsplit(b"\x1b[?1049l", 1)[1].decode()


def test_a_finished_run_leaves_its_summary_behind(tmp_path: Path) -> None:
    with opened(tmp_path, "whole") as terminal:
        terminal.until(b"8/8")
        terminal.until(b"finished")
        terminal.write(b"q")
        assert terminal.wait() == 0
        assert terminal.clean
        text = main_screen(terminal)
        assert "right now:" in text
        assert "83.3 % (5 of 6)" in text
        assert "merito console run-1" in text


def test_leaving_during_a_run_keeps_what_is_finished_and_says_how_to_go_on(tmp_path: Path) -> None:
    with opened(tmp_path, "slow") as terminal:
        terminal.until(b"running")
        terminal.write(b"q")
        terminal.until(b"Stop the run and leave?")
        terminal.quiet(0.8)
        terminal.write(b"y")
        assert terminal.wait(6) == 130
        assert terminal.clean
        assert "merito run --resume run-1" in main_screen(terminal)
    with Store.open(tmp_path / "store.sqlite", mode="read") as store:
        assert store.run("run-1").ended > 0


def test_nothing_that_is_stuck_keeps_anybody_from_leaving(tmp_path: Path) -> None:
    """A thread that computes for a minute, an engine that takes a minute to close."""
    with opened(tmp_path, "stuck") as terminal:
        terminal.until(b"running")
        terminal.write(b"q")
        terminal.until(b"Stop the run and leave?")
        terminal.quiet(0.8)
        terminal.write(b"y")
        assert terminal.wait(20) == 130
        assert terminal.clean
        assert "merito run --resume run-1" in main_screen(terminal)
    with Store.open(tmp_path / "store.sqlite") as store:
        assert store.run("run-1").ended > 0


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_during_a_run_leaves_the_terminal_clean(tmp_path: Path, told: signal.Signals) -> None:
    with opened(tmp_path, "slow") as terminal:
        terminal.until(b"running")
        os.kill(terminal.pid, told)
        assert terminal.wait(20) == 130
        assert terminal.clean
        assert "merito run --resume run-1" in main_screen(terminal)


def test_a_run_that_cannot_begin_says_why_in_one_line(tmp_path: Path) -> None:
    with opened(tmp_path, "cannot") as terminal:
        assert terminal.wait() == 1
        assert terminal.clean
        text = main_screen(terminal)
        assert "There is no model. Get one: merito models pull." in text
        assert "Traceback" not in text


def test_a_run_that_breaks_off_stays_on_show_and_fails_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path, "breaks") as terminal:
        terminal.until(b"The engine is gone.")
        terminal.write(b"q")
        assert terminal.wait() == 1
        assert "The engine is gone. Start it again." in main_screen(terminal)
