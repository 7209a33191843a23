"""Small windows above a screen: a yes-or-no question, a line of text, a sheet to read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from core.errors import MeritoError
from tui.console.ink import ACCENT, BAD, QUIET, TITLE, ink
from tui.console.widgets.judgebar import GUARD
from tui.console.widgets.paper import Block, Paper
from tui.view.legible import legible

if TYPE_CHECKING:
    from tui.console.app import MeritoApp


Take = Callable[[str], Awaitable[None] | None]
"""What is done with a text that was typed. Raises MeritoError where it cannot be."""


class Question(Widget):
    """The words of a yes-or-no question and its keys."""

    def __init__(self, asked: str, consequence: str) -> None:
        super().__init__(id="question")
        self._asked, self._consequence = asked, consequence
        self.armed = False

    def arm(self) -> None:
        """From now on the keys count, and look like it."""
        self.armed = True
        self.refresh()

    def render(self) -> Content:
        """Question, consequence, keys."""
        key = f"{ACCENT} bold" if self.armed else QUIET
        return ink(
            (self._asked, TITLE), "\n", (self._consequence, QUIET), "\n\n",
            ("y", key), " yes    ", ("n", key), " no ", ("(also enter and esc)", QUIET),
        )  # fmt: skip


class Confirm(ModalScreen[bool]):
    """Asks before something that ends something; no is the default, and keys pressed in the first
    half second are not taken for an answer."""

    BINDINGS = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,enter,escape,q,ctrl+c", "answer(False)", "no", show=False),
    ]

    def __init__(self, asked: str, consequence: str) -> None:
        super().__init__(classes="dialog")
        self._question = Question(asked, consequence)
        self._since = 0.0

    @property
    def armed(self) -> bool:
        """Whether an answer is taken by now."""
        return self._question.armed

    def compose(self) -> ComposeResult:
        """The question alone."""
        yield self._question

    def on_mount(self) -> None:
        """Start the half second."""
        self._since = monotonic()
        self.set_timer(GUARD, self._question.arm)

    def action_answer(self, yes: bool) -> None:
        """Take the answer, unless it came too early to be one."""
        if monotonic() - self._since >= GUARD:
            self.dismiss(yes)


class Words(ModalScreen[str | None]):
    """Asks for one line of text; esc gives None, after a question where something was typed.

    `take` is given the text while the field still stands. Where it raises MeritoError the field
    stays, with what was typed, and the frame says why.
    """

    BINDINGS = [Binding("escape,ctrl+c", "leave", "leave", show=False, priority=True)]

    def __init__(self, title: str, hint: str, take: Take | None = None) -> None:
        super().__init__(classes="dialog")
        self._title, self._hint = title, hint
        self._take, self._taking = take, False

    def compose(self) -> ComposeResult:
        """A field whose frame says what it is for; below it, what is wrong."""
        with Vertical(id="line"):
            yield Input(id="words")
            yield Static(id="refused")

    def on_mount(self) -> None:
        """The frame's words."""
        self.query_one("#line").border_title = Content(self._title)
        self._frame()

    def _frame(self, refused: str = "") -> None:
        self.query_one("#line").border_subtitle = Content(
            "One moment ..." if self._taking else self._hint
        )
        words = self.query_one("#refused", Static)
        words.update(ink((legible(refused, 1_000), BAD)))
        words.display = bool(refused)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter gives the text, once it is taken."""
        if self._take is None:
            self.dismiss(event.value)
        elif not self._taking:
            self._taking = True
            cast("MeritoApp", self.app).start(self._give(self._take, event.value))

    async def _give(self, take: Take, text: str) -> None:
        self._frame()
        refused = ""
        try:
            if (work := take(text)) is not None:
                await work
        except MeritoError as wrong:
            refused = str(wrong)
        except Exception:
            self.dismiss(None)
            raise
        finally:
            self._taking = False
        if refused:
            self._frame(refused)
        elif self.is_current:
            self.dismiss(text)

    def action_leave(self) -> None:
        """Nothing is said; what was typed is not thrown away without a question."""
        if not self.query_one(Input).value.strip():
            self.dismiss(None)
            return
        self.app.push_screen(Confirm("Throw away what you typed?", "Nothing is said then."), self._left)

    def _left(self, sure: bool | None) -> None:
        if sure:
            self.dismiss(None)


class FindField(Input):
    """Words to find on a sheet. Enter stays where they are, esc forgets them."""

    def __init__(self) -> None:
        super().__init__(id="find", placeholder="find on this sheet")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Go there at once."""
        cast("Sheet", self.screen).seek(event.value)

    async def on_key(self, event: events.Key) -> None:
        """Enter, esc and ctrl+c give the keys back to the sheet."""
        if event.key in ("enter", "escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            sheet = cast("Sheet", self.screen)
            if event.key != "enter":
                sheet.seek("")
            sheet.end_seeking()


class Sheet(ModalScreen[None]):
    """Something to read and scroll."""

    BINDINGS = [
        Binding("escape,q,enter,question_mark,f1,ctrl+c", "leave", "close", show=False),
        Binding("c", "copy", "copy", show=False),
        Binding("slash", "find", "find", show=False, priority=True),
        Binding("n", "next_found(1)", "next found", show=False),
        Binding("N", "next_found(-1)", "found before", show=False),
    ]

    def __init__(self, title: str, blocks: Sequence[Block], copied: str = "") -> None:
        super().__init__(classes="dialog")
        self._title, self._blocks, self._copied = title, blocks, copied
        self._sought, self._at = "", 0
        """Words that are looked for, and which of their places is pointed at."""

    def compose(self) -> ComposeResult:
        """The sheet, filling most of the screen."""
        paper = Paper(id="sheet")
        paper.border_title = Content(self._title)
        paper.border_subtitle = self._keys()
        paper.show(self._blocks)
        yield paper

    def _keys(self, found: str = "/ finds") -> Content:
        return Content(f"esc closes · {found}" + (" · c copies" if self._copied else ""))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key that opens the field is a letter in it."""
        if action == "find" and isinstance(self.focused, FindField):
            return False
        return super().check_action(action, parameters)

    async def action_find(self) -> None:
        """Ask for words, and go to where they stand while they are typed."""
        if not self.query(FindField):
            await self.mount(FindField())
        # Not `focus()`, which comes after the keys that are waiting.
        self.set_focus(self.query_one(FindField))

    def seek(self, words: str) -> None:
        """Point at the first place of these words."""
        self._sought, self._at = words, 0
        self._point()

    def action_next_found(self, step: int) -> None:
        """To the next place of the words, or the one before; after the last, the first."""
        self._at += step
        self._point()

    def _point(self) -> None:
        paper = self.query_one(Paper)
        places = paper.lines_with(self._sought)
        paper.point_at(places[self._at % len(places)] if places else None)
        if not self._sought:
            paper.border_subtitle = self._keys()
        elif places:
            place = f"{self._at % len(places) + 1} of {len(places)}"
            paper.border_subtitle = self._keys(f"{place}: n next, N before")
        else:
            paper.border_subtitle = self._keys("not found")

    def end_seeking(self) -> None:
        """The sheet has the keys again."""
        self.query(FindField).remove()
        self.query_one(Paper).focus()

    def action_copy(self) -> None:
        """Copy what the sheet is about."""
        if self._copied:
            self.app.copy(self._copied, "this")  # type: ignore[attr-defined]

    def action_leave(self) -> None:
        """Close the sheet."""
        self.dismiss(None)
