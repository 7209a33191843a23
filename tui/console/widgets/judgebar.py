"""The operator's bar: an answer waits for a person's word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from textual.content import Content
from textual.widget import Widget

from tui.console.ink import ACCENT, QUIET, WARN, Part, ink
from tui.view.judging import ASKED, KINDS
from tui.view.legible import one_line

GUARD = 0.5
"""Seconds in which keys are ignored after a question to the person appeared."""
_NAMED = 4
"""Waiting questions that are named; more are counted."""


class JudgeBar(Widget):
    """Asks about one waiting attempt, and counts the others that wait; hidden while none does."""

    def __init__(self, key: Callable[[str], str] | None = None, room: str = "run") -> None:
        """`key` tells the key of an action as it stands on a keyboard."""
        super().__init__(id="judge")
        self.asked: tuple[int, int] | None = None
        """The (position, attempt) that the bar asks about."""
        self._others: Sequence[int] = ()
        self._words = ""
        self._since = 0.0
        self._key, self._room = key, room

    @property
    def armed(self) -> bool:
        """Whether the keys count by now."""
        return self.asked is not None and monotonic() - self._since >= GUARD

    def ask(self, key: tuple[int, int] | None, others: Sequence[int], words: str = "") -> None:
        """Ask about this attempt of the question with these words; `others` are the numbers of the
        questions that wait too. With nothing that waits the bar is hidden."""
        if key != self.asked:
            self._since = monotonic()
            if key is not None:
                self.set_timer(GUARD, self.refresh)
        if (key, others, words) != (self.asked, self._others, self._words):
            self.asked, self._others, self._words = key, others, words
            self.display = key is not None or bool(others)
            self.refresh()

    def render(self) -> Content:
        """The question above its keys, which are dimmed until they count."""
        if self.asked is None:
            return ink(*self._waiting(f" ? {self._count(len(self._others))} your word"))
        position, attempt = self.asked
        name = "first SQL" if attempt == 0 else f"repair {attempt}"
        which = f" ? Question {position + 1}, {name}: {ASKED}  "
        first = ink((which, f"{WARN} bold"), (one_line(self._words, 300), ""))
        style = f"{ACCENT} bold" if self.armed else QUIET
        keys: list[Part] = ["  "]
        for kind in KINDS:
            keys += [" ", (self._key_of(kind.name, kind.key), style), f" {kind.label} "]
        second = ink(*keys, *self._waiting("  ")) if self._others else ink(*keys)
        width = max(1, self.size.width)
        return Content("\n").join(
            [first.truncate(width, ellipsis=True), second.truncate(width, ellipsis=True)]
        )

    def _waiting(self, before: str) -> list[Part]:
        """Which others wait, and the key that goes to the next."""
        named = ", ".join(str(number) for number in self._others[:_NAMED])
        more = f" and {len(self._others) - _NAMED} more" if len(self._others) > _NAMED else ""
        verb = "waits" if len(self._others) == 1 else "wait"
        tail = f"{named}{more} {verb} too" if self.asked is not None else f"({named}{more})"
        key = self._key_of("next", "n")
        return [(before, f"{WARN} bold"), (f" {tail} ", QUIET), (key, f"{ACCENT} bold"), " next"]

    @staticmethod
    def _count(waiting: int) -> str:
        return "1 question waits for" if waiting == 1 else f"{waiting} questions wait for"

    def _key_of(self, does: str, usual: str) -> str:
        return usual if self._key is None else self._key(f"{self._room}.{does}")
