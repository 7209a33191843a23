"""The search field at the foot of a room: the list answers while the words are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import events
from textual.widget import Widget
from textual.widgets import Input

if TYPE_CHECKING:
    from tui.console.screens.base import RoomScreen


def no_match(listing: Widget, what: str) -> str:
    """What to do where a search hides every row of a room's list."""
    search = cast("RoomScreen", listing.screen).key("all.search")
    return f"No {what} matches the search. Press {search} and then esc to see all of them."


class SearchField(Input):
    """Enter keeps the filter, esc removes it."""

    def __init__(self) -> None:
        super().__init__(id="search", placeholder="search: words, all of which must occur")

    @property
    def room(self) -> RoomScreen:
        """The room it searches."""
        return cast("RoomScreen", self.screen)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter at once."""
        self.room.search_for(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Back to the list, filtered."""
        event.stop()
        self.room.close_search(keep=True)

    async def on_key(self, event: events.Key) -> None:
        """Esc and ctrl+c leave; a pane below takes over with the arrow keys."""
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            self.value = ""
            self.room.close_search(keep=False)
        elif event.key in ("down", "tab"):
            event.stop()
            event.prevent_default()
            self.room.close_search(keep=True)
