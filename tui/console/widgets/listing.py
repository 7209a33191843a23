"""A list of any length with a cursor, drawn line by line: only visible lines cost anything."""

from __future__ import annotations

from collections.abc import Hashable

from textual import events
from textual.binding import Binding
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


class Listing(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows by index; a subclass says how many there are and what each one shows."""

    COMPONENT_CLASSES = {"listing--cursor", "listing--cursor-dim"}

    BINDINGS = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "move_page(-1)", "page up", show=False),
        Binding("pagedown", "move_page(1)", "page down", show=False),
        Binding("home,g", "move_to(0)", "first", show=False),
        Binding("end,G", "move_to(-1)", "last", show=False),
        Binding("enter", "choose", "open", show=False),
    ]

    cursor: var[int] = var(0, init=False)

    class Moved(Message):
        """A person moved the cursor."""

        def __init__(self, listing: Listing, index: int) -> None:
            super().__init__()
            self.listing = listing
            self.index = index

        @property
        def control(self) -> Listing:
            """The list it happened on."""
            return self.listing

    class Chosen(Moved):
        """A person opened the row under the cursor."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.set_reactive(Listing.auto_links, False)
        self._lines: LRUCache[Hashable, Strip] = LRUCache(512)
        self._shown: list[Hashable] = []
        self._said = ""
        """What stood there while there was no row."""
        self._wrapped: tuple[str, int, list[Content]] = ("", 0, [])
        """Words for no row, a width, and the lines that they make there."""
        self._theme = ""
        self._width = 0

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row_version(self, index: int) -> Hashable:
        """Differs whenever `row_content` would draw something else."""
        raise NotImplementedError

    def row_content(self, index: int, width: int, selected: bool) -> Content:
        """What one row shows in `width` cells."""
        raise NotImplementedError

    def empty_words(self) -> str:
        """What stands where there is no row: it says what to do next."""
        return ""

    def refresh_rows(self) -> None:
        """Take in what changed: repaint only the visible lines that differ."""
        count = self.row_count
        if self.virtual_size.height != max(1, count):
            self.virtual_size = Size(self._width, max(1, count))
            self.refresh()
        if not count and self._said != (words := self.empty_words()):
            self._said = words
            self.refresh()
        if count and self.cursor >= count:
            self.set_reactive(Listing.cursor, count - 1)
        top = self.scroll_offset.y
        keys = [self._key(index) for index in range(top, min(count, top + self.size.height))]
        for offset, key in enumerate(keys):
            if offset >= len(self._shown) or self._shown[offset] != key:
                self.refresh_line(top + offset)
        if len(keys) < len(self._shown):
            self.refresh()
        self._shown = keys

    def select(self, index: int, *, ahead: bool = False) -> None:
        """Put the cursor on a row without saying that a person did. `ahead` scrolls so far that the
        next ones need no scrolling."""
        if not self.row_count:
            return
        index = max(0, min(index, self.row_count - 1))
        if index != self.cursor:
            before, self.cursor = self.cursor, index
            self.refresh_line(before)
            self.refresh_line(index)
        self._reveal(index, ahead=ahead)

    def action_move(self, step: int) -> None:
        """Move the cursor by rows."""
        self._go(self.cursor + step)

    def action_move_page(self, step: int) -> None:
        """Move the cursor by pages."""
        self._go(self.cursor + step * max(1, self.size.height - 1))

    def action_move_to(self, index: int) -> None:
        """Move the cursor to the first (0) or last (-1) row."""
        self._go(index if index >= 0 else self.row_count - 1)

    def action_choose(self) -> None:
        """Open the row under the cursor."""
        if self.row_count:
            self.post_message(self.Chosen(self, self.cursor))

    def jump_rows(self) -> list[tuple[int, Hashable]]:
        """The rows in view: line of the pane's content, index."""
        top = self.scroll_offset.y
        seen = range(top, min(self.row_count, top + self.scrollable_content_region.height))
        return [(index - top, index) for index in seen]

    def jump_to(self, row: Hashable) -> None:
        """Go to one of them, as a person does."""
        if isinstance(row, int):
            self._go(row)

    def on_click(self, event: events.Click) -> None:
        """Select with the mouse; a second click opens."""
        index = self.scroll_offset.y + event.get_content_offset_capture(self).y
        if 0 <= index < self.row_count:
            again = index == self.cursor and event.chain > 1
            self._go(index)
            if again:
                self.action_choose()

    def on_resize(self, _event: events.Resize) -> None:
        """Keep the selected row in view whatever the new size."""
        self._width = self.scrollable_content_region.width
        self.virtual_size = Size(self._width, max(1, self.row_count))
        self._reveal(self.cursor)
        self.refresh()

    def on_focus(self) -> None:
        """The cursor looks different in the pane that has the keys."""
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        """The same, the other way."""
        self.refresh_line(self.cursor)

    def notify_style_update(self) -> None:
        """Another theme: nothing drawn is valid any more."""
        super().notify_style_update()
        if self.is_mounted and self.app.theme != self._theme:
            self._theme = self.app.theme
            self._lines.clear()
            self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible lines, as wide as the list is now: a paint may come before `on_resize` does."""
        self._width = self.scrollable_content_region.width
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        width = self._width
        index = y + self.scroll_offset.y
        if index >= self.row_count:
            words = self._empty_line(y, width) if not self.row_count else None
            return words or Strip.blank(width, self.rich_style)
        key = (self._key(index), width)
        strip = self._lines.get(key)
        if strip is None:
            strip = self._lines[key] = self._draw(index, width)
        return strip

    def _key(self, index: int) -> Hashable:
        selected = index == self.cursor
        return (index, self.row_version(index), selected, selected and self.has_focus)

    def _draw(self, index: int, width: int) -> Strip:
        selected = index == self.cursor
        content = self.row_content(index, width, selected).truncate(width, ellipsis=True)
        style = self.visual_style
        if selected:
            name = "listing--cursor" if self.has_focus else "listing--cursor-dim"
            style = self.get_visual_style(name)
        strips = Visual.to_strips(self, content, width, 1, style, apply_selection=False)
        strip = strips[0] if strips else Strip.blank(width, style.rich_style)
        return strip.crop_extend(0, width, style.rich_style)

    def _empty_line(self, y: int, width: int) -> Strip | None:
        words = self.empty_words()
        if self._wrapped[:2] != (words, width):
            self._wrapped = (words, width, Content(words).wrap(max(4, width - 2)))
        lines = self._wrapped[2]
        if not 1 <= y <= len(lines):
            return None
        content = Content.assemble(" ", lines[y - 1])
        strips = Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False)
        return strips[0].crop_extend(0, width, self.rich_style) if strips else None

    def _go(self, index: int) -> None:
        if self.row_count:
            self.select(index)
            self.post_message(self.Moved(self, self.cursor))

    def _reveal(self, index: int, *, ahead: bool = False) -> None:
        top, room = self.scroll_offset.y, max(1, self.size.height)
        if index < top:
            self.scroll_to(y=index, animate=False)
        elif index >= top + room:
            self.scroll_to(y=index - (room // 4 if ahead else room - 1), animate=False)
