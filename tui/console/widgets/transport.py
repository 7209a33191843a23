"""The line under a replay: playing or held, speed, place."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tui.console.ink import ACCENT, QUIET, TITLE, bar, ink
from tui.view.legible import one_line
from tui.view.playback import Playback
from tui.view.summary import duration


class Transport(Widget):
    """Shows where a playback stands; a click on the bar goes there."""

    class Sought(Message):
        """A place on the bar was clicked, from 0 to 1."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self) -> None:
        super().__init__(id="transport")
        self._playback: Playback | None = None
        self._drawn: object = None
        self._bar = (0, 1)
        """Where the bar stands: first cell and number of cells."""

    def show(self, playback: Playback | None) -> None:
        """Repaint where the playback moved."""
        self._playback = playback
        now = playback and (playback.at, playback.playing, playback.speed, id(playback.events))
        if now != self._drawn:
            self._drawn = now
            self.refresh()

    def render(self) -> Content:
        """State, speed, bar, time, event."""
        playback = self._playback
        if playback is None:
            return ink((" no run chosen", QUIET))
        state = "> playing" if playback.playing else ("= end" if playback.ended else "|| held")
        left, right = self._sides(playback, state)
        room = max(4, self.size.width - left.cell_length - right.cell_length)
        self._bar = (left.cell_length, room)
        share = playback.at / len(playback.events) if playback.events else 0.0
        return ink(left, (bar(share, room), ACCENT), right)

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked place."""
        start, cells = self._bar
        if self._playback is not None and start <= event.x < start + cells:
            self.post_message(self.Sought((event.x - start) / cells))

    def _sides(self, playback: Playback, state: str) -> tuple[Content, Content]:
        run = one_line(playback.view.figures.run, 40)
        left = ink(
            (f" {state} {playback.speed}x ", TITLE), (f"{run} " if self.size.width > 100 else "", QUIET)
        )
        place = f" {duration(playback.seconds)} of {duration(playback.length)}"
        return left, ink((place, QUIET), (f"  {playback.at:,}/{len(playback.events):,} ", QUIET))
