"""The operator's bar: an answer waits for a person's word."""

from __future__ import annotations

from time import monotonic

from textual.content import Content
from textual.widget import Widget

from tui.console.ink import ACCENT, QUIET, WARN, ink

GUARD = 0.5
"""Seconds in which keys are ignored after a question to the person appeared."""


class JudgeBar(Widget):
    """Asks about one waiting attempt; hidden while none waits."""

    def __init__(self) -> None:
        super().__init__(id="judge")
        self.asked: tuple[int, int] | None = None
        """The (position, attempt) that the bar asks about."""
        self._others = 0
        self._since = 0.0

    @property
    def armed(self) -> bool:
        """Whether the keys count by now."""
        return self.asked is not None and monotonic() - self._since >= GUARD

    def ask(self, key: tuple[int, int] | None, others: int) -> None:
        """Ask about this attempt; None hides the bar."""
        if key != self.asked:
            self._since = monotonic()
            if key is not None:
                self.set_timer(GUARD, self.refresh)
        if (key, others) != (self.asked, self._others):
            self.asked, self._others = key, others
            self.display = key is not None
            self.refresh()

    def render(self) -> Content:
        """The question and its keys, dimmed until they count."""
        if self.asked is None:
            return Content("")
        position, attempt = self.asked
        name = "first SQL" if attempt == 0 else f"repair {attempt}"
        key = f"{ACCENT} bold" if self.armed else QUIET
        return ink(
            (f" ? Question {position + 1}, {name}: does it answer the question?  ", f"{WARN} bold"),
            ("r", key),
            " right  ",
            ("w", key),
            " wrong  ",
            ("x", key),
            " skip",
            (f"   and {self._others} more wait" if self._others else "", QUIET),
        )
