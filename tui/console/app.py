"""The console: rooms, themes, one reader of events, and a repaint at most ten times a second."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from inspect import CORO_CREATED, getcoroutinestate
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.app import App
from textual.filter import ANSIToTruecolor, LineFilter
from textual.screen import Screen
from textual.scrollbar import ScrollBar

import themes
from core.errors import MeritoError
from core.run.control import Control
from core.run.events import AnyEvent
from themes.palettes import DEFAULT_THEME, palettes, with_inks
from tui.bookmarks import Bookmarks
from tui.console.actions import room_bindings
from tui.console.archive import Archive
from tui.console.memory_library import Library, ReadOnly
from tui.console.preferences import Preferences
from tui.console.restraint import BY_FLAG, RECORDING, SERVED, Restraint
from tui.console.rooms import modes
from tui.console.screens.base import RoomScreen
from tui.console.session import Opened, OpenRun, Session, ToCome
from tui.console.sheet import SteadySheet
from tui.console.widgets.scrollbar import PlainBar
from tui.settings import person
from tui.view.legible import legible, one_line

if TYPE_CHECKING:
    from textual.worker import WorkType

    from tui.console.asker import Asker
    from tui.console.screens.dialogs import Take
    from tui.console.selections import Selections

_FRAME, _LONGEST_FRAME = 0.1, 0.2
"""Seconds between two repaints, on a machine that is quick and on one that is busy."""
_SHARE = 0.12
"""The share of a core that repaints should take at most."""
_LONGEST_PASTE = 100_000
"""Characters that a field takes at once."""
_PATIENCE, _TEARDOWN = 0.3, 0.8
"""Seconds that a run gets to stop by itself, and then to be taken apart, when the console closes."""


def _commands() -> type[Any]:
    from tui.console.palette import ActionCommands

    return ActionCommands


class MeritoApp(App[int]):
    """The operator console.

    `events` is a live run's stream (already recorded, if it is to be kept) and `control` its hand;
    `library` and `archive` are the store's memories and runs. `open_run` puts all of these together
    after the first paint instead; `to_come` waits for what is not there yet. Read-only means that the
    console holds neither a control nor a library that takes decisions; `recording` that it is so
    because it plays what is over. `stored` says that the events
    are of the past: what happened then is shown, not announced. `notice` stays on the screen:
    something to know about the store. `preferences` are the keys, the theme, and what is kept until
    the next start; `theme` alone stands for preferences that are nobody's.
    """

    TITLE = "Merito"
    CSS_PATH = Path(themes.__file__).parent / "console.tcss"
    MODES = modes()  # type: ignore[assignment]
    COMMANDS: ClassVar[set[Any]] = {_commands}
    BINDINGS = room_bindings()
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "f12"

    def __init__(
        self,
        *,
        events: AsyncIterator[AnyEvent] | None = None,
        control: Control | None = None,
        open_run: OpenRun | None = None,
        library: Library | None = None,
        archive: Archive | None = None,
        read_only: bool = False,
        recording: bool = False,
        theme: str = DEFAULT_THEME,
        preferences: Preferences | None = None,
        room: str = "run",
        replay_run: str | None = None,
        replay_speed: float = 1,
        to_come: ToCome | None = None,
        stored: bool = False,
        notice: str = "",
        who: str = "",
        asker: Asker | None = None,
    ) -> None:
        self.DEFAULT_MODE = room  # type: ignore[misc]  # The first room is the first screen there is.
        self._colours: dict[str, dict[str, str]] = {}
        super().__init__()
        self.preferences = preferences or Preferences(theme=theme)
        self.built: dict[str, RoomScreen] = {}
        """The rooms that were visited."""
        self.read_only = read_only
        self._recording = recording
        self.library = self._permitted(library)
        self.archive = archive
        self.notice = notice
        self.stored = stored
        self.failure: Exception | None = None
        """Why the run could not even begin."""
        self._open_run = open_run
        self.to_come = to_come
        self._goodbye = asyncio.Event()
        self._finished = asyncio.Event()
        """Set once the run has nothing more to say."""
        self.session = Session(events, None if read_only else control, archive)
        self.replay_run, self.replay_speed = replay_run, replay_speed
        self.replay_place = ""
        """Where the next replay begins; empty for the run's beginning."""
        self.bookmarks = Bookmarks()
        """Those of replays; whoever opens the console on a user's behalf says where they are kept."""
        self.who = who or person()
        self.selections: Selections | None = None
        """Choices that are kept beside the store; whoever opens the console says where."""
        self.asker = None if read_only else asker
        """Puts questions of the user's own; None where none can be put."""
        self._reader: asyncio.Task[None] | None = None
        self._painted = 0.0
        self._cost = 0.0
        """What a repaint takes of the processor, in seconds, smoothed."""
        self._paint_due = False
        self._leaving_already = self._torn_down = False
        self._begun: dict[str, Coroutine[Any, Any, None]] = {}
        """The newest piece of work of each group."""
        self._working = 0
        """Pieces of work that run beside the interface."""
        ScrollBar.renderer = PlainBar
        for palette in palettes():
            self.register_theme(palette)
        self._own_themes = frozenset(palette.name for palette in palettes())
        wanted = self.preferences.theme
        self.theme = wanted if wanted in self.available_themes else DEFAULT_THEME
        self.stylesheet = SteadySheet(variables=self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        """The theme's colours, and the inks for themes that have none; made once for each theme."""
        if self.theme not in self._colours:
            self._colours[self.theme] = with_inks(super().get_css_variables())
        self.theme_variables = self._colours[self.theme]
        return self.theme_variables

    def get_line_filters(self) -> list[LineFilter]:
        """What changes each line before it is written. The project's own themes hold no colours of
        the terminal's, so there is nothing to look for in a thousand pieces of text a second."""
        filters = super().get_line_filters()
        own = self.theme in self._own_themes
        return [each for each in filters if not (own and isinstance(each, ANSIToTruecolor))]

    async def on_event(self, event: events.Event) -> None:
        """What is pasted may hold anything; a field would hand it to the terminal as it is."""
        if isinstance(event, events.Paste):
            event.text = legible(event.text, _LONGEST_PASTE)
        await super().on_event(event)

    async def on_mount(self) -> None:
        """The first room is on its way to the screen: begin to read."""
        with suppress(NotImplementedError, RuntimeError):
            for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(name, self._told_to_leave)
        self.set_keymap(self.preferences.keys.changed)
        self.call_after_refresh(_collect_again)
        for words in self.preferences.words:
            self.tell(words, serious=True)
        self._reader = asyncio.create_task(self._read())
        self.set_interval(1.0, self._age)

    async def _read(self) -> None:
        """Put the run together, read it to its end, and keep its store open until the console
        closes."""
        try:
            async with AsyncExitStack() as stack:
                if self._open_run is not None and not await self._assemble(stack, self._open_run):
                    return
                if self.to_come is not None:
                    async for opened in self.to_come():
                        self._take(opened, steer=False)
                try:
                    await self.session.read(self.changed)
                except Exception as error:
                    self.session.failure = one_line(str(error), 400) or type(error).__name__
                    self.trouble(error)
                self._finished.set()
                await self._goodbye.wait()
        except asyncio.CancelledError:
            pass
        except Exception as error:
            self.trouble(error)
        finally:
            self._finished.set()

    async def _assemble(self, stack: AsyncExitStack, open_run: OpenRun) -> bool:
        self.session.reading = True
        self.changed()
        try:
            opened = await stack.enter_async_context(open_run())
        except Exception as error:
            self.failure = error
            self.exit(1)
            return False
        self._take(opened, steer=not self.read_only)
        return True

    def _take(self, opened: Opened, *, steer: bool) -> None:
        self.session.attach(opened, steer=steer)
        if opened.archive is None or opened.archive is not self.archive:
            self.library, self.archive = self._permitted(opened.library), opened.archive
        if opened.notice is not None:
            self.notice = opened.notice
        self.changed()

    def _permitted(self, library: Library | None) -> Library | None:
        if not self.read_only or library is None:
            return library
        return ReadOnly(library, lambda: self.restraint)

    @property
    def restraint(self) -> Restraint:
        """Why nothing is changed here, where the console is read-only."""
        return RECORDING if self._recording else SERVED if self.is_web else BY_FLAG

    async def on_unmount(self) -> None:
        """Whatever ended the console, the run is let go."""
        if self._reader is not None and not self._reader.done() and not self._torn_down:
            self._reader.cancel()
            await asyncio.wait([self._reader], timeout=_TEARDOWN)

    def changed(self) -> None:
        """Something changed: repaint soon, once."""
        if not self._paint_due and self.is_running:
            self._paint_due = True
            frame = min(max(_FRAME, self._cost / _SHARE), _LONGEST_FRAME)
            wait = max(0.001, frame - (monotonic() - self._painted))
            self.set_timer(wait, self._paint)

    def _paint(self) -> None:
        self._paint_due, self._painted = False, monotonic()
        began = process_time()
        for screen in self.screen_stack:
            if isinstance(screen, RoomScreen) and screen.is_mounted:
                screen.refresh_view()
        self.call_after_refresh(self._note_cost, began)

    def _note_cost(self, began: float) -> None:
        self._cost = 0.8 * self._cost + 0.2 * (process_time() - began)

    def _age(self) -> None:
        """Open questions grow older while nothing happens; what was said of another writer is said
        for as long as there is one."""
        if self.notice and self.archive is not None and self.notice == self.archive.notice:
            self.start(self._look_for_writer(self.archive), group="writer")
        if self.session.live and self.session.view.live is not None:
            self.changed()

    async def _look_for_writer(self, archive: Archive) -> None:
        if not await archive.written() and self.archive is archive:
            self.notice = ""
            self.changed()

    def start(self, work: Coroutine[Any, Any, None], *, group: str = "") -> None:
        """Run something beside the interface; its failure becomes a notice. A newer one of the same
        group replaces it."""
        if group:
            earlier, self._begun[group] = self._begun.get(group), work
            if earlier is not None and getcoroutinestate(earlier) == CORO_CREATED:
                earlier.close()

        async def guarded() -> None:
            await self._guarded(work)

        working: WorkType[None] = guarded
        self.run_worker(working, group=group or "work", exclusive=bool(group), exit_on_error=False)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        self._working += 1
        try:
            await work
        except Exception as error:
            self.trouble(error)
        finally:
            self._working -= 1

    def trouble(self, error: Exception) -> None:
        """A failure as a notice; what only a developer can read goes into the log."""
        if isinstance(error, MeritoError):
            self.tell(str(error), serious=True)
            return
        details = self.log_error(error)
        self.tell(f"Something went wrong: {type(error).__name__}. {details}", serious=True)

    def log_error(self, error: Exception) -> str:
        """Put a traceback into the log; says where that is, in a sentence."""
        from tui.console.log import write_traceback

        return write_traceback(error)

    def tell(self, words: str, *, serious: bool = False) -> None:
        """A notice in plain text; said again while it still stands, it stands longer, not twice."""
        shown = one_line(words, 600)
        for earlier in [each for each in self._notifications if each.message == shown]:
            self._unnotify(earlier, refresh=False)
        self.notify(
            shown,
            severity="error" if serious else "information",
            markup=False,
            timeout=12 if serious else 4,
        )

    def copy(self, text: str, what: str) -> None:
        """Copy text, and say by which way it went."""
        self.start(self._copy(text, what), group="copy")

    async def _copy(self, text: str, what: str) -> None:
        from tui.console.clipboard import native_copy

        if await native_copy(text):
            self.tell(f"Copied {what}.")
            return
        self.copy_to_clipboard(text.encode("utf-8", "replace").decode())
        self.tell(
            f"Sent {what} to the terminal's clipboard. If it does not arrive, the terminal refuses "
            "OSC 52: install wl-copy, xclip or xsel, or select with the mouse and shift."
        )

    @work
    async def confirm(self, asked: str, consequence: str, then: Callable[[], object]) -> None:
        """Do something after a yes."""
        from tui.console.screens.dialogs import Confirm

        if await self.push_screen_wait(Confirm(asked, consequence)):
            then()
            self.changed()

    @work
    async def ask_words(
        self,
        title: str,
        hint: str,
        then: Callable[[str | None], None] = lambda _text: None,
        *,
        take: Take | None = None,
    ) -> None:
        """Ask for one line of text. `take` gets it while the field still stands, and may refuse it;
        `then` gets it, or None, once the field is gone."""
        from tui.console.screens.dialogs import Words

        then(await self.push_screen_wait(Words(title, hint, take)))
        self.changed()

    async def action_room(self, name: str) -> None:
        """Go to a room."""
        if isinstance(self.screen, RoomScreen) and self.current_mode != name:
            await self.switch_mode(name)

    async def replay(self, run: str, place: str = "") -> None:
        """Go to Replay with this run, and there to a place, named as people name it (q12)."""
        from tui.console.screens.replay import ReplayScreen

        visited = "replay" in self.built
        self.replay_run, self.replay_place = run, place
        await self.action_room("replay")
        if visited and isinstance(self.screen, ReplayScreen):
            await self.screen.load(run)

    def action_help(self) -> None:
        """Every key of this screen."""
        from tui.console.screens.help import help_sheet

        screen: Screen[Any] = self.screen
        if isinstance(screen, RoomScreen):
            self.push_screen(help_sheet(screen.ROOM, self.preferences.keys))

    def action_next_theme(self) -> None:
        """The next of the project's own themes."""
        names = [palette.name for palette in palettes()]
        here = names.index(self.theme) if self.theme in names else -1
        self.action_set_theme(names[(here + 1) % len(names)])

    def action_set_theme(self, name: str) -> None:
        """Change the colours."""
        self.theme = self.preferences.kept.state.theme = name
        self.tell(f"Theme {name}.")

    def action_picture(self) -> None:
        """Save the screen as SVG in the working folder; a browser gets it as a download."""
        if self.is_web:
            self.deliver_screenshot()
            return
        try:
            saved = self.save_screenshot()
        except OSError as wrong:
            self.tell(f"The picture cannot be saved here: {wrong.strerror}.", serious=True)
            return
        self.tell(f"Saved {saved}.")

    def action_leave(self) -> None:
        """Leave; a run that goes on is asked about first."""
        if self.session.live and (self.session.control is not None or self._open_run is not None):
            self.confirm(
                "Stop the run and leave?",
                "What is finished stays; the run can be resumed later.",
                self._told_to_leave,
            )
        else:
            self._told_to_leave()

    def _told_to_leave(self) -> None:
        self._leaving = asyncio.create_task(self._leave())

    async def _leave(self) -> None:
        """Stop the run, give it a moment, then close whatever happens."""
        if self._leaving_already:
            return
        self._leaving_already = True
        self._keep_choices()
        if self.session.control is not None:
            self.session.control.stop()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._finished.wait(), _PATIENCE)
        self._goodbye.set()
        if self.asker is not None:
            with suppress(Exception):
                await asyncio.wait_for(self.asker.close(), _TEARDOWN)
        if self._reader is not None:
            if not self._finished.is_set():
                self._reader.cancel()
            await asyncio.wait([self._reader], timeout=_TEARDOWN)
            self._torn_down = True
        self.exit(0)

    def _keep_choices(self) -> None:
        """Nothing that goes wrong here keeps anybody from leaving."""
        kept = self.preferences.kept
        try:
            for room, screen in self.built.items():
                kept.keep(room, screen.choices())
            kept.write()
        except Exception as error:
            self.log_error(error)


def _collect_again() -> None:
    """What was made until the first paint stays until the end: the collector need not look at it."""
    gc.freeze()
    gc.enable()
