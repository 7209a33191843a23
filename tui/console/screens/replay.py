"""Replay: any stored run again, with the panes of a live one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from textual.timer import Timer
from textual.widget import Widget

from tui.console.actions import Action, bindings_of
from tui.console.library import StoredRun
from tui.console.screens.runs import ChooseRun
from tui.console.screens.watch import WatchScreen
from tui.console.session import Session
from tui.console.widgets.transport import Transport
from tui.view.playback import Playback

_TICK = 0.1


class ReplayScreen(WatchScreen):
    """A stored run with its transport."""

    ROOM = "replay"
    BINDINGS = bindings_of("replay")

    def __init__(self) -> None:
        super().__init__()
        self.playback: Playback | None = None
        self._session = Session(replayed=True)
        self._ticking: Timer | None = None
        self._last = 0.0

    @property
    def session(self) -> Session:
        """The replay's own view, beside the live run's."""
        return self._session

    def compose_body(self) -> Iterable[Widget]:
        """The panes and the transport."""
        self._session = Session(archive=self.console_app.archive, replayed=True)
        yield from super().compose_body()
        yield Transport()

    def on_mount(self) -> None:
        """Begin with the run that was asked for, or with the newest."""
        self._ticking = self.set_interval(_TICK, self._tick, pause=True)
        self.console_app.start(self._begin())

    def refresh_view(self) -> None:
        """The panes, then the transport."""
        super().refresh_view()
        self.query_one(Transport).show(self.playback)

    def offers(self, action: Action) -> bool:
        """The transport's keys are offered once a run is loaded."""
        if action.name == "replay.open":
            return self.console_app.archive is not None
        return not action.name.startswith("replay.") or self.playback is not None

    async def _begin(self) -> None:
        wanted = self.console_app.replay_run
        if wanted is None:
            archive = self.console_app.archive
            runs = await archive.runs() if archive is not None else ()
            wanted = runs[0].id if runs else None
        if wanted is not None:
            await self.load(wanted)

    async def load(self, run: str) -> None:
        """Read a run and stand at its beginning, playing if a speed was asked for."""
        archive = self.console_app.archive
        if archive is None:
            return
        self.playback = Playback(await archive.events(run), self.console_app.replay_speed)
        self.playback.seek(1)
        self._session.view = self.playback.view
        self.watch_other()
        self._play(self.console_app.replay_run == run)

    def action_play(self) -> None:
        """Play on, or hold."""
        playback = self._loaded()
        if playback is not None:
            self._play(not playback.playing)

    def action_forward(self) -> None:
        """One event forward."""
        self._move(lambda playback: playback.step(1))

    def action_back(self) -> None:
        """One event back."""
        self._move(lambda playback: playback.step(-1))

    def action_next_question(self) -> None:
        """Forward to the next question."""
        self._move(Playback.next_question)

    def action_previous_question(self) -> None:
        """Back to the question before."""
        self._move(Playback.previous_question)

    def action_faster(self) -> None:
        """The next higher speed."""
        self._move(lambda playback: playback.faster(1), hold=False)

    def action_slower(self) -> None:
        """The next lower speed."""
        self._move(lambda playback: playback.faster(-1), hold=False)

    async def action_open_run(self) -> None:
        """Choose another run."""
        archive = self.console_app.archive
        if archive is None:
            self.tell("No store is open, so there are no runs to replay.")
            return
        self.console_app.start(self._choose(await archive.runs()))

    async def _choose(self, runs: Sequence[StoredRun]) -> None:
        run = await self.app.push_screen_wait(ChooseRun(runs))
        if run is not None:
            await self.load(run)

    def on_transport_sought(self, event: Transport.Sought) -> None:
        """A click on the bar."""
        self._move(lambda playback: playback.seek(round(event.share * len(playback.events))))

    def no_run_words(self) -> str:
        """What to do where no run can be replayed."""
        if self.console_app.archive is None:
            return (
                "No store is open, so there is nothing to replay.\n\n"
                "Every run is stored as it happens. Make one:\n  merito demo\n\n"
                "or name a store:\n  merito console --store FILE"
            )
        return "No run is stored yet. Make one:\n  merito demo"

    def _loaded(self) -> Playback | None:
        if self.playback is None:
            self.tell("No run is loaded. o chooses one of the stored runs.")
        return self.playback

    def _move(self, change: Callable[[Playback], None], *, hold: bool = True) -> None:
        playback = self._loaded()
        if playback is None:
            return
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
        if playback is None or self.app.screen is not self:
            return
        moved = playback.advance(elapsed)
        if not playback.playing and self._ticking is not None:
            self._ticking.pause()
        if moved:
            self.refresh_view()
