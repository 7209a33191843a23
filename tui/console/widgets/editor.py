"""Where a person writes SQL: in colour, with the schema's names at the tab key."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from core.database.schema import Schema
from tui.console.ink import ACCENT, QUIET, Part, ink
from tui.view.completion import Completing, completions
from tui.view.legible import legible_in_place, one_line
from tui.view.sql_tokens import tokens

_COLOURS = {
    "keyword": "ink-keyword",
    "string": "ink-string",
    "number": "ink-number",
    "comment": "ink-quiet",
}
_THEME = "merito"


class Offer(Widget):
    """The names that fit at the cursor, on one line."""

    def __init__(self) -> None:
        super().__init__(id="offer")
        self._completing, self._chosen = Completing(0), 0

    def show(self, completing: Completing, chosen: int) -> None:
        """Offer these; `chosen` is the one that tab takes."""
        if (completing, chosen) != (self._completing, self._chosen):
            self._completing, self._chosen = completing, chosen
            self.refresh()

    def render(self) -> Content:
        """The chosen one first, as many more as fit."""
        candidates = self._completing.candidates
        if not candidates:
            return ink((" the schema's names come while you type", QUIET))
        chosen = candidates[self._chosen]
        line = ink(
            (" tab ", f"{ACCENT} bold"),
            (one_line(chosen.text, 60), "bold"),
            (f" {one_line(chosen.about, 60)}", QUIET),
        )
        others = [*candidates[self._chosen + 1 :], *candidates[: self._chosen]]
        parts: list[Part] = [("   ctrl+n ", ACCENT)] if others else []
        for each in others:
            part: Part = (one_line(each.text, 60) + "  ", QUIET)
            if ink(line, *parts, part).cell_length > self.size.width - 2:
                parts.append(("...", QUIET))
                break
            parts.append(part)
        return ink(line, *parts)


class SqlEditor(TextArea):
    """Tab takes the name that is offered, ctrl+n and ctrl+p go through the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", show=False),
        Binding("ctrl+n", "choose(1)", "next name", show=False),
        Binding("ctrl+p", "choose(-1)", "name before", show=False),
    ]

    class Offered(Message):
        """Other names fit than before."""

        def __init__(self, completing: Completing, chosen: int) -> None:
            super().__init__()
            self.completing, self.chosen = completing, chosen

    def __init__(self, text: str) -> None:
        super().__init__(
            text, id="editor", show_line_numbers=False, soft_wrap=True, highlight_cursor_line=False
        )
        self.schema: Schema | None = None
        self._completing, self._chosen = Completing(0), 0

    def on_mount(self) -> None:
        """In the colours of the console's theme, also after it changes."""
        self._colour()
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._colour())
        self.move_cursor(self.document.end)

    def know(self, schema: Schema) -> None:
        """From now on these names are offered."""
        self.schema = schema
        self._offer()

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn: a model's SQL may hold what a terminal would obey. Signs are put in
        before rich sees the line, which would take some of it out and move the cursor's columns."""
        line = legible_in_place(self.document.get_line(line_index))
        return Text(line, end="", no_wrap=True)

    def on_text_area_selection_changed(self) -> None:
        """The cursor moved, by typing or otherwise."""
        self._offer()

    def action_complete(self) -> None:
        """Put the chosen name where the one that was begun stands; with none, go on to the next
        field."""
        if not self._completing.candidates:
            self.screen.focus_next()
            return
        chosen = self._completing.candidates[self._chosen].text
        self.replace(chosen, self._location(self._completing.start), self.cursor_location)

    def action_choose(self, step: int) -> None:
        """Another of the names."""
        if self._completing.candidates:
            self._chosen = (self._chosen + step) % len(self._completing.candidates)
            self.post_message(self.Offered(self._completing, self._chosen))

    def _offer(self) -> None:
        found = Completing(0)
        if self.schema is not None and self.selection.is_empty:
            found = completions(self.schema, self.text, self._offset())
        if found != self._completing:
            self._completing, self._chosen = found, 0
            self.post_message(self.Offered(found, 0))

    def _starts(self) -> list[int]:
        """The character at which each line begins."""
        return [0, *accumulate(len(line) + 1 for line in self.document.lines)]

    def _offset(self) -> int:
        row, column = self.cursor_location
        return self._starts()[row] + column

    def _location(self, offset: int) -> tuple[int, int]:
        starts = self._starts()
        row = min(bisect_right(starts, offset) - 1, self.document.line_count - 1)
        return row, offset - starts[row]

    def _colour(self) -> None:
        colours = self.app.theme_variables
        styles = {
            kind: Style.parse(colours[name]) for kind, name in _COLOURS.items() if name in colours
        }
        styles["keyword"] = styles.get("keyword", Style()) + Style(bold=True)
        self.register_theme(TextAreaTheme(name=_THEME, syntax_styles=styles))
        self.theme = "css"
        self.theme = _THEME
        self._build_highlight_map()
        self.refresh()

    def _build_highlight_map(self) -> None:
        """Colour by the console's own tokens: they need no grammar and no parser to be installed.
        Columns count in bytes, which is how the widget's own highlighter counts them."""
        self._line_cache.clear()
        highlights: dict[int, list[Any]] = self._highlights
        highlights.clear()
        lines = self.document.lines
        starts = self._starts()
        for token in tokens(self.text):
            if token.kind not in _COLOURS:
                continue
            row = bisect_right(starts, token.start) - 1
            while row < len(lines) and starts[row] < token.end:
                line = lines[row]
                first = max(0, token.start - starts[row])
                last = min(len(line), token.end - starts[row])
                span = _bytes(line[:first]), _bytes(line[:last]), token.kind
                highlights[row].append(span)
                row += 1


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
