"""The console's screens as a table: another screen is another row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from textual.screen import Screen


@dataclass(frozen=True)
class Room:
    """A screen that has a tab of its own."""

    name: str
    title: str
    module: str
    screen: str

    def build(self) -> Screen[Any]:
        """A new screen; its module is imported only now."""
        made: Screen[Any] = getattr(import_module(self.module), self.screen)()
        return made


ROOMS: tuple[Room, ...] = (
    Room("run", "Run", "tui.console.screens.run", "RunScreen"),
    Room("memory", "Memory", "tui.console.screens.memory", "MemoryScreen"),
    Room("replay", "Replay", "tui.console.screens.replay", "ReplayScreen"),
    Room("experiments", "Experiments", "tui.console.screens.experiments", "ExperimentsScreen"),
    Room("ask", "Ask", "tui.console.screens.ask", "AskScreen"),
    Room("selection", "Selection", "tui.console.screens.selection", "SelectionScreen"),
)
"""In the order of their number keys."""


def title_of(room: str) -> str:
    """What a room is called; a screen that is no room has its own name."""
    return next((each.title for each in ROOMS if each.name == room), room)


def modes() -> dict[str, Callable[[], Screen[Any]]]:
    """The rooms as Textual's modes."""
    return {room.name: room.build for room in ROOMS}
