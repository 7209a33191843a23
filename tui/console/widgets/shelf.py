"""The list of memories, with its filters and marks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

import msgspec
from textual import events
from textual.content import Content

from core.memory.entry import Polarity, ReviewState
from stores.entry_rows import EntryRow
from tui.console.ink import ACCENT, BAD, GOOD, QUIET, WARN, Part, column, ink
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
    Polarity.EXAMPLE: ("=", ACCENT),
}
STALE = "stale"
WAITING = "to review"


class Filter(msgspec.Struct, frozen=True):
    """One thing that the list can be narrowed by."""

    name: str
    value: Callable[[EntryRow], str]


FILTERS: dict[str, Filter] = {
    each.name: each
    for each in (
        Filter("state", lambda shelved: shelved.state.value),
        Filter("polarity", lambda shelved: shelved.polarity.value),
        Filter("failure", lambda shelved: shelved.failure),
        Filter("database", lambda shelved: shelved.database),
        Filter("run", lambda shelved: shelved.run),
    )
}


class Shelf(Listing):
    """Memories one a line; `every` holds all by id, the list what filters and search leave.

    A memory that is decided about stays where it is until a filter is set again, so that nothing
    moves under a reviewer's hand.
    """

    def __init__(self, key: Callable[[str], str], no_store: Callable[[], str]) -> None:
        """`key` tells the key of an action as it stands on a keyboard, `no_store` what to do where no
        store is open."""
        super().__init__(id="shelf", classes="pane")
        self._key_of, self._no_store = key, no_store
        self.every: dict[str, EntryRow] = {}
        self.marks: set[str] = set()
        self.clashes: set[str] = set()
        """Memories that somebody else had decided about when a decision was wanted."""
        self.stale: Mapping[str, tuple[str, ...]] = {}
        self.groups: Mapping[str, str] = {}
        self.gathered = False
        """Whether near-duplicates stand together."""
        self.searched = ""
        """The search in words; empty where there is none."""
        self.open_store = False
        self.progress = (0, 0)
        """Reviewed, of how many that are or were to be reviewed, whatever state is filtered by."""
        self._ids: list[str] = []
        self._hits: Sequence[str] | frozenset[str] | None = None
        self._filters: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._alike = False
        """Whether any two are near-duplicates: without, no column is kept for them."""
        self._loaded = False

    @property
    def row_count(self) -> int:
        """Memories on show."""
        return len(self._ids)

    @property
    def shown(self) -> list[EntryRow]:
        """The memories on show, in their order."""
        return [self.every[memory] for memory in self._ids]

    @property
    def chosen(self) -> EntryRow | None:
        """The memory under the cursor."""
        return self.every[self._ids[self.cursor]] if self._ids else None

    def targets(self) -> list[EntryRow]:
        """What a decision is about: the marked memories, or the chosen one."""
        marked = [each for memory, each in self.every.items() if memory in self.marks]
        return marked or ([self.chosen] if self.chosen is not None else [])

    def waits(self, each: EntryRow) -> bool:
        """Whether somebody is asked about it."""
        return each.state is ReviewState.PENDING or each.id in self.stale

    def group_of(self, memory: str) -> list[EntryRow]:
        """The near-duplicates of a memory, itself among them, whether they are on show or not."""
        centre = self.groups.get(memory, memory)
        return [e for i, e in self.every.items() if self.groups.get(i, i) == centre]

    def size_of(self, memory: str) -> int:
        """How many near-duplicates a memory has, itself counted."""
        return self._sizes.get(self.groups.get(memory, memory), 1)

    def fill(self, every: Iterable[EntryRow]) -> None:
        """Take in the library; the cursor stays on its memory."""
        self.every = {each.id: each for each in every}
        if not self._loaded:
            # Filters of another day may name what is not here.
            there = {name: [*self._values(by)] for name, by in FILTERS.items()}
            there["state"].append(STALE)
            self._filters = {k: v for k, v in self._filters.items() if v in there[k]}
        self._loaded = True
        self.marks &= self.every.keys()
        self.filter()

    def update(self, moved: Sequence[EntryRow]) -> None:
        """Take in what is new or changed. New memories join the list where they fit it."""
        fresh = any(each.id not in self.every for each in moved)
        self.every |= {each.id: each for each in moved}
        if fresh:
            self.filter()
        else:
            self._recount()
            self.refresh_rows()

    def know(
        self,
        *,
        stale: Mapping[str, tuple[str, ...]] | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> None:
        """Take in what was worked out about the memories."""
        if stale is not None:
            self.stale = stale
            if not stale and self._filters.get("state") == STALE:
                del self._filters["state"]
        if groups is not None:
            self.groups = groups
            self._sizes = {}
            for centre in groups.values():
                self._sizes[centre] = self._sizes.get(centre, 0) + 1
            self._alike = max(self._sizes.values(), default=1) > 1
        self.filter()

    def mark(self, memories: Iterable[str]) -> None:
        """Mark these; where all of them are marked, unmark them."""
        wanted = set(memories)
        self.marks = self.marks - wanted if wanted <= self.marks else self.marks | wanted
        self._retitle()
        self.refresh_rows()

    def clear(self) -> None:
        """Remove the marks, or else search and filters."""
        if self.marks:
            self.marks.clear()
        else:
            self.searched, self._hits, self._filters = "", None, {}
        self.filter()

    def cycle(self, by: Filter) -> None:
        """Narrow to the filter's next value among those there are; after the last, to nothing."""
        values = self._values(by)
        here = self._filters.get(by.name, "")
        following = values[(values.index(here) + 1) % len(values)] if here in values else ""
        self._filters[by.name] = following
        self.filter()

    def _values(self, by: Filter) -> list[str]:
        found = {by.value(each) for each in self.every.values()}
        extra = [WAITING, *([STALE] if self.stale else [])] if by.name == "state" else []
        return ["", *extra, *sorted(found)]

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set, by name."""
        return {name: value for name, value in self._filters.items() if value}

    def take_filters(self, filters: Mapping[str, str]) -> None:
        """Set filters before the library is read; those that fit nothing in it fall away then."""
        self._filters = {name: value for name, value in filters.items() if name in FILTERS}

    def search(self, words: str, hits: Sequence[str] | frozenset[str] | None) -> None:
        """Narrow to these memories; a sequence is also their order. None takes the search away."""
        self.searched, self._hits = words, hits
        self.filter()

    def filter(self) -> None:
        """Apply filters, search and order."""
        before = self.chosen.id if self.chosen is not None else None
        scope = self._in_scope()
        state = self._filters.get("state", "")
        kept = [each for each in scope if self._has_state(each, state)] if state else scope
        self._count(scope)
        self._ids = [each.id for each in (self._together(kept) if self.gathered else kept)]
        places = {memory: index for index, memory in enumerate(self._ids)} if before else {}
        self.select(places.get(before, min(self.cursor, len(self._ids) - 1)) if before else 0)
        self._retitle()
        self.refresh_rows()
        self.refresh()

    def next_waiting(self) -> bool:
        """Go to the next memory that waits, from here and then from the top; False where none does."""
        count = len(self._ids)
        for step in range(1, count + 1):
            index = (self.cursor + step) % count
            if self.waits(self.every[self._ids[index]]):
                self.select(index, ahead=True)
                return True
        return False

    def go_to(self, memory: str) -> None:
        """Put the cursor on a memory, where it is on show."""
        if memory in self._ids:
            self.select(self._ids.index(memory))

    def _in_scope(self) -> list[EntryRow]:
        """What search and all filters but the state's leave."""
        hits = self._hits
        if hits is None:
            found = list(self.every.values())
        elif isinstance(hits, frozenset):
            found = [each for memory, each in self.every.items() if memory in hits]
        else:
            found = [self.every[memory] for memory in hits if memory in self.every]
        for name, wanted in self._filters.items():
            if wanted and name != "state":
                value = FILTERS[name].value
                found = [each for each in found if value(each) == wanted]
        return found

    def _has_state(self, each: EntryRow, wanted: str) -> bool:
        if wanted == WAITING:
            return self.waits(each)
        return each.id in self.stale if wanted == STALE else each.state.value == wanted

    def _together(self, found: Sequence[EntryRow]) -> list[EntryRow]:
        """Near-duplicates one below the other, the largest groups first."""
        gathered: dict[str, list[EntryRow]] = {}
        for each in found:
            gathered.setdefault(self.groups.get(each.id, each.id), []).append(each)
        by_size = sorted(gathered.values(), key=len, reverse=True)
        return [each for group in by_size for each in group]

    def _recount(self) -> None:
        self._count(self._in_scope())
        self._retitle()

    def _count(self, scope: Sequence[EntryRow]) -> None:
        waiting = sum(self.waits(each) for each in scope)
        asked = sum(not e.confirmed or e.decisions > 0 or e.id in self.stale for e in scope)
        self.progress = (asked - waiting, asked)

    def row_version(self, index: int) -> Hashable:
        """State, use, marks and what was worked out are what can change."""
        each = self.every[self._ids[index]]
        flags = (each.id in self.marks, each.id in self.stale, each.id in self.clashes)
        return (each.id, each.state, each.usage.retrieved, each.usage.right, flags, self._beside(index))

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """Mark, polarity, state, type, database, group, question, use."""
        each = self.every[self._ids[index]]
        sign, sign_style = POLARITY_SIGNS[each.polarity]
        left: list[Part] = [
            "▸" if selected else " ",
            ("*" if each.id in self.marks else " ", f"{ACCENT} bold"),
            (f"{sign} ", f"{sign_style} bold"),
            column(*self._state_words(each)),
        ]
        if width >= 60:
            left.append(column(each.failure, 16, QUIET))
        if width >= 84:
            left.append(column(one_line(each.database, 60), 15, QUIET))
        if self._alike:
            left.append(column(self._beside(index), 5, ACCENT))
        use = column(f" {each.usage.right}/{each.usage.retrieved}", 7, QUIET, right=True)
        start = ink(*left)
        room = max(1, width - start.cell_length - 7)
        return ink(start, column(one_line(each.question, 300), room), use)

    def _state_words(self, each: EntryRow) -> tuple[str, int, str]:
        sign, style = STATE_SIGNS[each.state]
        if each.id in self.clashes:
            return f"! {each.state.value}", 11, f"{BAD} bold"
        if each.id in self.stale:
            return f"! {STALE}", 11, f"{WARN} bold"
        return f"{sign} {each.state.value}", 11, style

    def _beside(self, index: int) -> str:
        """Size of the group at its first row, a line at the others that stand below it."""
        memory = self._ids[index]
        centre = self.groups.get(memory, memory)
        size = self.size_of(memory)
        if size < 2:
            return ""
        above = self._ids[index - 1] if index and self.gathered else ""
        return " │" if above and self.groups.get(above, above) == centre else f"≈{size}"

    def empty_words(self) -> str:
        """What to do where no memory is on show."""
        if not self.open_store:
            return self._no_store()
        if not self._loaded:
            return "Reading the library ..."
        if not self.every:
            return (
                "No memory yet. Each repaired or failed question of a run teaches one:\n"
                "  merito demo\n\n"
                "Look at some with no model at all:\n  merito demo --recorded\n\n"
                f"{self._key_of('memory.import')} imports some that another store exported."
            )
        esc = self._key_of("memory.unmark")
        return f"No memory matches. Press {esc} to remove search and filters."

    def _retitle(self) -> None:
        if not self.every:
            self.border_subtitle = ""
            return
        reviewed, asked = self.progress
        chosen = [f"{name}: {one_line(value, 40)}" for name, value in self._filters.items() if value]
        if self.searched:
            chosen.append(one_line(self.searched, 60))
        if self.marks:
            chosen.append(f"{len(self.marks):,} marked")
        if self.clashes:
            chosen.append(f"{len(self.clashes):,} decided by others")
        done = f"{reviewed:,} of {asked:,} reviewed" if asked else "nothing to review"
        count = f"{len(self._ids):,} of {len(self.every):,}"
        parts, rest = [count, *chosen], [done, "right: helped/retrieved"]
        # What a person has just chosen is said in any case, the rest as a whole or not at all.
        for words in rest if asked else reversed(rest):
            if len(" · ".join([*parts, words])) <= self.outer_size.width - 6:
                parts.append(words)
        self.border_subtitle = Content(" · ".join(parts))

    def on_resize(self, event: events.Resize) -> None:
        """Another width has room for other words."""
        super().on_resize(event)
        self._retitle()
