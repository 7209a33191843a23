"""Where a memory was learned and used: a list to jump from into the replay."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen

from tui.console.ink import BAD, GOOD, QUIET, column, ink
from tui.console.memory_library import Page
from tui.console.widgets.listing import Listing
from tui.view.legible import one_line


class Place(NamedTuple):
    """One episode."""

    run: str
    position: int
    what: str
    style: str
    question: str


def places_of(page: Page) -> list[Place]:
    """The episode that taught a memory, then those that it was used in, newest first."""
    return list(_places(page))


def _places(page: Page) -> Iterator[Place]:
    origin = page.entry.provenance
    yield Place(origin.run, origin.position, "learned", QUIET, page.entry.context.question)
    for use in page.uses:
        what, style = use_words(use.status, use.outcome)
        yield Place(use.run, use.position, what, style, use.question)


def use_words(status: str, outcome: str) -> tuple[str, str]:
    """What became of an attempt that a memory fed, and its colour."""
    if status == "CORRECT":
        return "helped", GOOD
    if not status:
        return "not judged", QUIET
    return ("failed, repaired later" if outcome == "repaired" else "failed"), BAD


class Places(Listing):
    """Episodes, one a line."""

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__(id="runs")
        self.places = places
        self.border_title = Content("Learned and used in")
        self.border_subtitle = Content("enter replays it, esc leaves")

    @property
    def row_count(self) -> int:
        """Episodes there are."""
        return len(self.places)

    def row_version(self, index: int) -> Hashable:
        """They do not change while they are chosen from."""
        return index

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """What happened, where, and which question it was."""
        place = self.places[index]
        start = ink(
            "▸ " if selected else "  ",
            column(place.what, 24, place.style),
            column(f"question {place.position + 1:,}", 16),
            column(one_line(place.run, 40), 24, QUIET),
        )
        room = max(1, width - start.cell_length)
        return ink(start, column(one_line(place.question, 300), room))


class ChoosePlace(ModalScreen[Place | None]):
    """The list of episodes; gives the chosen one, or None."""

    BINDINGS = [Binding("escape,q,ctrl+c", "leave", "leave", show=False)]

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__(classes="dialog")
        self._places = places

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield Places(self._places)

    def on_mount(self) -> None:
        """Give the list the keys."""
        listing = self.query_one(Places)
        listing.focus()
        listing.refresh_rows()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter gives the episode."""
        self.dismiss(self._places[event.index])

    def action_leave(self) -> None:
        """None of them."""
        self.dismiss(None)
