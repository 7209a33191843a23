"""Selection: the choices that were made from pools, question by question, with what each rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from core.errors import MeritoError
from tui.console.actions import Action, bindings_of
from tui.console.ink import QUIET, Line, line
from tui.console.kept import Choice
from tui.console.screens.base import RoomScreen
from tui.console.widgets.choices import ChoiceList
from tui.console.widgets.keybar import KeyBar
from tui.console.widgets.listing import Listing
from tui.console.widgets.paper import Block, Paper
from tui.console.widgets.search import no_match
from tui.console.widgets.selection import selection_blocks
from tui.view.legible import one_line

if TYPE_CHECKING:
    from stores.specs import KeptPool, KeptSelection

NEWCOMER = (
    "",
    "A pool is a file of questions with candidate queries, one JSON object a line:",
    "question_id, db_id, question, candidates: [{source, sql}], perhaps gold_sql.",
    "Candidates with equal results form a group; a method chooses one.",
    "",
    "With no model at all:",
    "  merito select pool.jsonl --root databases --method majority",
    "With the papers' method and its memories of similar questions:",
    "  merito specs build train.json",
    "  merito select pool.jsonl --root databases --method map-sql",
    "All methods compared:",
    "  merito bench select pool.jsonl --root databases",
    "In a run, the first SQL of each question may be chosen the same way:",
    "  merito run STREAM --initial select --candidates 8",
)
"""What to do where nothing has been chosen yet; all of it fits on a small screen."""


class SelectionScreen(RoomScreen):
    """Questions at the left, the choice beside."""

    ROOM = "selection"
    PANES = ("choices", "selection")
    TITLES = ("Choices", "Selection")
    BINDINGS = bindings_of("selection")

    def __init__(self) -> None:
        super().__init__()
        self._pools: Sequence[KeptPool] = ()
        self._pool: str = ""
        self._method: str = ""
        """Whose choices are listed."""
        self._kept: Sequence[KeptSelection] = ()
        self._drawn: object = None
        self._loading = False
        self._trouble = ""

    def compose_body(self) -> Iterable[Widget]:
        """The list and the sheet."""
        with Container(id="panes"):
            yield ChoiceList()
            yield Paper(id="selection", classes="pane")

    def on_mount(self) -> None:
        """Read what is kept."""
        self.listing.no_rows = self._no_rows
        self.action_reload()

    def on_screen_resume(self) -> None:
        """Something may have been chosen while another room was on show."""
        if not self._kept:
            self.action_reload()
        super().on_screen_resume()

    def refresh_view(self) -> None:
        """Head and keys, and the choice under the cursor."""
        super().refresh_view()
        self._show()

    @property
    def listing(self) -> ChoiceList:
        """The questions."""
        return self.query_one(ChoiceList)

    @property
    def shown(self) -> KeptSelection | None:
        """The choice under the cursor."""
        return self.listing.choice

    def action_reload(self) -> None:
        """Read again what is kept beside the store."""
        if not self._loading:
            self._loading = True
            self.console_app.start(self._load())

    async def _load(self) -> None:
        source = self.console_app.selections
        self._trouble = ""
        try:
            self._pools = () if source is None else await source.pools()
            names = [each.pool for each in self._pools]
            if self._pool not in names:
                self._pool = names[0] if names else ""
            self._kept = await source.selections(self._pool) if source and self._pool else ()
        except MeritoError as wrong:
            self._trouble, self._pools, self._kept = str(wrong), (), ()
        finally:
            self._loading = False
        self._fill()

    def _fill(self) -> None:
        methods = self._methods()
        if self._method not in methods:
            self._method = _BEST if _BEST in methods else (methods[0] if methods else "")
        self.listing.fill([k for k in self._kept if k.selection.method == self._method])
        self._drawn = None
        self._subtitle()
        self._show()
        self.query_one(KeyBar).refresh_keys()

    def _methods(self) -> list[str]:
        return list(dict.fromkeys(each.selection.method for each in self._kept))

    def _subtitle(self) -> None:
        where = f"{one_line(Path(self._pool).name, 40)}, {self._method}" if self._pool else ""
        words = f", search: {one_line(self.listing.search, 40)}" if self.listing.search else ""
        self.listing.border_subtitle = Content(where + words)

    def _show(self) -> None:
        """Draw the choice, where it is another one."""
        kept = self.shown
        if kept is self._drawn and kept is not None:
            return
        self._drawn = kept
        sheet = self.query_one("#selection", Paper)
        if kept is None:
            sheet.show([Block("none", (self._trouble, len(self._kept)), self._nothing)])
            return
        heading = Block("question", (kept.pool, kept.question.id), lambda _width: _question(kept))
        sheet.show([heading, *selection_blocks(kept.candidates, kept.selection)])

    def _nothing(self, _width: int) -> list[Line]:
        if self._trouble:
            return [line(one_line(self._trouble, 400), indent=1)]
        if self._kept:
            return [line(("No choice matches the search.", QUIET), indent=1)]
        words = "The groups, ranks and grounds of a choice will stand here."
        return [line((words, QUIET), indent=1)]

    def _no_rows(self) -> str:
        if self._kept:
            return no_match(self.listing, "question")
        if self.console_app.selections is None:
            words = "A recording holds no choices. Make some, then open: merito console"
            return "\n".join((words, *NEWCOMER))
        nothing = "Nothing has been chosen from a pool yet."
        return "\n".join((f"{nothing} {self.key('selection.reload')} looks again.", *NEWCOMER))

    def offers(self, action: Action) -> bool:
        """Another pool or method is offered where there is one."""
        several = {
            "selection.pool": len(self._pools) > 1,
            "selection.method": len(self._methods()) > 1,
        }
        return several.get(action.name, True)

    def action_next_pool(self) -> None:
        """The next pool."""
        names = [each.pool for each in self._pools]
        if len(names) < 2:
            self.tell("There is no other pool.")
            return
        self._pool = names[(names.index(self._pool) + 1) % len(names)]
        self.action_reload()

    def action_next_method(self) -> None:
        """The same question by the next method."""
        methods = self._methods()
        if len(methods) < 2:
            self.tell("Only one method has chosen here.")
            return
        here = self.shown
        self._method = methods[(methods.index(self._method) + 1) % len(methods)]
        self._fill()
        if here is not None:
            self.listing.go_to(here.question.id)
            self._show()

    def action_copy(self) -> None:
        """Copy the chosen SQL."""
        kept = self.shown
        if kept is None or kept.selection.choice is None:
            self.tell("There is no SQL to copy here.")
            return
        self.console_app.copy(kept.candidates.executed[kept.selection.choice].sql, "the SQL")

    def search_for(self, words: str) -> None:
        """Narrow the list."""
        self.listing.narrow(words)
        self._subtitle()
        self._show()

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Another question."""
        event.stop()
        self._show()
        self.query_one("#selection", Paper).scroll_home(animate=False)

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter goes to the sheet."""
        event.stop()
        self.front("selection")

    def choices(self) -> dict[str, Choice]:
        """The method, besides what every room keeps."""
        return super().choices() | ({"method": self._method} if self._method else {})

    def take_choices(self, choices: dict[str, Choice]) -> None:
        """Take up the method."""
        super().take_choices(choices)
        method = choices.get("method")
        if isinstance(method, str):
            self._method = method


_BEST = "map-sql"
"""Listed first where it is among the methods."""


def _question(kept: KeptSelection) -> list[Line]:
    lines = [
        line(
            (f"{one_line(kept.question.id, 40)}  ", QUIET),
            (one_line(kept.question.text, 600), "bold"),
        ),
        line((f"database {one_line(kept.question.database, 80)}", QUIET)),
    ]
    if kept.question.evidence:
        lines.append(line((f"evidence {one_line(kept.question.evidence, 400)}", QUIET)))
    if kept.consistent is not None:
        words = "the same" if kept.consistent else "another"
        lines.append(line((f"a second presentation led to {words} choice", QUIET)))
    lines += [line((one_line(problem, 300), "$ink-warn")) for problem in kept.candidates.problems]
    return lines
