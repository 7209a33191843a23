"""The questions of a pool with what one method chose for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.console.ink import BAD, GOOD, QUIET, WARN, Part, column, ink
from tui.console.widgets.listing import Listing
from tui.view.legible import one_line

if TYPE_CHECKING:
    from stores.specs import KeptSelection

_WORDS: dict[bool | None, tuple[str, str]] = {
    True: ("right", GOOD),
    False: ("wrong", BAD),
    None: ("", QUIET),
}
_NONE = ("no choice", WARN)


class ChoiceList(Listing):
    """One line a question; a search narrows it."""

    def __init__(self) -> None:
        super().__init__(id="choices", classes="pane")
        self.search = ""
        self.no_rows: Callable[[], str] = lambda: ""
        self._all: Sequence[KeptSelection] = ()
        self._rows: Sequence[KeptSelection] = ()

    @property
    def row_count(self) -> int:
        """Lines on show."""
        return len(self._rows)

    @property
    def choice(self) -> KeptSelection | None:
        """The one under the cursor."""
        return self._rows[min(self.cursor, len(self._rows) - 1)] if self._rows else None

    def fill(self, kept: Sequence[KeptSelection]) -> None:
        """List these; the cursor stays on its question."""
        here = self.choice
        self._all = kept
        words = self.search.casefold().split()
        self._rows = [each for each in kept if all(word in _text(each) for word in words)]
        self.select(0)
        if here is not None:
            self.go_to(here.question.id)
        self.refresh_rows()
        self.refresh()

    def go_to(self, question: str) -> None:
        """Put the cursor on a question, where it is listed."""
        for place, each in enumerate(self._rows):
            if each.question.id == question:
                self.select(place)

    def narrow(self, words: str) -> None:
        """Show only questions that hold every word."""
        self.search = words.strip()
        self.fill(self._all)

    def row_version(self, index: int) -> Hashable:
        """The choice, which does not change."""
        kept = self._rows[index]
        return (kept.pool, kept.question.id, kept.selection.method, kept.at, self.search)

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """Place, question, groups, whether a tie was broken, verdict; the narrower, the fewer."""
        kept = self._rows[index]
        groups = len(kept.candidates.groups)
        word, style = _verdict(kept)
        left: list[Part] = ["▸ " if selected else "  ", (f"{one_line(kept.question.id, 8):>4} ", QUIET)]
        right: list[Part] = [" "]
        if width >= 40:
            many = f"{groups} group{' ' if groups == 1 else 's'}" if groups else "none"
            right.append((f"{many:>9} ", QUIET))
        if width >= 52:
            right.append(("tie " if kept.selection.tied else "    ", WARN))
        right.append(column(word, 9, style))
        start, end = ink(*left), ink(*right)
        room = max(1, width - start.cell_length - end.cell_length)
        return ink(start, column(one_line(kept.question.text, 300), room), end)

    def empty_words(self) -> str:
        """What stands where there is no line."""
        return self.no_rows()


def _verdict(kept: KeptSelection) -> tuple[str, str]:
    choice = kept.selection.choice
    return _NONE if choice is None else _WORDS[kept.candidates.executed[choice].correct]


def _text(kept: KeptSelection) -> str:
    question = kept.question
    return f"{question.id} {question.database} {question.text} {_verdict(kept)[0]}".casefold()
