"""The lines under a replay: playing or held, speed, place; and the bar with its marks."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tui.bookmarks import Bookmark
from tui.console.ink import ACCENT, BAD, GOOD, QUIET, TITLE, WARN, Part, ink
from tui.view.chart import Mark
from tui.view.legible import one_line
from tui.view.playback import Playback
from tui.view.summary import duration

PAGE_SHARE = 0.1
"""Share of the run that a page key moves by."""

HEAD = "\N{BLACK CIRCLE}"
BOOKMARK = "\N{BLACK DIAMOND}"
SIGNS: dict[Mark, tuple[str, str]] = {
    Mark.JUDGEMENT: ("?", f"{WARN} bold"),
    Mark.REPAIR: ("+", f"{GOOD} bold"),
    Mark.FAILURE: ("\N{MULTIPLICATION SIGN}", BAD),
    Mark.QUESTION: ("|", QUIET),
}
"""Signs on the bar; where several share a cell, the first of these is drawn."""
_CROWDED = 4
"""Cells a question needs, or its sign would hide the bar."""


class Transport(Widget, can_focus=True):
    """Shows where a playback stands; the bar is a way to go elsewhere, by mouse and by key."""

    BINDINGS = [
        Binding("home", "share(0)", "beginning", show=False),
        Binding("end", "share(1)", "end", show=False),
        Binding("pageup", "page(-1)", "back by a tenth", show=False),
        Binding("pagedown", "page(1)", "on by a tenth", show=False),
    ]

    class Sought(Message):
        """A place on the bar was asked for, from 0 to 1."""

        def __init__(self, share: float) -> None:
            super().__init__()
            self.share = share

    def __init__(self) -> None:
        super().__init__(id="transport")
        self._playback: Playback | None = None
        self._bookmarks: Sequence[Bookmark] = ()
        self._drawn: object = None
        self._marked: object = None
        self._signs: dict[int, tuple[str, str]] = {}

    def show(self, playback: Playback | None, bookmarks: Sequence[Bookmark] = ()) -> None:
        """Repaint where something moved."""
        self._playback, self._bookmarks = playback, bookmarks
        now = playback and (
            playback.at,
            playback.playing,
            playback.speed,
            playback.chart.surveyed,
            id(playback),
            tuple(bookmarks),
        )
        if now != self._drawn:
            self._drawn = now
            self.refresh()

    def render(self) -> Content:
        """The words above, the bar below."""
        playback, width = self._playback, self.size.width
        if playback is None:
            return ink((" no run chosen", QUIET))
        return ink(self._words(playback, width), "\n", *self._bar(playback, max(1, width)))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the place under the pointer, and along with it until it is let go."""
        if event.y == self.size.height - 1:
            self.capture_mouse()
            self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Go along."""
        if self.app.mouse_captured is self:
            self._seek(event.x)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        """Stay there."""
        self.release_mouse()

    def action_share(self, share: float) -> None:
        """Go to the beginning (0) or the end (1)."""
        self.post_message(self.Sought(share))

    def action_page(self, step: int) -> None:
        """Go on, or back, by a tenth of the run."""
        playback = self._playback
        if playback is not None and len(playback):
            share = playback.at / len(playback) + step * PAGE_SHARE
            self.post_message(self.Sought(max(0.0, min(1.0, share))))

    def _seek(self, x: int) -> None:
        if self._playback is not None:
            self.post_message(self.Sought(max(0.0, min(1.0, x / max(1, self.size.width - 1)))))

    def _bar(self, playback: Playback, width: int) -> list[Part]:
        """What was played, what lies ahead, where the replay stands, and the marks."""
        marked = (id(playback), playback.chart.surveyed, width)
        if marked != self._marked:
            self._marked, self._signs = marked, signs_of(playback, width)
        head = cell_of(playback.at, len(playback), width)
        cells = [("━", ACCENT)] * head + [("╌", QUIET)] * (width - head)
        for cell, sign in self._signs.items():
            cells[cell] = sign
        for bookmark in self._bookmarks:
            cells[cell_of(bookmark.place, len(playback), width)] = (BOOKMARK, f"{ACCENT} bold")
        there, style = cells[head]
        cells[head] = (HEAD if there in "━╌" else there, f"{style} reverse")
        return list(cells)

    def _words(self, playback: Playback, width: int) -> Content:
        state = "> playing" if playback.playing else ("= end" if playback.ended else "|| held")
        left = ink((f" {state} {playback.speed}x", TITLE))
        right = ink(
            (f"{duration(playback.seconds)} of {duration(playback.length)}", QUIET),
            (f"  event {playback.at:,} of {len(playback):,} ", QUIET),
        )
        if not playback.chart.complete:
            read = 100 * playback.chart.surveyed // max(1, len(playback))
            right = ink((f"read so far: {read} %  ", WARN), right)
        middles = (self._where(playback, named=True), self._where(playback, named=False), Content(""))
        for middle in middles:
            gap = width - left.cell_length - middle.cell_length - right.cell_length - 2
            if gap >= 0:
                return ink(left, "  ", middle, " " * gap, right)
        return ink(left, "  ", right)

    def _where(self, playback: Playback, *, named: bool) -> Content:
        """The question, and the bookmark where there is one here."""
        parts: list[Part] = []
        if playback.view.live is not None:
            parts.append(f"question {playback.view.live + 1} of {len(playback.view.rows)}")
        here = next((each for each in self._bookmarks if each.place == playback.at), None)
        if here is not None:
            name = f" {one_line(here.name, 40)}" if named else ""
            parts.append((f"  {BOOKMARK}{name}", f"{ACCENT} bold"))
        elif named and self.has_focus:
            parts.append(("  home end pgup pgdn", QUIET))
        return ink(*parts)


def signs_of(playback: Playback, width: int) -> dict[int, tuple[str, str]]:
    """The marks of a run on a bar of `width` cells: cell -> sign and style."""
    total, marks = len(playback), playback.chart.marks
    found: dict[int, tuple[str, str]] = {}
    for mark in reversed(SIGNS):
        if mark is Mark.QUESTION and len(marks[mark]) * _CROWDED > width:
            continue
        found |= dict.fromkeys((cell_of(place, total, width) for place in marks[mark]), SIGNS[mark])
    return found


def cell_of(place: int, total: int, width: int) -> int:
    """The cell of the bar that a place falls into."""
    return min(width - 1, max(0, round(place / max(1, total) * (width - 1))))
