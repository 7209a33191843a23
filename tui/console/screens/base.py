"""What every room has: head, panes, key bar, search, and the walk from pane to pane."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.layouts.horizontal import HorizontalLayout
from textual.screen import Screen
from textual.widget import Widget

from tui.console.actions import Action
from tui.console.ink import QUIET, Part, ink
from tui.console.kept import Choice
from tui.console.rooms import title_of
from tui.console.session import Session
from tui.console.widgets.banner import Banner
from tui.console.widgets.head import Head
from tui.console.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from textual.widgets import Input

    from tui.console.app import MeritoApp
    from tui.console.screens.jump import Spot

_STEP, _LEAST, _MOST = 5, 20, 75
"""Percent of the width that the list gets more or less at a time, at least, and at most."""


class RoomScreen(Screen[None]):
    """A screen with a tab of its own. Subclasses name their room and their panes."""

    ROOM: ClassVar[str]
    PANES: ClassVar[tuple[str, ...]]
    """Ids of the panes in the order of the tab key."""
    TITLES: ClassVar[tuple[str, ...]]
    """What they are called."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-middle"), (170, "-wide")]
    AUTO_FOCUS = ".pane"

    _share: int | None = None
    """Percent of the width that the first pane was given; None leaves it to the style sheet."""
    _named: tuple[str, bool] | None = None
    """For which pane in front, and how narrow, the titles stand."""

    @property
    def console_app(self) -> MeritoApp:
        """The application, by its own type."""
        return cast("MeritoApp", self.app)

    @property
    def session(self) -> Session:
        """The run that the head line speaks of."""
        return self.console_app.session

    def compose(self) -> ComposeResult:
        """Head, body, keys."""
        keys = self.console_app.preferences.keys
        yield Head(self.ROOM, self.session, keys, self.console_app.read_only)
        yield Banner()
        yield from self.compose_body()
        yield KeyBar(self.ROOM, keys)

    def compose_body(self) -> Iterable[Widget]:
        """The room's own panes."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Bring the first pane to the front, as wide as it was last time."""
        self._bring(self.PANES[0])
        self.console_app.built[self.ROOM] = self
        self.take_choices(self.console_app.preferences.kept.choices(self.ROOM))
        self.call_after_refresh(self._apply_share)

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another room was on show."""
        self.call_after_refresh(self.refresh_view)

    def refresh_view(self) -> None:
        """Repaint what changed. Called at most ten times a second, and only while on show."""
        self.query_one(Head).refresh_figures()
        serious = self.session.failure or self.session.view.trouble
        self.query_one(Banner).show(serious or self.console_app.notice, serious=bool(serious))
        self.query_one(KeyBar).refresh_keys()

    def offers(self, _action: Action) -> bool:
        """Whether the key bar should offer an action right now."""
        return True

    def rank(self, action: Action) -> int:
        """Where an action stands in the key bar, the lowest first."""
        return action.bar

    def key(self, action: str) -> str:
        """The key that does something, as it stands on a keyboard, for words on the screen."""
        return self.console_app.preferences.keys.shown(action)

    def way_to(self, room: str) -> str:
        """The key that leads to a room, and what the room is called."""
        return f"{self.key(f'room.{room}')}, {title_of(room)}"

    def no_store_words(self, lack: str, make: str) -> str:
        """What to do where no store is open: what is lacking for it, and how it is made."""
        then = (
            "It shows up here as soon as it is there. Another store:"
            if self.console_app.to_come is not None
            else "Then open the console on it, or on another store:"
        )
        return f"No store is open, so {lack}.\n\n{make}\n\n{then}\n  merito console --store FILE"

    def choices(self) -> dict[str, Choice]:
        """What is kept of this screen until the next start. A subclass adds its own."""
        return {} if self._share is None else {"share": self._share}

    def take_choices(self, choices: dict[str, Choice]) -> None:
        """Take up what was kept, as far as it still makes sense. A subclass takes its own."""
        share = choices.get("share")
        if isinstance(share, int) and _LEAST <= share <= _MOST:
            self._share = share

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The focused pane is the one in front."""
        if isinstance(event.widget.id, str) and event.widget.id in self.PANES:
            self._bring(event.widget.id)

    def action_next_pane(self, step: int) -> None:
        """Go round the panes."""
        here = self.focused.id if self.focused is not None else None
        index = self.PANES.index(here) if here in self.PANES else 0
        self.front(self.PANES[(index + step) % len(self.PANES)])

    def front(self, pane: str) -> None:
        """Show a pane and give it the keys."""
        self._bring(pane)
        self.query_one(f"#{pane}").focus()

    def _bring(self, pane: str) -> None:
        for each in self.PANES:
            self.query_one(f"#{each}").set_class(each == pane, "-front")
        for beside in self.query("#beside"):
            beside.set_class(bool(beside.query(f"#{pane}")), "-front")
        self._name_panes(pane)

    def _name_panes(self, front: str) -> None:
        """One pane at a time: its title names the others, so that nobody looks for them."""
        titles = dict(zip(self.PANES, self.TITLES, strict=True))
        narrow = self.has_class("-narrow")
        if (front, narrow) == self._named:
            return
        self._named = (front, narrow)
        for each, title in titles.items():
            pane = self.query_one(f"#{each}")
            parts: list[Part] = []
            for other, words in titles.items():
                shown = (words, "bold") if other == front else (words, f"not bold {QUIET}")
                parts += [(" │ ", f"not bold {QUIET}"), shown] if parts else [shown]
            pane.border_title = ink(*parts) if narrow else title

    def on_resize(self) -> None:
        """Titles depend on how many panes stand side by side."""
        self.call_after_refresh(self._retitle)

    def _retitle(self) -> None:
        self._apply_share()
        here = self.focused.id if self.focused is not None else None
        self._name_panes(here if here in self.PANES else self.PANES[0])

    def action_share(self, step: int) -> None:
        """Give the list more or less of the width."""
        first = self.query_one(f"#{self.PANES[0]}")
        if (
            self.has_class("-narrow")
            or not isinstance(first.parent, Widget)
            or not self._side_by_side()
        ):
            self.tell("The panes do not stand side by side here; there is no width to share.")
            return
        now = self._share or round(100 * first.outer_size.width / max(1, self.size.width))
        self._share = max(_LEAST, min(_MOST, now + step * _STEP))
        self._apply_share()

    def _side_by_side(self) -> bool:
        parent = self.query_one(f"#{self.PANES[0]}").parent
        row = isinstance(parent, Widget) and isinstance(parent.styles.layout, HorizontalLayout)
        return row and not self.has_class("-narrow")

    def _apply_share(self) -> None:
        if self._share is None:
            return
        first = self.query_one(f"#{self.PANES[0]}")
        if self._side_by_side():
            first.styles.width = f"{self._share}%"
        else:
            first.styles.clear_rule("width")
            first.refresh(layout=True)

    def action_jump(self) -> None:
        """A letter over every pane and row; one key goes there."""
        from tui.console.screens.jump import Jump, spots

        front = self.focused.id if self.focused is not None and self.focused.id else self.PANES[0]
        panes = [(name, self.query_one(f"#{name}")) for name in self.PANES]
        self.app.push_screen(Jump(spots(panes, front)), self._jumped)

    def _jumped(self, spot: Spot | None) -> None:
        from tui.console.screens.jump import Jumpable

        if spot is None:
            return
        self.front(spot.pane)
        pane = self.query_one(f"#{spot.pane}")
        if spot.row is not None and isinstance(pane, Jumpable):
            pane.jump_to(spot.row)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key of the search is a letter where somebody writes."""
        if action == "search" and self.focused and self.focused.check_consume_key("slash", "/"):
            return False
        return super().check_action(action, parameters)

    async def action_search(self) -> None:
        """Open the search field."""
        field = await self._search_field()
        field.add_class("-open")
        # Not `focus()`, which comes after the keys that are waiting.
        self.set_focus(field)

    async def _search_field(self) -> Input:
        from tui.console.widgets.search import SearchField

        found = self.query(SearchField)
        if found:
            return found.first()
        field = SearchField()
        await self.mount(field)
        return field

    def search_for(self, words: str) -> None:
        """Narrow the room's list to what matches; empty shows everything."""
        raise NotImplementedError

    def close_search(self, *, keep: bool) -> None:
        """Leave the search field, with or without its filter."""
        if not keep:
            self.search_for("")
        self.query_one("#search").remove_class("-open")
        self.front(self.PANES[0])

    def tell(self, words: str, *, serious: bool = False) -> None:
        """A notice in plain text."""
        self.console_app.tell(words, serious=serious)
