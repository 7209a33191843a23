"""What the console keeps between two starts: the theme, and each screen's choices."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

Choice = str | int | bool
"""One choice on a screen: a width, a filter, whether it follows."""


class State(msgspec.Struct, kw_only=True):
    """The file's content."""

    theme: str = ""
    rooms: dict[str, dict[str, Choice]] = {}


class Kept:
    """The state file; with no path, nothing is read and nothing is written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.state = State()
        self.problem = ""
        """Why the file was left aside, in words."""
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            self.state = msgspec.json.decode(path.read_bytes(), type=State)
        except FileNotFoundError:
            pass
        except OSError as wrong:
            self.problem = f"What was kept from last time cannot be read ({path}: {wrong.strerror})."
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.problem = f"What was kept from last time makes no sense and is left aside ({path})."

    def choices(self, room: str) -> dict[str, Choice]:
        """The choices of a room's screen."""
        return self.state.rooms.get(room, {})

    def keep(self, room: str, choices: dict[str, Choice]) -> None:
        """Remember the choices of a room's screen."""
        self.state.rooms[room] = choices

    def write(self) -> str:
        """Write the file, whole or not at all. Returns why it could not be written."""
        if self.path is None:
            return ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".console-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(msgspec.json.format(msgspec.json.encode(self.state), indent=2))
                Path(name).replace(self.path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as wrong:
            return f"{self.path}: {wrong.strerror}"
        return ""
