"""The command palette: every action of the screen by its name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.console.actions import Action, key_words
from tui.console.screens.base import RoomScreen


class ActionCommands(Provider):
    """The table of actions, searchable."""

    async def discover(self) -> Hits:
        """All of them, before a word is typed."""
        for words, about, does in self._commands():
            yield DiscoveryHit(Content(words), partial(self._run, does), text=words, help=about)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for words, about, does in self._commands():
            score = max(matcher.match(words), matcher.match(about) * 0.8)
            if score > 0:
                yield Hit(score, Content(words), partial(self._run, does), text=words, help=about)

    def _commands(self) -> Iterator[tuple[str, str, str]]:
        room = self.screen
        if not isinstance(room, RoomScreen):
            return
        keys = room.console_app.preferences.keys
        for action in (*keys.actions_of(room.ROOM), *keys.room_actions()):
            yield _words(action), action.about, action.does
        for theme in sorted(self.app.available_themes):
            yield f"theme {theme}", "Change the colours.", f"app.set_theme('{theme}')"

    async def _run(self, does: str) -> None:
        await self.screen.run_action(does)


def _words(action: Action) -> str:
    return f"{action.label} ({key_words(action)})"
