"""A real terminal for the real program: a pseudo-terminal whose every byte is kept."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

MAIN = "import sys, tui.main; tui.main.main(sys.argv[1:])"


def _takes_over() -> None:
    """The new session's terminal is the one it reads from: Ctrl-C in it is a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """`merito` with these arguments under a pseudo-terminal."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        size: tuple[int, int] = (120, 40),
        script: str = MAIN,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.seen = b""
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={
                **os.environ,
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                **(environment or {}),
            },
            start_new_session=True,
            preexec_fn=_takes_over,
        )

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def clean(self) -> bool:
        """Whether the terminal was given back as it was: main screen, cursor, no mouse, cooked."""
        last = {
            name: self.seen.rfind(on) < self.seen.rfind(off)
            for name, on, off in (
                ("alternate screen", b"\x1b[?1049h", b"\x1b[?1049l"),
                ("cursor", b"\x1b[?25l", b"\x1b[?25h"),
                ("mouse", b"\x1b[?1000h", b"\x1b[?1000l"),
                ("paste", b"\x1b[?2004h", b"\x1b[?2004l"),
            )
        }
        return all(last.values()) and self.cooked

    @property
    def cooked(self) -> bool:
        """Whether echo, lines and signals are as they were."""
        return termios.tcgetattr(self._theirs)[3] == self._before[3]

    def until(self, words: bytes, seconds: float = 30.0) -> float:
        """Read until these bytes were written; returns the seconds since the start."""
        end = time.perf_counter() + seconds
        while words not in self.seen:
            if not self._read(end - time.perf_counter()):
                raise AssertionError(f"{words!r} never came; the last was {self.seen[-2000:]!r}")
        return time.perf_counter() - self.began

    def quiet(self, seconds: float) -> None:
        """Only listen for a while."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self._read(left)

    def write(self, keys: bytes) -> None:
        """Type."""
        os.write(self._mine, keys)

    def wait(self, seconds: float = 15.0) -> int:
        """Read until the program ends; its exit code."""
        end = time.perf_counter() + seconds
        while self._process.poll() is None:
            assert time.perf_counter() < end, "the program did not end"
            self._read(0.05)
        while self._read(0.05):
            pass
        return self._process.returncode

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._mine], [], [], max(0.0, seconds))
        if not ready:
            return False
        self.seen += os.read(self._mine, 65_536)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._mine)
        os.close(self._theirs)
