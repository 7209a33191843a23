"""A scrolling sheet of text blocks: attempt cards, memories, help, details.

Blocks are drawn into strips once for each version and width; scrolling and refreshing cost only
the visible lines, and no widget is ever mounted for a block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.visual import Visual

from tui.console.ink import Line


class Block(NamedTuple):
    """A part of the sheet. `version` must differ whenever `lines` would draw something else."""

    key: Hashable
    version: Hashable
    lines: Callable[[int], Sequence[Line]]
    """Width in cells -> the block's logical lines."""


class Paper(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows blocks one below the other."""

    BINDINGS = [
        Binding("up,k", "scroll_up", "up", show=False),
        Binding("down,j", "scroll_down", "down", show=False),
        Binding("pageup", "page_up", "page up", show=False),
        Binding("pagedown", "page_down", "page down", show=False),
        Binding("home,g", "scroll_home", "top", show=False),
        Binding("end,G", "scroll_end", "end", show=False),
    ]

    class Picked(Message):
        """A block was clicked."""

        def __init__(self, paper: Paper, key: Hashable) -> None:
            super().__init__()
            self.paper = paper
            self.key = key

        @property
        def control(self) -> Paper:
            """The paper it happened on."""
            return self.paper

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.set_reactive(Paper.auto_links, False)
        self._blocks: list[Block] = []
        self._drawn: dict[Hashable, tuple[Hashable, int, list[Strip]]] = {}
        self._strips: list[Strip] = []
        self._starts: dict[Hashable, int] = {}
        self._theme = ""
        self._pointed: int | None = None
        self._held: Hashable = None
        self._blank = Strip.blank(0, Style.null())

    def show(self, blocks: Sequence[Block]) -> None:
        """Replace the blocks; only those with a new version are drawn again."""
        self._blocks = list(blocks)
        if self.is_mounted and self.size.width:
            self._lay_out()

    def block_lines(self, key: Hashable) -> tuple[int, int] | None:
        """First line and number of lines of a block."""
        start = self._starts.get(key)
        return None if start is None else (start, len(self._drawn[key][2]))

    def reveal(self, key: Hashable, *, end: bool = False) -> None:
        """Scroll so that the block's beginning is in view, and as much of it as fits; or its `end`,
        where it does not fit."""
        place = self.block_lines(key)
        if place is None:
            return
        start, height = place
        top, room = self.scroll_offset.y, self.size.height
        if end and height > room:
            self.scroll_to(y=start + height - room, animate=False)
        elif start < top or height >= room:
            self.scroll_to(y=start, animate=False)
        elif start + height > top + room:
            self.scroll_to(y=start + height - room, animate=False)

    def hold(self, key: Hashable) -> None:
        """Bring this block's end into view, now and whenever the sheet gets another size; None lets
        go of it."""
        self._held = key
        if key is not None:
            self.reveal(key, end=True)

    def jump_rows(self) -> list[tuple[int, Hashable]]:
        """The blocks that begin in view: line of the pane's content, key."""
        top, room = self.scroll_offset.y, self.scrollable_content_region.height
        return [(start - top, key) for key, start in self._starts.items() if 0 <= start - top < room]

    def jump_to(self, row: Hashable) -> None:
        """Go to one of them, as a click does."""
        self.reveal(row)
        self.post_message(self.Picked(self, row))

    def lines_with(self, words: str) -> list[int]:
        """The lines in which these words stand, in any case; none for no words."""
        wanted = words.casefold()
        return [y for y, strip in enumerate(self._strips) if wanted and wanted in strip.text.casefold()]

    def point_at(self, y: int | None) -> None:
        """Show a line in reverse, and bring it into view; None points at nothing any more."""
        before, self._pointed = self._pointed, y
        for each in (before, y):
            if each is not None:
                self.refresh_line(each)
        top, room = self.scroll_offset.y, self.size.height
        if y is not None and not top <= y < top + room:
            self.scroll_to(y=max(0, y - room // 2), animate=False)

    @property
    def at_end(self) -> bool:
        """Whether the last line is in view."""
        return self.scroll_offset.y + self.size.height >= len(self._strips)

    @property
    def text(self) -> str:
        """Everything on the sheet as plain text."""
        return "\n".join(strip.text.rstrip() for strip in self._strips)

    def on_resize(self, _event: events.Resize) -> None:
        """Lay the sheet out again at its new width."""
        self._lay_out()
        if self._held is not None:
            self.reveal(self._held, end=True)

    def notify_style_update(self) -> None:
        """Another theme: every block is drawn again. Focus alone changes nothing on the sheet."""
        super().notify_style_update()
        if self.is_mounted and self.app.theme != self._theme:
            self._theme = self.app.theme
            self._drawn.clear()
            self.call_after_refresh(self._lay_out)

    def on_click(self, event: events.Click) -> None:
        """Tell which block was clicked."""
        y = self.scroll_offset.y + event.get_content_offset_capture(self).y
        key = max(
            (key for key, start in self._starts.items() if start <= y),
            key=self._starts.__getitem__,
            default=None,
        )
        if key is not None:
            self.post_message(self.Picked(self, key))

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        index = y + self.scroll_offset.y
        strip = self._strips[index] if index < len(self._strips) else self._blank
        return strip.apply_style(Style(reverse=True)) if index == self._pointed else strip

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        drawn: dict[Hashable, tuple[Hashable, int, list[Strip]]] = {}
        strips: list[Strip] = []
        self._starts, self._pointed = {}, None
        style, rich_style = self.visual_style, self.rich_style
        self._blank = Strip.blank(width, rich_style)
        for block in self._blocks:
            known = self._drawn.get(block.key)
            if known is None or known[:2] != (block.version, width):
                fresh = self._draw(block.lines(width), width, style, rich_style)
                known = (block.version, width, fresh)
            drawn[block.key] = known
            self._starts[block.key] = len(strips)
            strips += known[2]
        before, self._strips, self._drawn = self._strips, strips, drawn
        self._set_height(width, len(strips))
        self._refresh_differing(before)

    def _set_height(self, width: int, height: int) -> None:
        """The scrolling height. Where the scroll bar is always there, the screen need not be laid out
        again, which costs more than the repaint: a streaming answer grows many times a second."""
        size = Size(width, height)
        if size == self.virtual_size:
            return
        if self.styles.overflow_y != "scroll":
            self.virtual_size = size
            return
        self.set_reactive(Paper.virtual_size, size)
        self.vertical_scrollbar.window_virtual_size = height
        if self.scroll_offset.y > max(0, height - self.size.height):
            self.scroll_to(y=height, animate=False)

    def _refresh_differing(self, before: list[Strip]) -> None:
        """Repaint the visible lines that are others than before; a strip that stayed is the same
        object."""
        top = self.scroll_offset.y
        seen = slice(top, top + self.size.height)
        pairs = zip_longest(before[seen], self._strips[seen])
        differing = [y for y, (old, new) in enumerate(pairs, top) if old is not new]
        for _, run in groupby(enumerate(differing), lambda place: place[1] - place[0]):
            ys = [y for _, y in run]
            self.refresh_lines(ys[0], len(ys))

    def _draw(
        self, lines: Sequence[Line], width: int, style: VisualStyle, rich_style: Style
    ) -> list[Strip]:
        drawn: list[Strip] = []
        for content, indent, wrap in lines:
            room = max(4, width - indent)
            shown = content if wrap else content.truncate(room, ellipsis=True)
            strips = Visual.to_strips(self, shown, room, None, style, apply_selection=False)
            if indent:
                margin = Strip.blank(indent, rich_style)
                strips = [Strip.join([margin, strip]) for strip in strips]
            drawn += [strip.crop_extend(0, width, rich_style) for strip in strips]
        return drawn
