"""Memory: the library and its review, one key for each decision."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.containers import Container
from textual.widget import Widget

from core.errors import MeritoError
from core.memory.entry import ReviewState
from stores.entry_rows import EntryRow
from tui.console.actions import Action, bindings_of
from tui.console.kept import Choice
from tui.console.memory_library import Library
from tui.console.reviewing import Reviewer, Wanted, counted, told
from tui.console.screens.memory_files import MemoryFiles
from tui.console.screens.runs import NO_MODEL_NEEDED
from tui.console.widgets.entry import Entry
from tui.console.widgets.keybar import KeyBar
from tui.console.widgets.listing import Listing
from tui.console.widgets.shelf import FILTERS, Shelf
from tui.view.legible import one_line

if TYPE_CHECKING:
    from textual.widgets import Input

    from stores.library import Decided

_DECIDING = frozenset(
    f"memory.{name}" for name in ("approve", "reject", "restore", "remark", "undo", "mark")
)
_BY_MEANING = "~"
_LOOK = 1.5
"""Seconds between two looks at what others did to the library."""
_PAUSE = 0.2
"""Seconds without a key before a search by meaning begins."""


class MemoryScreen(MemoryFiles):
    """A list of memories, the chosen one beside it."""

    ROOM = "memory"
    PANES = ("shelf", "entry")
    TITLES = ("Memories", "Memory")
    BINDINGS = bindings_of("memory")

    def __init__(self) -> None:
        super().__init__()
        self._loaded_for: object = None
        self._reviewer = Reviewer()

    def compose_body(self) -> Iterable[Widget]:
        """The list and the sheet."""
        with Container(id="panes"):
            yield Shelf(self.key, self._no_store)
            yield Entry()

    def on_mount(self) -> None:
        """Look at what others do from time to time."""
        super().on_mount()
        self.set_interval(_LOOK, self._look)

    async def on_unmount(self) -> None:
        """End what was started for searching."""
        if self.library is not None:
            await self.library.close()

    def _no_store(self) -> str:
        make = "Memories are what finished runs taught. Make some:\n  merito demo\n\n"
        make += NO_MODEL_NEEDED
        return self.no_store_words("there are no memories", make)

    def choices(self) -> dict[str, Choice]:
        """Filters, and whether near-duplicates stand together, with what every room keeps."""
        return super().choices() | {"together": self.shelf.gathered} | self.shelf.filters

    def take_choices(self, choices: dict[str, Choice]) -> None:
        """As it was last time."""
        super().take_choices(choices)
        self.shelf.gathered = choices.get("together") is True
        self.shelf.take_filters({k: v for k, v in choices.items() if isinstance(v, str)})

    def refresh_view(self) -> None:
        """Head and keys; the library is read when it is there, and looked at when the run has learned
        something."""
        super().refresh_view()
        self.shelf.open_store = self.library is not None
        now = (id(self.library), len(self.session.view.figures.learned))
        before, self._loaded_for = self._loaded_for, now
        if not isinstance(before, tuple) or before[0] != now[0]:
            self._show_chosen()
            self.action_reload()
        elif before != now:
            self._look()

    def offers(self, action: Action) -> bool:
        """Decisions are offered where they are allowed and there is something to decide about."""
        if action.name == "memory.waiting":
            reviewed, asked = self.shelf.progress
            return reviewed < asked
        if action.name in _DECIDING:
            allowed = self.library is not None and not self.library.read_only
            return allowed and self.shelf.row_count > 0
        return True

    def action_reload(self) -> None:
        """Read the library again."""
        if self.library is not None:
            self.console_app.start(self._load(self.library), group="library")

    async def _load(self, library: Library) -> None:
        self.shelf.fill(await library.entries())
        self._show_chosen()
        self.console_app.start(self._work_out(library), group="worked out")

    async def _work_out(self, library: Library) -> None:
        """What takes longer than the list itself: stale memories, then near-duplicates."""
        self.shelf.know(stale=await library.stale())
        self._show_chosen()
        self.shelf.know(groups=await library.groups())
        self._show_chosen()

    def _look(self) -> None:
        if self.library is not None and self.is_active:
            self.console_app.start(self.catch_up(self.library), group="moved")

    async def catch_up(self, library: Library) -> None:
        """Take in what is new or changed in the library."""
        moved = await library.moved()
        if not moved:
            return
        fresh = any(each.id not in self.shelf.every for each in moved)
        self.shelf.update(moved)
        self._show_chosen()
        if fresh:
            self.console_app.start(self._work_out(library), group="worked out")

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Another memory is under the cursor."""
        event.stop()
        self._show_chosen()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter goes to its sheet."""
        event.stop()
        self.front("entry")

    def _show_chosen(self) -> None:
        chosen, shelf = self.shelf.chosen, self.shelf
        sheet = self.query_one(Entry)
        if chosen is None:
            sheet.show_nothing(shelf.empty_words())
        elif self.library is not None:
            sheet.show_entry(chosen, shelf.stale.get(chosen.id, ()), shelf.size_of(chosen.id))
            self.console_app.start(self._show_page(self.library, chosen), group="page")
        self.query_one(KeyBar).refresh_keys()

    async def _show_page(self, library: Library, chosen: EntryRow) -> None:
        self.query_one(Entry).show_page(await library.page(chosen.id))

    def action_decide(self, state: str) -> None:
        """Approve or reject the marked memories, or the chosen one."""
        wanted = [(each, ReviewState(state)) for each in self.shelf.targets()]
        self._decide_anew(wanted, "", f"{state} already")

    def action_restore(self) -> None:
        """Back to the state in which each began."""
        wanted = [(each, each.began) for each in self.shelf.targets()]
        self._decide_anew(wanted, "restored", "as it began already")

    def _decide_anew(self, wanted: Wanted, remark: str, already: str) -> None:
        """Decide about those for which it changes anything; the others are `already` so."""
        stale = self.shelf.stale
        new = [(each, state) for each, state in wanted if each.state is not state or each.id in stale]
        left = len(wanted) - len(new)
        if left and not new and not self.refused():
            self.tell(f"{counted(left)}: {already}.")
        self._decide(new, remark, f" {counted(left)} more: {already}." if left else "")

    def action_remark(self, state: str) -> None:
        """Decide with a remark; with no state, add a remark alone."""
        targets = self.shelf.targets()
        if not targets or self.refused():
            return

        def decide(remark: str | None) -> None:
            if remark is not None and (remark.strip() or state):
                wanted = [(each, ReviewState(state) if state else each.state) for each in targets]
                self._decide(wanted, remark.strip())

        what = counted(len(targets)) if len(targets) > 1 else "this memory"
        verb = {"approved": "Approve", "rejected": "Reject"}.get(state, "Remark on")
        self.console_app.ask_words(
            f"{verb} {what}", "enter keeps it with the decision; esc: not", decide
        )

    def _decide(self, wanted: Wanted, remark: str, beside: str = "") -> None:
        """Record decisions; more than one only after a yes. `beside` says what is left as it is."""
        library = self.library
        if not wanted or self.refused() or library is None:
            return

        def record() -> None:
            self.console_app.start(self._record(library, wanted, remark))

        if len(wanted) == 1:
            record()
            return
        states = " or ".join(sorted({state.value for _, state in wanted}))
        self.console_app.confirm(
            f"{counted(len(wanted))}: {states}?",
            f"{self.key('memory.undo')} takes all of them back at once.{beside}",
            record,
        )

    async def _record(self, library: Library, wanted: Wanted, remark: str) -> None:
        shelf = self.shelf
        waited = shelf.chosen is not None and shelf.waits(shelf.chosen)
        who = self.console_app.who
        done = await self._reviewer.decide(library, wanted, who, remark, shelf.stale)
        shelf.marks.clear()
        await self._show_done(library, done)
        if waited and done.kept and shelf.chosen is not None and not shelf.waits(shelf.chosen):
            shelf.next_waiting()
            self._show_chosen()

    async def _show_done(self, library: Library, done: Decided, *, undoing: bool = False) -> None:
        """Show what was kept, and what others had decided instead."""
        shelf = self.shelf
        kept = {decision.memory for decision in done.kept}
        clashing = {clash.wanted.memory for clash in done.clashes}
        shelf.stale = {memory: why for memory, why in shelf.stale.items() if memory not in kept}
        shelf.clashes = (shelf.clashes - kept) | clashing
        shelf.marks |= clashing if len(clashing) > 1 else set()
        shelf.update(await library.moved())
        undo = "" if undoing else self.key("memory.undo")
        self.tell(told(done, undo), serious=bool(done.clashes))
        self._show_chosen()

    def action_undo(self) -> None:
        """Take the last decision back: another entry of the history."""
        if self.refused() or self.library is None:
            return
        if not self._reviewer.can_undo:
            self.tell("You have decided nothing here that could be taken back.")
            return
        self.console_app.start(self._take_back(self.library))

    async def _take_back(self, library: Library) -> None:
        done = await self._reviewer.undo(library, self.shelf.every, self.console_app.who)
        await self._show_done(library, done, undoing=True)
        if done.kept:
            self.shelf.go_to(done.kept[0].memory)
        self.shelf.know(stale=await library.stale())
        self._show_chosen()

    def refused(self) -> bool:
        """Whether nothing may be decided here; says why."""
        if self.library is None:
            self.tell("No store is open, so there are no memories to decide about.")
        elif self.library.read_only:
            self.tell(self.console_app.restraint.refuses("decisions are not possible"))
        else:
            return False
        return True

    def action_mark(self) -> None:
        """Mark or unmark the chosen memory, and go on to the next."""
        if self.shelf.chosen is not None:
            self.shelf.mark([self.shelf.chosen.id])
            self.shelf.select(self.shelf.cursor + 1)
            self._show_chosen()

    def action_mark_shown(self) -> None:
        """Mark or unmark everything on show."""
        self.shelf.mark([each.id for each in self.shelf.shown])
        self.query_one(KeyBar).refresh_keys()

    def action_mark_group(self) -> None:
        """Mark or unmark the near-duplicates of the chosen memory that are on show."""
        chosen = self.shelf.chosen
        if chosen is None:
            return
        if not self.shelf.groups:
            self.tell("Near-duplicates are still being looked for.")
            return
        shown = {each.id for each in self.shelf.shown}
        self.shelf.mark([e.id for e in self.shelf.group_of(chosen.id) if e.id in shown])

    def action_gather(self) -> None:
        """Near-duplicates together, or everything in its order."""
        self.shelf.gathered = not self.shelf.gathered
        self.shelf.filter()
        self._show_chosen()
        if self.shelf.gathered and not self.shelf.groups:
            self.tell(
                "Near-duplicates are still being looked for; they gather as soon as they are found."
            )

    def action_waiting(self) -> None:
        """To the next memory that waits for a decision."""
        if not self.shelf.next_waiting():
            self.tell("Nothing on show waits for a decision.")
        self._show_chosen()

    def action_clear(self) -> None:
        """Remove the marks; where there are none, the search and the filters."""
        self.shelf.clear()
        self._show_chosen()

    def action_cycle(self, name: str) -> None:
        """The next value of a filter."""
        self.shelf.cycle(FILTERS[name])
        self._show_chosen()

    async def action_meaning(self) -> None:
        """Open the search field for a search by meaning."""
        await self.action_search()
        field = await self._search_field()
        field.value, field.cursor_position = _BY_MEANING, len(_BY_MEANING)

    async def _search_field(self) -> Input:
        field = await super()._search_field()
        # What stands there is gone on with, not typed over: a ~ that was put there above all.
        field.select_on_focus = False
        field.placeholder = "search: words that all occur; ~ and words: what is near in meaning"
        return field

    def search_for(self, words: str) -> None:
        """Narrow the list to memories that hold every word, or, after a ~, to the nearest in
        meaning."""
        words = words.strip()
        if self.library is None:
            return
        found = (
            self._by_meaning(self.library, words.removeprefix(_BY_MEANING).strip())
            if words.startswith(_BY_MEANING)
            else self._by_words(self.library, words)
        )
        self.console_app.start(found, group="search")

    async def _by_words(self, library: Library, words: str) -> None:
        hits = await library.matching(words) if words else None
        self.shelf.search(f"search: {words}" if words else "", hits)
        self._show_chosen()

    async def _by_meaning(self, library: Library, words: str) -> None:
        shelf = self.shelf
        if not words:
            shelf.search("by meaning: type what it is about", None)
            return
        await asyncio.sleep(_PAUSE)

        def far(how: str) -> None:
            shelf.search(f"by meaning: {how}", None)

        try:
            hits = await library.alike(words, far)
        except MeritoError as wrong:
            shelf.search("by meaning: not possible here", None)
            self.tell(f"No search by meaning: {one_line(str(wrong), 400)}", serious=True)
            return
        shelf.search(f"by meaning: {words}", hits)
        shelf.select(0)
        self._show_chosen()

    def action_places(self) -> None:
        """Choose an episode that taught or used the memory, and replay it."""
        if self.shelf.chosen is not None and self.library is not None:
            self.console_app.start(self._replay(self.library, self.shelf.chosen.id))

    async def _replay(self, library: Library, memory: str) -> None:
        from tui.console.screens.places import ChoosePlace, places_of

        place = await self.app.push_screen_wait(ChoosePlace(places_of(await library.page(memory))))
        archive = self.console_app.archive
        if place is None or archive is None:
            return
        if place.run not in {run.id for run in await archive.runs()}:
            self.tell(f"The run {one_line(place.run, 60)} is not in this store: it was imported.")
            return
        await self.console_app.replay(place.run, f"q{place.position + 1}")

    def action_copy(self) -> None:
        """Copy the revised SQL of the chosen memory."""
        entry = self.query_one(Entry).entry
        if self.shelf.chosen is None or entry is None:
            self.tell("There is no memory to copy.")
            return
        self.console_app.copy(entry.revised_sql, "the revised SQL")
