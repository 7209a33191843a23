"""Memory: the library and its review, one key for each decision."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from textual.containers import Container
from textual.widget import Widget

from core.memory.entry import ReviewDecision, ReviewState, first_state
from tui.console.actions import Action, bindings_of
from tui.console.library import Library, Shelved
from tui.console.screens.base import RoomScreen
from tui.console.widgets.entry import Entry
from tui.console.widgets.keybar import KeyBar
from tui.console.widgets.listing import Listing
from tui.console.widgets.shelf import FILTERS, Shelf

_DECIDING = frozenset(
    f"memory.{name}" for name in ("approve", "reject", "restore", "remark", "undo", "mark")
)


class MemoryScreen(RoomScreen):
    """A list of memories, the chosen one beside it."""

    ROOM = "memory"
    PANES = ("shelf", "entry")
    TITLES = ("Memories", "Memory")
    BINDINGS = bindings_of("memory")

    def __init__(self) -> None:
        super().__init__()
        self._loaded_for: object = None
        self._undo: list[list[tuple[str, ReviewState]]] = []

    def compose_body(self) -> Iterable[Widget]:
        """The list and the sheet."""
        with Container(id="panes"):
            yield Shelf()
            yield Entry()

    @property
    def library(self) -> Library | None:
        """The store's memories, where a store is open."""
        return self.console_app.library

    @property
    def shelf(self) -> Shelf:
        """The list."""
        return self.query_one(Shelf)

    def refresh_view(self) -> None:
        """Head and keys; the library is read again when the run has learned something."""
        super().refresh_view()
        self.shelf.open_store = self.library is not None
        now = (id(self.library), len(self.session.view.figures.learned))
        if now != self._loaded_for:
            self._loaded_for = now
            self._show_chosen()
            self.action_reload()

    def offers(self, action: Action) -> bool:
        """Decisions are offered where they are allowed and there is something to decide about."""
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

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Another memory is under the cursor."""
        event.stop()
        self._show_chosen()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter goes to its sheet."""
        event.stop()
        self.front("entry")

    def _show_chosen(self) -> None:
        chosen = self.shelf.chosen
        self.query_one(Entry).show_entry(chosen, self.shelf.empty_words())
        if chosen is not None and self.library is not None:
            self.console_app.start(self._show_history(self.library, chosen), group="history")
        self.query_one(KeyBar).refresh_keys()

    async def _show_history(self, library: Library, chosen: Shelved) -> None:
        history = await library.history(chosen.entry.id)
        self.query_one(Entry).show_history(chosen.entry.id, history)

    def action_decide(self, state: str) -> None:
        """Approve or reject the marked memories, or the chosen one."""
        self._decide([(each, ReviewState(state)) for each in self.shelf.targets()], "")

    def action_restore(self) -> None:
        """Back to the state in which each began."""
        self._decide([(each, first_state(each.entry)) for each in self.shelf.targets()], "restored")

    def action_remark(self, state: str) -> None:
        """Decide with a remark; with no state, add a remark alone."""
        targets = self.shelf.targets()
        if not targets or self._refused():
            return

        def decide(remark: str | None) -> None:
            if remark is not None and (remark.strip() or state):
                wanted = [(each, ReviewState(state) if state else each.state) for each in targets]
                self._decide(wanted, remark.strip())

        what = f"{len(targets)} memories" if len(targets) > 1 else "this memory"
        verb = {"approved": "Approve", "rejected": "Reject"}.get(state, "Remark on")
        self.console_app.ask_words(
            f"{verb} {what}", "enter keeps it with the decision; esc: not", decide
        )

    def action_undo(self) -> None:
        """Take the last decision back: another entry of the history."""
        if self._refused():
            return
        if not self._undo:
            self.tell("You have decided nothing here that could be taken back.")
            return
        before = dict(self._undo.pop())
        wanted = [(each, before[each.entry.id]) for each in self.shelf.every if each.entry.id in before]
        self._decide(wanted, "taken back", undoing=True)

    def _decide(
        self, wanted: Sequence[tuple[Shelved, ReviewState]], remark: str, *, undoing: bool = False
    ) -> None:
        if not wanted or self._refused():
            return
        decisions = [
            ReviewDecision(
                memory=each.entry.id,
                state=state,
                who=self.console_app.who,
                at=time.time(),
                remark=remark,
            )
            for each, state in wanted
        ]
        before = [(each.entry.id, each.state) for each, _ in wanted]
        assert self.library is not None
        self.console_app.start(self._record(self.library, decisions, before, undoing))

    async def _record(
        self,
        library: Library,
        decisions: Sequence[ReviewDecision],
        before: list[tuple[str, ReviewState]],
        undoing: bool,
    ) -> None:
        await library.decide(decisions)
        if not undoing:
            self._undo.append(before)
        self.shelf.decided({decision.memory: decision.state for decision in decisions})
        states = {decision.state.value for decision in decisions}
        count = f"{len(decisions)} memories" if len(decisions) > 1 else "1 memory"
        self.tell(f"{count}: {', '.join(sorted(states))}." + ("" if undoing else " u takes it back."))
        self._show_chosen()

    def _refused(self) -> bool:
        """Whether nothing may be decided here; says why."""
        if self.library is None:
            self.tell("No store is open, so there are no memories to decide about.")
        elif self.library.read_only:
            self.tell("This console is read-only: decisions are not possible.")
        else:
            return False
        return True

    def action_mark(self) -> None:
        """Mark or unmark the chosen memory, and go on to the next."""
        self.shelf.mark()
        self._show_chosen()

    def action_clear(self) -> None:
        """Remove the marks; where there are none, the search and the filters."""
        self.shelf.clear()
        self._show_chosen()

    def action_cycle(self, name: str) -> None:
        """The next value of a filter."""
        self.shelf.cycle(FILTERS[name])
        self._show_chosen()

    def search_for(self, words: str) -> None:
        """Narrow the list to memories that hold every word."""
        self.shelf.search = words.strip()
        self.shelf.filter()
        self._show_chosen()

    def action_copy(self) -> None:
        """Copy the revised SQL of the chosen memory."""
        chosen = self.shelf.chosen
        if chosen is None:
            self.tell("There is no memory to copy.")
            return
        self.console_app.copy(chosen.entry.revised_sql, "the revised SQL")
