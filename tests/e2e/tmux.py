"""A shell in a tmux of its own: what a person at a terminal types, sees, and is left with."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

PROMPT = "at-the-prompt>"
PROJECT = Path(__file__).resolve().parents[2]
GONE = "it-ended-with"


class Shell:
    """One window with a shell that has run nothing yet."""

    def __init__(self, socket: str, folder: Path) -> None:
        self._tmux = ("tmux", "-L", socket, "-f", os.devnull)
        self._folder = folder
        self._before = ""

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, folder: Path, environment: Mapping[str, str], size: tuple[int, int] = (120, 40)
    ) -> AsyncIterator[Shell]:
        """A tmux server of its own, whose shell sees this environment and nothing else."""
        shell = cls(f"merito-{secrets.token_hex(4)}", folder)
        words = [f"{name}={value}" for name, value in environment.items()]
        command = shlex.join(["env", "-i", *words, f"PS1={PROMPT} ", "sh", "-i"])
        width, height = (str(number) for number in size)
        await shell._do("new-session", "-d", "-x", width, "-y", height, "-c", str(folder), command)
        try:
            await shell.until(PROMPT)
            shell._before = await shell._line_settings()
            yield shell
        finally:
            shell.kill_program()
            await shell._do("kill-server")

    async def start(self, *words: str) -> None:
        """Type a command line that starts `merito`, whatever it is called here."""
        await self.type(f"clear; {shlex.join(words)}; echo {GONE} $?")

    async def type(self, line: str) -> None:
        """Type a line and enter."""
        await self._do("send-keys", "-l", line)
        await self.press("Enter")

    async def press(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        await self._do("send-keys", *keys)

    async def screen(self) -> str:
        """What the terminal shows."""
        return await self._do("capture-pane", "-p")

    async def until(self, words: str | re.Pattern[str], seconds: float = 60.0) -> str:
        """Look until these words are shown; the screen with them."""
        wanted = re.compile(re.escape(words)) if isinstance(words, str) else words
        shown = ""
        try:
            async with asyncio.timeout(seconds):
                while not wanted.search(shown):
                    await asyncio.sleep(0.05)
                    shown = await self.screen()
        except TimeoutError:
            raise AssertionError(f"{wanted.pattern!r} never came:\n{shown}") from None
        return shown

    async def left(self, seconds: float = 15.0) -> tuple[int, str]:
        """Wait until the program has ended and the shell asks for the next line: the program's exit
        code, and the screen. Fails unless the terminal is as clean as it was before."""
        shown = await self.until(re.compile(rf"{GONE} \d+\s+{PROMPT}"), seconds)
        flags = await self._do(
            "display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag}"
        )
        assert flags.split() == ["0", "1", "0", "0"], "main screen, cursor, no mouse, plain keys"
        assert await self._line_settings() == self._before, "echo, lines and signals as they were"
        assert "Traceback" not in await self._do("capture-pane", "-p", "-S", "-"), "also scrolled away"
        ended = re.search(rf"{GONE} (\d+)", shown)
        assert ended is not None
        return int(ended[1]), shown

    def processes(self, words: str = "") -> list[psutil.Process]:
        """The program's processes whose command line holds these words."""
        pid = subprocess.run(
            [*self._tmux, "display-message", "-p", "#{pane_pid}"], capture_output=True, text=True
        ).stdout.strip()
        found = []
        for process in psutil.Process(int(pid)).children(recursive=True) if pid else ():
            with suppress(psutil.NoSuchProcess):
                if words in " ".join(process.cmdline()):
                    found.append(process)
        return found

    def kill_program(self) -> None:
        """End what a failed test left running."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()

    async def _line_settings(self) -> str:
        """What stty tells of the shell's terminal, told into a file: the screen stays as it is."""
        file = self._folder / f"stty-{secrets.token_hex(4)}"
        await self.type(f"stty -a >{file.name}.part && mv {file.name}.part {file.name}")
        async with asyncio.timeout(10):
            while True:
                with suppress(FileNotFoundError):
                    return file.read_text(encoding="utf-8")
                await asyncio.sleep(0.02)

    async def _do(self, *words: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *self._tmux,
            *words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, _ = await process.communicate()
        return out.decode("utf-8", "replace")


def merito(*words: str) -> list[str]:
    """The command line of the real program."""
    return [sys.executable, "-m", "tui.main", *words]
