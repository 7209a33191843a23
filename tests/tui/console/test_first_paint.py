"""The first paint: nothing heavy behind it, and a terminal that comes back clean. How soon it is, is
measured in `tests/bench/test_console.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.tui.console.terminal import Terminal

HEAVY = (
    "torch",
    "sentence_transformers",
    "faiss",
    "scipy",
    "xllamacpp",
    "sqlglot",
    "pydantic",
    "numpy",
)

SCRIPT = """
import asyncio, gc, json, sys
from tui.console.app import MeritoApp

async def painted():
    app = MeritoApp()
    gc.disable()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert gc.isenabled(), "garbage is collected again from the first paint on"
    return [name for name in sys.argv[1:] if name in sys.modules]

print(json.dumps(asyncio.run(painted())))
"""


def test_nothing_heavy_is_loaded_for_the_first_paint() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *HEAVY], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []


OPENED = """
import json, sys
from pathlib import Path
import tui.console.live as live

def painting(app, **_):
    print(json.dumps([name for name in sys.argv[2:] if name in sys.modules]))

live.run_console = painting
live.open_console(Path(sys.argv[1]), None, read_only=False, theme=None)
"""
LATER = ("tui.order", "tui.replaying", "core.datasets", "core.database.sandbox", "core.repair.strategy")


def test_what_a_run_needs_is_not_loaded_by_a_console_without_one(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENED, str(tmp_path / "none.sqlite"), *LATER],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_the_real_program_opens_with_no_store_and_leaves_the_terminal_clean(tmp_path: Path) -> None:
    with Terminal(["console", "--store", str(tmp_path / "none.sqlite")]) as terminal:
        terminal.until(b"No run is open here.")
        terminal.write(b"q")
        assert terminal.wait() == 0
        assert terminal.clean


def test_told_to_end_from_outside_it_leaves_the_terminal_clean(tmp_path: Path) -> None:
    with Terminal(["console", "--store", str(tmp_path / "none.sqlite")]) as terminal:
        terminal.until(b"No run is open here.")
        os.kill(terminal.pid, signal.SIGTERM)
        assert terminal.wait() == 0
        assert terminal.clean


def test_a_failure_inside_shows_one_line_and_no_traceback(tmp_path: Path) -> None:
    script = (
        "import tui.console.app as app, tui.main, sys\n"
        "def broken(self): raise RuntimeError('on purpose')\n"
        "app.MeritoApp.action_help = broken\n"
        "tui.main.main(sys.argv[1:])\n"
    )
    store = str(tmp_path / "none.sqlite")
    environment = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with Terminal(["console", "--store", store], script=script, environment=environment) as terminal:
        terminal.until(b"No run is open here.")
        terminal.write(b"?")
        assert terminal.wait() == 1
        assert terminal.clean
        after = terminal.seen.rsplit(b"\x1b[?1049l", 1)[1]
        assert b"The console broke down" in after
        assert b"Traceback" not in after
    logs = "".join(path.read_text() for path in tmp_path.rglob("merito.log"))
    assert "on purpose" in logs


def test_native_noise_on_descriptor_2_goes_to_the_log_and_not_to_the_screen(tmp_path: Path) -> None:
    script = (
        "import os, sys, tui.main, tui.console.app as app\n"
        "app.MeritoApp.action_help = lambda self: os.write(2, b'native noise')\n"
        "tui.main.main(sys.argv[1:])\n"
    )
    store = str(tmp_path / "none.sqlite")
    environment = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with Terminal(["console", "--store", store], script=script, environment=environment) as terminal:
        terminal.until(b"No run is open here.")
        terminal.write(b"?")
        terminal.write(b"q")
        assert terminal.wait() == 0
        assert b"native noise" not in terminal.seen
    logs = b"".join(path.read_bytes() for path in tmp_path.rglob("merito.log"))
    assert b"native noise" in logs
