"""The bookmarks of a run: go to one, name it anew, take it away, bring it back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen

from core.errors import MeritoError
from tui.bookmarks import Bookmark, Bookmarks
from tui.console.ink import ACCENT, QUIET, column, ink
from tui.console.screens.dialogs import Words
from tui.console.widgets.listing import Listing
from tui.console.widgets.transport import BOOKMARK
from tui.view.legible import one_line


class BookmarkList(Listing):
    """Bookmarks in the order of their places."""

    def __init__(self, bookmarks: Sequence[Bookmark], sets: str) -> None:
        """`sets` is the key that sets one."""
        super().__init__(id="runs")
        self.bookmarks, self._sets = bookmarks, sets
        self.border_title = Content("Bookmarks")
        self.border_subtitle = Content("enter goes there, r renames, x removes, u undoes, esc leaves")

    @property
    def row_count(self) -> int:
        """Bookmarks there are."""
        return len(self.bookmarks)

    def row_version(self, index: int) -> Hashable:
        """A bookmark is drawn anew where it is another."""
        return self.bookmarks[index]

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """Its place and its name."""
        bookmark = self.bookmarks[index]
        start = ink(
            "▸ " if selected else "  ",
            (f"{BOOKMARK} ", ACCENT),
            column(f"event {bookmark.place:,}", 16, QUIET),
        )
        return ink(start, column(one_line(bookmark.name, 300), max(1, width - start.cell_length)))

    def empty_words(self) -> str:
        """How to set one."""
        return (
            "This run has no bookmark yet. Leave with esc; "
            f"{self._sets} sets one where the replay stands."
        )


class ChooseBookmark(ModalScreen[int | None]):
    """The list of bookmarks; gives the chosen place, or None."""

    BINDINGS = [
        Binding("escape,q,ctrl+c", "leave", "leave", show=False),
        Binding("r", "rename", "rename", show=False),
        Binding("x,delete", "remove", "remove", show=False),
        Binding("u", "undo", "undo", show=False),
    ]

    def __init__(self, shelf: Bookmarks, run: str, sets: str) -> None:
        """`sets` is the key that sets one."""
        super().__init__(classes="dialog")
        self._shelf, self._run, self._sets = shelf, run, sets
        self._removed: list[Bookmark] = []

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield BookmarkList(self._shelf.of(self._run), self._sets)

    def on_mount(self) -> None:
        """Give the list the keys."""
        self.query_one(BookmarkList).focus()
        self.query_one(BookmarkList).refresh_rows()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter goes there."""
        self.dismiss(self.query_one(BookmarkList).bookmarks[event.index].place)

    def action_leave(self) -> None:
        """Stay."""
        self.dismiss(None)

    @work
    async def action_rename(self) -> None:
        """Give it another name."""
        chosen = self._chosen()
        if chosen is None:
            return
        hint = f"now: {one_line(chosen.name, 40)}; enter takes the new name, esc keeps the old one"

        def rename(name: str) -> None:
            if name.strip():
                bookmark = Bookmark(place=chosen.place, name=name.strip())
                self._show(self._shelf.put(self._run, bookmark))

        await self.app.push_screen_wait(Words("Name of the bookmark", hint, rename))

    def action_remove(self) -> None:
        """Take it away; undo brings it back."""
        chosen = self._chosen()
        if chosen is None:
            return
        try:
            self._show(self._shelf.remove(self._run, chosen.place))
        except MeritoError as refused:
            self._tell(str(refused))
        else:
            self._removed.append(chosen)

    def action_undo(self) -> None:
        """Bring back what was taken away last."""
        if self._removed:
            self._keep(self._removed.pop())

    def _keep(self, bookmark: Bookmark) -> None:
        try:
            self._show(self._shelf.put(self._run, bookmark))
        except MeritoError as refused:
            self._tell(str(refused))

    def _chosen(self) -> Bookmark | None:
        listing = self.query_one(BookmarkList)
        return listing.bookmarks[listing.cursor] if listing.row_count else None

    def _show(self, bookmarks: Sequence[Bookmark]) -> None:
        listing = self.query_one(BookmarkList)
        listing.bookmarks = bookmarks
        listing.refresh_rows()
        listing.refresh()

    def _tell(self, words: str) -> None:
        self.notify(one_line(words, 600), severity="error", markup=False)
