"""A line under the head for what must stay in view: a failure, a store that another console writes."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from tui.console.ink import BAD, WARN, ink
from tui.view.legible import one_line


class Banner(Widget):
    """Hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self._words, self._serious = "", False

    def show(self, words: str, *, serious: bool) -> None:
        """Say this; empty words hide the line."""
        if (words, serious) != (self._words, self._serious):
            self._words, self._serious = words, serious
            self.display = bool(words)
            self.refresh()

    def render(self) -> Content:
        """The line."""
        sign, style = ("! ", f"{BAD} bold") if self._serious else ("i ", f"{WARN} bold")
        return ink((f" {sign}", style), one_line(self._words, 500))
