"""Lines under the head for what must stay in view: a failure, a store that another console writes."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from tui.console.ink import BAD, WARN, ink
from tui.view.legible import one_line

_MARGIN = 4
"""Cells left of the words and right of them: the sign, and one blank."""
_CUT = "… "
_SHARE = 4
"""At most one line in so many of the screen's."""


class Banner(Widget):
    """Hidden while there is nothing to say; as high as its words need."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self._words, self._serious = "", False

    def show(self, words: str, *, serious: bool) -> None:
        """Say this; empty words hide the banner."""
        if (words, serious) != (self._words, self._serious):
            self._words, self._serious = words, serious
            self.display = bool(words)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As high as the words need at this width."""
        return len(self._lines(width))

    def render(self) -> Content:
        """The sign and the words."""
        sign, style = ("! ", f"{BAD} bold") if self._serious else ("i ", f"{WARN} bold")
        first, *others = self._lines(self.content_size.width)
        return ink((f" {sign}", style), first, *(f"\n   {line}" for line in others))

    def _lines(self, width: int) -> list[str]:
        # The panes keep the greater part of the screen.
        most = max(2, self.app.size.height // _SHARE)
        return in_lines(one_line(self._words, 500), width - _MARGIN, most)


def in_lines(words: str, width: int, most: int) -> list[str]:
    """The words in lines of `width` cells. What would take more than `most` lines is cut in the
    middle, with a sign: the way out stands at its end."""
    width = max(8, width)
    lines = [line.plain for line in Content(words).wrap(width)]
    if len(lines) <= most:
        return lines
    tail = ""
    for word in reversed(words.split(" ")):
        longer = f"{word} {tail}".rstrip()
        if Content(_CUT + longer).cell_length > width:
            break
        tail = longer
    last = _CUT + tail if tail else Content(lines[most - 1]).truncate(width - 1).plain + "…"
    return [*lines[: most - 1], last]
