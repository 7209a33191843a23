"""Choosing one of the stored runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen

from tui.console.archive import StoredRun
from tui.console.ink import QUIET, column, ink
from tui.console.widgets.entry import when
from tui.console.widgets.listing import Listing
from tui.console.widgets.studies import state_words
from tui.view.legible import one_line

NO_MODEL_NEEDED = "Look at one with no model at all:\n  merito demo --recorded"
"""What helps also where there is no model yet."""
NO_RUN = f"No run is stored yet. Make one:\n  merito demo\n\n{NO_MODEL_NEEDED}"
"""What to do where there is none."""


class Runs(Listing):
    """Stored runs, newest first."""

    def __init__(self, runs: Sequence[StoredRun], going: Set[str]) -> None:
        super().__init__(id="runs")
        self.runs, self._going = runs, going
        self.border_title = Content("Stored runs")
        self.border_subtitle = Content("enter opens, esc leaves")

    @property
    def row_count(self) -> int:
        """Runs there are."""
        return len(self.runs)

    def row_version(self, index: int) -> Hashable:
        """Runs do not change while they are chosen from."""
        return self.runs[index].id

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """When, how far, why it ended, what it was."""
        run = self.runs[index]
        words, style = state_words(run, self._going)
        start = ink(
            "▸ " if selected else "  ",
            (f"{when(run.began)}  ", QUIET),
            column(f"{run.finished:,}/{run.questions:,}", 12, right=True),
            "  ",
            column(one_line(words, 40), 12, style),
        )
        return ink(start, column(one_line(run.about, 300), max(1, width - start.cell_length)))

    def empty_words(self) -> str:
        """What to do where there is none."""
        return NO_RUN


class ChooseRun(ModalScreen[str | None]):
    """The list of runs, some of them going on; gives the chosen id, or None."""

    BINDINGS = [Binding("escape,q,ctrl+c", "leave", "leave", show=False)]

    def __init__(self, runs: Sequence[StoredRun], going: Set[str] = frozenset()) -> None:
        super().__init__(classes="dialog")
        self._runs, self._going = runs, going

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield Runs(self._runs, self._going)

    def on_mount(self) -> None:
        """Give the list the keys."""
        listing = self.query_one(Runs)
        listing.focus()
        listing.refresh_rows()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter opens the run."""
        self.dismiss(self._runs[event.index].id)

    def action_leave(self) -> None:
        """No other run."""
        self.dismiss(None)
