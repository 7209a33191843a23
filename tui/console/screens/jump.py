"""Jump mode: a letter over every pane and every row in view; one key goes there."""

from __future__ import annotations

import string
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

ROW_LETTERS = string.ascii_lowercase + string.digits
PANE_LETTERS = string.ascii_uppercase


@runtime_checkable
class Jumpable(Protocol):
    """A pane with rows that can be gone to."""

    def jump_rows(self) -> list[tuple[int, Hashable]]:
        """The rows in view: line of the pane's content, and what names the row."""
        ...

    def jump_to(self, row: Hashable) -> None:
        """Go to one of them."""
        ...


class Spot(NamedTuple):
    """Somewhere to go."""

    letter: str
    x: int
    y: int
    pane: str
    row: Hashable = None


def spots(panes: Sequence[tuple[str, Widget]], front: str) -> list[Spot]:
    """A spot for each pane, and as many rows as there are letters for, those of the pane in front
    first."""
    shown = [(name, pane) for name, pane in panes if pane.display and pane.region]
    found = [
        Spot(letter, pane.region.x + 1, pane.region.y, name)
        for letter, (name, pane) in zip(PANE_LETTERS, shown, strict=False)
    ]
    letters = iter(ROW_LETTERS + PANE_LETTERS[len(found) :])
    for name, pane in sorted(shown, key=lambda each: each[0] != front):
        if isinstance(pane, Jumpable):
            found += list(_rows(name, pane, letters))
    return found


def _rows(name: str, pane: Widget, letters: Iterator[str]) -> Iterator[Spot]:
    assert isinstance(pane, Jumpable)
    corner = pane.content_region
    for line, row in pane.jump_rows():
        letter = next(letters, None)
        if letter is None:
            return
        yield Spot(letter, corner.x, corner.y + line, name, row)


class Letter(Widget):
    """One label."""

    def __init__(self, spot: Spot) -> None:
        super().__init__()
        self._letter = spot.letter
        self.styles.offset = (spot.x, spot.y)

    def render(self) -> Content:
        """The letter alone."""
        return Content(self._letter)


class Jump(ModalScreen[Spot | None]):
    """Waits for one key; gives the spot, or None for any key that names none."""

    def __init__(self, found: Sequence[Spot]) -> None:
        super().__init__(classes="jump")
        self._found = {spot.letter: spot for spot in found}
        self._laid_out: Size | None = None

    def compose(self) -> ComposeResult:
        """The letters above the screen."""
        for spot in self._found.values():
            yield Letter(spot)

    def on_key(self, event: events.Key) -> None:
        """The one key."""
        event.stop()
        event.prevent_default()
        self.dismiss(self._found.get(event.character or ""))

    def on_click(self) -> None:
        """A click means that nobody jumps."""
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """In another size the letters would stand in wrong places."""
        if self._laid_out is not None and event.size != self._laid_out:
            self.dismiss(None)
        self._laid_out = event.size
