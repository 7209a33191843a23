"""The list of memories, with its filters and marks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import msgspec
from textual.content import Content

from core.memory.entry import Polarity, ReviewState
from tui.console.ink import ACCENT, BAD, GOOD, QUIET, WARN, Part, column, ink
from tui.console.library import Shelved
from tui.console.widgets.listing import Listing
from tui.view.legible import one_line

STATE_SIGNS: dict[ReviewState, tuple[str, str]] = {
    ReviewState.APPROVED: ("\N{CHECK MARK}", GOOD),
    ReviewState.PENDING: ("?", WARN),
    ReviewState.REJECTED: ("\N{MULTIPLICATION SIGN}", BAD),
}
POLARITY_SIGNS: dict[Polarity, tuple[str, str]] = {
    Polarity.POSITIVE: ("+", GOOD),
    Polarity.NEGATIVE: ("-", BAD),
}


class Filter(msgspec.Struct, frozen=True):
    """One thing that the list can be narrowed by."""

    name: str
    value: Callable[[Shelved], str]


FILTERS: dict[str, Filter] = {
    each.name: each
    for each in (
        Filter("state", lambda shelved: shelved.state.value),
        Filter("polarity", lambda shelved: shelved.entry.polarity.value),
        Filter("failure", lambda shelved: shelved.entry.failure.value),
        Filter("database", lambda shelved: shelved.entry.context.database),
    )
}


class Shelf(Listing):
    """Memories one a line; `every` holds all, the list what filters and search leave."""

    def __init__(self) -> None:
        super().__init__(id="shelf", classes="pane")
        self.every: list[Shelved] = []
        self.search = ""
        self.marks: set[str] = set()
        self.open_store = False
        self._found: list[Shelved] = []
        self._filters: dict[str, str] = {}
        self._loaded = False

    @property
    def row_count(self) -> int:
        """Memories on show."""
        return len(self._found)

    @property
    def chosen(self) -> Shelved | None:
        """The memory under the cursor."""
        return self._found[self.cursor] if self._found else None

    def targets(self) -> list[Shelved]:
        """What a decision is about: the marked memories, or the chosen one."""
        marked = [each for each in self.every if each.entry.id in self.marks]
        return marked or ([self.chosen] if self.chosen is not None else [])

    def fill(self, every: Sequence[Shelved]) -> None:
        """Take in the library; the cursor stays on its memory."""
        self.every, self._loaded = list(every), True
        self.marks &= {each.entry.id for each in every}
        self.filter()

    def decided(self, states: Mapping[str, ReviewState]) -> None:
        """Show new states; what no longer fits the filter stays until it is set again."""
        self.every = [_with(each, states) for each in self.every]
        self._found = [_with(each, states) for each in self._found]
        self.marks.clear()
        self._retitle()
        self.refresh_rows()

    def mark(self) -> None:
        """Mark or unmark the chosen memory and move on."""
        if self.chosen is not None:
            self.marks ^= {self.chosen.entry.id}
            self.select(self.cursor + 1)
            self._retitle()
            self.refresh_rows()

    def clear(self) -> None:
        """Remove the marks, or else search and filters."""
        if self.marks:
            self.marks.clear()
        else:
            self.search, self._filters = "", {}
        self.filter()

    def cycle(self, by: Filter) -> None:
        """Narrow to the filter's next value among those there are; after the last, to nothing."""
        values = ["", *sorted({by.value(each) for each in self.every})]
        here = self._filters.get(by.name, "")
        following = values[(values.index(here) + 1) % len(values)] if here in values else ""
        self._filters[by.name] = following
        self.filter()

    def filter(self) -> None:
        """Apply filters and search."""
        before = self.chosen.entry.id if self.chosen is not None else None
        wanted = [(FILTERS[name], value) for name, value in self._filters.items() if value]
        words = self.search.casefold().split()
        self._found = [
            each
            for each in self.every
            if all(by.value(each) == value for by, value in wanted) and _holds(each, words)
        ]
        places = {each.entry.id: index for index, each in enumerate(self._found)}
        self.select(places.get(before, min(self.cursor, len(self._found) - 1)) if before else 0)
        self._retitle()
        self.refresh_rows()
        self.refresh()

    def row_version(self, index: int) -> Hashable:
        """State, use and mark are what can change."""
        each = self._found[index]
        return (each.entry.id, each.state, each.retrieved, each.helped, each.entry.id in self.marks)

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """Mark, polarity, state, type, database, question, use."""
        each = self._found[index]
        entry = each.entry
        sign, sign_style = POLARITY_SIGNS[entry.polarity]
        state_sign, state_style = STATE_SIGNS[each.state]
        left: list[Part] = [
            "▸" if selected else " ",
            ("*" if entry.id in self.marks else " ", f"{ACCENT} bold"),
            (f"{sign} ", f"{sign_style} bold"),
            column(f"{state_sign} {each.state.value}", 11, state_style),
        ]
        if width >= 60:
            left.append(column(entry.failure.value, 16, QUIET))
        if width >= 84:
            left.append(column(one_line(entry.context.database, 60), 15, QUIET))
        use = column(f" {each.helped}/{each.retrieved}", 7, QUIET, right=True)
        start = ink(*left)
        room = max(1, width - start.cell_length - 7)
        return ink(start, column(one_line(entry.context.question, 300), room), use)

    def empty_words(self) -> str:
        """What to do where no memory is on show."""
        if not self.open_store:
            return (
                "No store is open, so there are no memories.\n\n"
                "Memories are what finished runs taught. Make some:\n"
                "  merito demo\n\n"
                "then open this console again, or name a store:\n"
                "  merito console --store FILE"
            )
        if not self._loaded:
            return "Reading the library ..."
        if not self.every:
            return (
                "No memory yet. Each repaired or failed question of a run teaches one:\n  merito demo"
            )
        return "No memory matches. Press esc to remove search and filters."

    def _retitle(self) -> None:
        pending = sum(each.state is ReviewState.PENDING for each in self.every)
        chosen = [f"{name}: {one_line(value, 40)}" for name, value in self._filters.items() if value]
        if self.search:
            chosen.append(f"search: {one_line(self.search, 40)}")
        if self.marks:
            chosen.append(f"{len(self.marks)} marked")
        count = f"{len(self._found):,} of {len(self.every):,}"
        words = " · ".join(chosen) or f"{pending:,} to review · last column: helped/retrieved"
        self.border_subtitle = Content(f"{count} · {words}")


def _with(each: Shelved, states: Mapping[str, ReviewState]) -> Shelved:
    state = states.get(each.entry.id)
    return each if state is None else msgspec.structs.replace(each, state=state)


def _holds(each: Shelved, words: list[str]) -> bool:
    if not words:
        return True
    entry = each.entry
    parts = (
        entry.id,
        entry.context.question,
        entry.context.database,
        entry.context.failed_sql,
        entry.context.message,
        entry.revised_sql,
        entry.failure.value,
        each.state.value,
        entry.polarity.value,
    )
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)
