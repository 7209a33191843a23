"""The console as commands open it: over a run that begins now, a stored run, or a store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from core.errors import MeritoError, UsageMistake
from core.run.control import Control
from core.run.events import AnyEvent
from tui.bookmarks import Bookmarks
from tui.console.app import MeritoApp
from tui.console.preferences import load_preferences
from tui.console.selections import KeptSelections
from tui.console.session import Opened
from tui.console.terminal import run_bounded, stderr_to_log
from tui.settings import bookmarks_file, log_file, log_words, person, store_path
from tui.shell_words import typed
from tui.view.plain import summary_lines

if TYPE_CHECKING:
    from stores.store import Store
    from tui.console.asker import Asker
    from tui.engines import Engines
    from tui.order import Order
    from tui.replaying import Take
    from tui.workbench import Workbench

DONE, INTERRUPTED = 0, 130

_REDACTED = "This run is redacted: literals, rows and remarks are replaced."


class LiveRun(Protocol):
    """A run that has been put together."""

    run: str
    control: Control
    store: Store
    workbench: Workbench
    engines: Engines

    def events(self) -> AsyncIterator[AnyEvent]:
        """Its events, recorded as they pass."""
        ...


OpenLiveRun = Callable[[], AbstractAsyncContextManager[Any]]
"""Opens something that is a LiveRun."""


def run_live(opening: OpenLiveRun, order: Order | None = None, *, read_only: bool = False) -> int:
    """Open the console over a run that begins now; the run is put together after the first paint.

    With the `order` that it was made from, other questions can be put beside it. Returns the exit
    code. Raises what kept the run from beginning.
    """
    runs: list[LiveRun] = []

    @asynccontextmanager
    async def open_run() -> AsyncGenerator[Opened, None]:
        from tui.console.stored import StoreArchive
        from tui.console.stored_library import StoreLibrary

        async with opening() as live:
            runs.append(live)
            yield Opened(
                _from_the_beginning(live),
                live.control,
                StoreLibrary(live.store),
                StoreArchive(live.store),
                live.workbench,
            )

    asker = None if order is None else _asker_beside(order, runs)
    app = MeritoApp(
        open_run=open_run,
        read_only=read_only,
        preferences=load_preferences(),
        who=person(None if order is None else order.who),
        asker=asker,
    )
    if order is not None:
        app.selections = KeptSelections(store_path(None if order.store is None else str(order.store)))
    run_console(app)
    if app.failure is not None:
        raise app.failure
    return _closing_words(app, runs[0] if runs else None)


def _asker_beside(order: Order, runs: Sequence[LiveRun]) -> Asker:
    """Puts questions into the store, and to the model, of the run that goes on."""
    from tui.console.asker import Asker, folders_of

    def live() -> LiveRun:
        if not runs:
            raise MeritoError("The run is still being put together.", "Ask again in a moment.")
        return runs[0]

    return Asker(
        lambda: order,
        store=lambda: live().store,
        engines=lambda: live().engines,
        folders=folders_of(order.root),
        more=lambda: [(runs[0].workbench.folder.root, "of this run")] if runs else [],
    )


async def _from_the_beginning(live: LiveRun) -> AsyncIterator[AnyEvent]:
    """What the run did in earlier sessions, then what it does now."""
    for event in live.store.events(live.run):
        yield event
    async for event in live.events():
        yield event


def _closing_words(app: MeritoApp, live: LiveRun | None) -> int:
    figures = app.session.view.figures
    for line in summary_lines(figures):
        click.echo(line)
    if app.session.failure:
        raise MeritoError(app.session.failure, _how_to_go_on(live))
    if figures.ended != "finished":
        click.echo(_how_to_go_on(live), err=True)
        return INTERRUPTED
    if live is not None:
        click.echo(f"\nOpen it again: {typed('console', live.run, store=live.store.path)}")
    return DONE


def _how_to_go_on(live: LiveRun | None) -> str:
    if live is None:
        return "Nothing was begun."
    again = typed("run", "--resume", live.run, store=live.store.path)
    return f"Everything finished is kept. Go on with: {again}"


def replay_in_console(take: Take, speed: float | None, *, notice: str = "") -> int:
    """Open the console on the replay of a run, playing; on its store where it lies in one. `notice`
    stays on the screen."""
    from stores.permission import only_reading
    from stores.specs import specs_path
    from tui.console.recorded import TakeArchive
    from tui.console.stored import StoreArchive
    from tui.console.stored_library import StoreLibrary

    with only_reading():
        app = MeritoApp(
            events=_told(take),
            stored=True,
            library=None if take.store is None else StoreLibrary(take.store),
            archive=TakeArchive(take) if take.store is None else StoreArchive(take.store),
            room="replay",
            replay_run=take.run,
            replay_speed=speed or 5,
            preferences=load_preferences(),
            read_only=True,
            recording=True,
            notice=notice or _REDACTED * take.redacted,
        )
        if take.store is not None and specs_path(take.store.path).exists():
            app.selections = KeptSelections(take.store.path)
        run_console(app, marks=True)
    return DONE


async def _told(take: Take) -> AsyncIterator[AnyEvent]:
    """What the run came to, for the rooms beside Replay."""
    for event in take.events():
        yield event


def open_console(
    path: Path,
    run: str | None,
    *,
    read_only: bool,
    theme: str | None,
    root: Path | None = None,
    who: str | None = None,
) -> int:
    """Open the console on a store, or on none where there is no file: then it says what to do.
    `root` holds databases that can be asked about."""
    from stores.permission import only_reading

    preferences = load_preferences(theme)
    asker = _asker_alone(path, root)
    with ExitStack() as stack:
        if read_only:
            stack.enter_context(only_reading())
        store = _existing(stack, path, run)
        app = MeritoApp(
            **_shown(stack, path, store, run, asker),
            read_only=read_only,
            preferences=preferences,
            stored=True,
            asker=asker,
            who=person(who),
        )
        app.selections = KeptSelections(path)
        run_console(app)
    return DONE


def _existing(stack: ExitStack, path: Path, run: str | None) -> Store | None:
    """The store, for reading and reviewing; None where there is none yet."""
    if path.exists():
        from stores.store import Store

        return stack.enter_context(Store.open(path, mode="review"))
    if run is not None:
        raise UsageMistake(f"There is no store at {path}, so no run {run}.", "Name one: --store.")
    return None


def _shown(
    stack: ExitStack, path: Path, store: Store | None, run: str | None, asker: Asker
) -> dict[str, Any]:
    """What the console begins with: the store and one of its runs, as far as they are there; what is
    not is waited for."""
    from tui.console.waiting import arrivals, first_run

    if store is None:
        return {"to_come": lambda: arrivals(stack, path, own=lambda: asker.writing)}
    from tui.console.stored import StoreArchive
    from tui.console.stored_library import StoreLibrary

    there: dict[str, Any] = {
        "library": StoreLibrary(store),
        "archive": StoreArchive(store),
        "notice": store.notice,
    }
    runs = store.runs()
    chosen = store.run(run).id if run is not None else (runs[0].id if runs else None)
    if chosen is None:
        alone = Opened(None, None, **there)
        return there | {"to_come": lambda: first_run(store, alone)}
    return there | {"events": _watched(store, chosen), "replay_run": chosen}


def _asker_alone(path: Path, root: Path | None) -> Asker:
    """Puts questions where no run goes on: model and store are opened with the first one."""
    from tui.console.asker import Asker, folders_of

    def order() -> Order:
        from tui.order import Order

        return Order(stream="", store=path)

    return Asker(order, folders=folders_of(root))


async def _watched(store: Store, run: str) -> AsyncIterator[AnyEvent]:
    """A stored run; one that another process is writing goes on as it is written."""
    if store.written():
        async for event in store.follow(run):
            yield event
        return
    for event in store.events(run):
        yield event


def run_console(app: MeritoApp, *, marks: bool = False) -> None:
    """Give the terminal to the console, and take it back clean; `marks` lets bookmarks be set also
    where the store is only read. Raises MeritoError where it broke."""
    app.bookmarks = Bookmarks(bookmarks_file(), read_only=app.read_only and not marks)
    log = log_file()
    with stderr_to_log(log):
        run_bounded(app)
    if app.return_code and app.failure is None:
        raise MeritoError("The console broke down; nothing that was finished is lost.", log_words())
