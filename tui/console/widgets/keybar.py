"""The last line: what the keys do here, the most useful first, as many as fit."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from tui.console.actions import Action, first_key
from tui.console.ink import ACCENT, QUIET, ink
from tui.console.keys import Keys


class KeyBar(Widget):
    """Keys and their words; each can be clicked."""

    def __init__(self, room: str, keys: Keys) -> None:
        super().__init__(id="keys")
        self._room, self._keys_in_force = room, keys
        self._offered: tuple[str, ...] = ()
        self.auto_links = False

    def refresh_keys(self) -> None:
        """Repaint where other actions are on offer than before."""
        if self._names() != self._offered:
            self.refresh()

    def render(self) -> Content:
        """The line."""
        self._offered = self._names()
        line, last = Content(" "), None
        closing = [self._key(action) for action in self._actions() if action.name in _ALWAYS]
        room = self.size.width - sum(part.cell_length + 2 for part in closing)
        for action in self._actions():
            if action.name in _ALWAYS:
                continue
            last = self._key(action)
            if line.cell_length + last.cell_length + 2 > room:
                break
            line = ink(line, last, "  ")
        for part in closing:
            line = ink(line, part, "  ")
        return line

    def _names(self) -> tuple[str, ...]:
        return tuple(action.name for action in self._actions())

    def _actions(self) -> list[Action]:
        screen = self.screen
        offered = getattr(screen, "offers", lambda _action: True)
        actions = self._keys_in_force.actions_of(self._room)
        found = [action for action in actions if action.bar and offered(action)]
        return sorted(found, key=getattr(screen, "rank", lambda action: action.bar))

    def _key(self, action: Action) -> Content:
        does = action.does if action.does.startswith("app.") else f"screen.{action.does}"
        click = Style.from_meta({"@click": does})
        return ink((first_key(action), f"{ACCENT} bold"), (f" {action.label}", QUIET)).stylize(click)


_ALWAYS = ("all.help", "all.quit")
