"""Replay: any stored run again, with the panes of a live one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence, Set
from time import monotonic, perf_counter, time

from textual.timer import Timer
from textual.widget import Widget

from core.errors import MeritoError
from tui.bookmarks import Bookmark
from tui.console.actions import Action, bindings_of
from tui.console.archive import Archive, StoredRun
from tui.console.screens.bookmarks import ChooseBookmark
from tui.console.screens.runs import NO_MODEL_NEEDED, NO_RUN, ChooseRun
from tui.console.screens.watch import WatchScreen
from tui.console.session import Session
from tui.console.studies import going_on
from tui.console.widgets.transport import Transport
from tui.view.chart import Mark
from tui.view.places import HINT, place_of
from tui.view.playback import Playback

_TICK = 0.1
_LOOK = 1.0
"""Seconds between two looks for a run, while there is none."""
_SLICE = 0.012
"""Seconds of reading ahead in one go; then the interface gets its turn."""
_READ_AHEAD = 64
"""Events that are read ahead at a time."""


class Replayed(Session):
    """The session of a replay: episodes are read again as far as they had come."""

    def __init__(self, archive: Archive | None, playback: Playback | None) -> None:
        super().__init__(archive=archive, replayed=True)
        self._playback = playback
        if playback is not None:
            self.view = playback.view

    async def recall(self, position: int) -> bool:
        """Read an old episode's detail again; False where it had not begun."""
        return self._playback is not None and self._playback.recall(position)


class ReplayScreen(WatchScreen):
    """A stored run with its transport."""

    ROOM = "replay"
    FOLLOWING = "following the replay"
    BINDINGS = bindings_of("replay")

    def __init__(self) -> None:
        super().__init__()
        self.playback: Playback | None = None
        self.bookmarks: Sequence[Bookmark] = ()
        self._session: Session = Replayed(None, None)
        self._ticking: Timer | None = None
        self._last = 0.0
        self._wanted: int | None = None
        """A place that is gone to once it is read."""
        self._begun = ""
        """The run that was opened unasked, or was to be."""

    @property
    def session(self) -> Session:
        """The replay's own view, beside the live run's."""
        return self._session

    def compose_body(self) -> Iterable[Widget]:
        """The panes and the transport."""
        self._session = Replayed(self.console_app.archive, None)
        yield from super().compose_body()
        yield Transport()

    def on_mount(self) -> None:
        """Begin with the run that was asked for, or with the newest."""
        self._ticking = self.set_interval(_TICK, self._tick, pause=True)
        self.console_app.start(self._begin(), group="begin")
        self.set_interval(_LOOK, self._look)

    def refresh_view(self) -> None:
        """The panes, then the transport."""
        super().refresh_view()
        self.query_one(Transport).show(self.playback, self.bookmarks)

    def offers(self, action: Action) -> bool:
        """The transport's keys are offered once a run is loaded."""
        if action.name == "replay.open":
            return self.console_app.archive is not None
        if action.name.startswith("replay."):
            return self.playback is not None
        return super().offers(action)

    def action_next_pane(self, step: int) -> None:
        """Go round the panes, and by way of the bar."""
        around = (*self.PANES, "transport")
        here = self.focused.id if self.focused is not None else None
        index = around.index(here) if here in around else 0
        pane = around[(index + step) % len(around)]
        if pane in self.PANES:
            self.front(pane)
        else:
            self.query_one(Transport).focus()

    async def _begin(self) -> None:
        wanted = self.console_app.replay_run
        if wanted is None:
            archive = self.console_app.archive
            runs = await archive.runs() if archive is not None else ()
            wanted = runs[0].id if runs else None
        if wanted is not None and wanted != self._begun:
            self._begun = wanted
            await self.load(wanted)

    def _look(self) -> None:
        """A store, or its first run, may have come since."""
        if self.playback is None and self.console_app.archive is not None and self.is_active:
            self.console_app.start(self._begin(), group="begin")

    async def load(self, run: str) -> None:
        """Read a run and stand at its beginning, playing if a speed was asked for."""
        archive = self.console_app.archive
        if archive is None:
            return
        playback = Playback(await archive.reel(run), self.console_app.replay_speed)
        playback.survey(_READ_AHEAD)
        playback.seek(1)
        self.playback, self._wanted = playback, None
        self._session = Replayed(archive, playback)
        self._read_bookmarks()
        self.watch_other()
        self._play(self.console_app.replay_run == run)
        place, self.console_app.replay_place = self.console_app.replay_place, ""
        self.console_app.start(self._survey(playback, place), group="survey")

    async def _survey(self, playback: Playback, place: str = "") -> None:
        """Read the run to its end, a little at a time, and go where somebody waits to go; in the end
        to a place that is asked for by its name."""
        since = perf_counter()
        while self.playback is playback and playback.survey(_READ_AHEAD):
            if perf_counter() - since > _SLICE:
                self._arrive()
                self.console_app.changed()
                await asyncio.sleep(0)
                since = perf_counter()
        self._arrive()
        try:
            self._go(place)
        except MeritoError as unknown:
            self.tell(str(unknown), serious=True)
        self.refresh_view()

    def _arrive(self) -> None:
        playback, wanted = self.playback, self._wanted
        if playback is not None and wanted is not None and playback.chart.surveyed >= wanted:
            self._move(lambda playback: playback.seek(wanted))

    def action_play(self) -> None:
        """Play on, or hold."""
        playback = self._loaded()
        if playback is not None:
            self._play(not playback.playing)

    def action_step_event(self, step: int) -> None:
        """One event on, or back."""
        self._move(lambda playback: playback.step(step))

    def action_step_mark(self, name: str, step: int) -> None:
        """On to the next place with this mark, or back to the one before."""
        playback, mark = self._loaded(), Mark(name)
        if playback is None:
            return
        found: list[bool] = []
        go = Playback.next if step > 0 else Playback.previous
        self._move(lambda playback: found.append(go(playback, mark)))
        if not found[0]:
            unread = "" if playback.chart.complete or step < 0 else " in what is read so far"
            self.tell(f"There is no {name} {'after' if step > 0 else 'before'} this place{unread}.")

    def action_faster(self, steps: int) -> None:
        """The next higher speed, or the next lower one."""
        self._move(lambda playback: playback.faster(steps), hold=False)

    def action_edge(self, share: float) -> None:
        """To the beginning (0) or the end (1) of the run."""
        self._seek_share(share)

    def action_go(self) -> None:
        """To a place by its name."""
        if self._loaded() is not None:
            self.console_app.ask_words("Go to", HINT, take=self._go)

    def _go(self, words: str) -> None:
        if words.strip() and self.playback is not None:
            self._seek(place_of(words, self.playback, self.bookmarks))

    def action_bookmark(self) -> None:
        """Set a bookmark here, with a name."""
        playback = self._loaded()
        if playback is None:
            return
        self._play(False)
        place, proposed = playback.at, self._name_of_here()

        def keep(name: str) -> None:
            bookmark = Bookmark(place=place, name=name.strip() or proposed)
            self.bookmarks = self.console_app.bookmarks.put(self._run, bookmark)
            self.tell(f"Bookmark set: {bookmark.name}")

        self.console_app.ask_words(
            "Name of the bookmark",
            f"enter alone names it '{proposed}'; esc sets none",
            take=keep,
        )

    def action_bookmarks(self) -> None:
        """The list of bookmarks."""
        if self._loaded() is not None:
            self._play(False)
            self.console_app.start(self._choose_bookmark())

    async def _choose_bookmark(self) -> None:
        shelf = self.console_app.bookmarks
        dialog = ChooseBookmark(shelf, self._run, self.key("replay.bookmark"))
        place = await self.app.push_screen_wait(dialog)
        self._read_bookmarks()
        if place is not None:
            self._seek(place)
        self.refresh_view()

    def action_step_bookmark(self, step: int) -> None:
        """On to the next bookmark, or back to the one before."""
        playback = self._loaded()
        if playback is None:
            return
        places = [each.place for each in self.bookmarks]
        beyond = [each for each in places if (each - playback.at) * step > 0]
        if beyond:
            self._seek(min(beyond) if step > 0 else max(beyond))
        else:
            self.tell(f"There is no bookmark {'after' if step > 0 else 'before'} this place.")

    async def action_open_run(self) -> None:
        """Choose another run."""
        archive = self.console_app.archive
        if archive is None:
            self.tell("No store is open, so there are no runs to replay.")
            return
        runs = await archive.runs()
        going = going_on(runs, await archive.written(), time())
        self.console_app.start(self._choose(runs, going))

    async def _choose(self, runs: Sequence[StoredRun], going: Set[str]) -> None:
        run = await self.app.push_screen_wait(ChooseRun(runs, going))
        if run is not None:
            await self.load(run)

    def on_transport_sought(self, event: Transport.Sought) -> None:
        """The bar was clicked, dragged, or moved by its keys."""
        self._seek_share(event.share)

    def no_run_words(self) -> str:
        """What to do where no run can be replayed."""
        if self.console_app.archive is None:
            words = self.no_store_words(
                "there is nothing to replay",
                f"Every run is stored as it happens. Make one:\n  merito demo\n\n{NO_MODEL_NEEDED}",
            )
            return f"{words}\n\nA run that somebody recorded:\n  merito replay FILE"
        return NO_RUN

    @property
    def _run(self) -> str:
        return self._session.view.figures.run

    def _loaded(self) -> Playback | None:
        if self.playback is None:
            self.tell(f"No run is loaded. {self.key('replay.open')} chooses one of the stored runs.")
        return self.playback

    def _seek_share(self, share: float) -> None:
        playback = self._loaded()
        if playback is not None:
            self._seek(round(share * len(playback)))

    def _seek(self, place: int) -> None:
        """Go to a place, or as soon as it is read."""
        playback = self._loaded()
        if playback is None:
            return
        if place > playback.chart.surveyed and not playback.chart.complete:
            self._wanted = place
            self._play(False)
        else:
            self._move(lambda playback: playback.seek(place))

    def _move(self, change: Callable[[Playback], object], *, hold: bool = True) -> None:
        playback = self._loaded()
        if playback is None:
            return
        self._wanted = None
        if hold:
            self._play(False)
        change(playback)
        self._session.view = playback.view
        self.following = True
        self.refresh_view()

    def _play(self, playing: bool) -> None:
        if self.playback is None or self._ticking is None:
            return
        self.playback.play(playing)
        self._session.view = self.playback.view
        self._last = monotonic()
        (self._ticking.resume if playing else self._ticking.pause)()
        self.refresh_view()

    def _tick(self) -> None:
        playback = self.playback
        now = monotonic()
        elapsed, self._last = now - self._last, now
        if playback is None or not self.is_active:
            return
        moved = playback.advance(elapsed)
        if not playback.playing and self._ticking is not None:
            self._ticking.pause()
        if moved:
            self.refresh_view()

    def _read_bookmarks(self) -> None:
        self.bookmarks = ()
        try:
            self.bookmarks = self.console_app.bookmarks.of(self._run)
        except MeritoError as refused:
            self.tell(str(refused), serious=True)

    def _name_of_here(self) -> str:
        view = self._session.view
        if view.live is None:
            return "beginning" if self.playback is None or not self.playback.ended else "end"
        row = view.rows[view.live]
        repair = f", repair {row.repairs}" if row.repairs else ""
        return f"question {row.position + 1}{repair}, {view.acceptance.state(row.state)}"
