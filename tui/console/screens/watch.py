"""Watching a run: queue, episode and memories side by side. Run and Replay are both this."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from tui.console.actions import Action
from tui.console.screens.attempts import AttemptScreen
from tui.console.widgets.episode import Episode
from tui.console.widgets.head import Head
from tui.console.widgets.listing import Listing
from tui.console.widgets.memories import Memories
from tui.console.widgets.paper import Paper
from tui.console.widgets.queue import Queue
from tui.view.episode_view import EpisodeView
from tui.view.legible import one_line


class WatchScreen(AttemptScreen):
    """Three panes over one session."""

    PANES = ("queue", "episode", "memories")
    TITLES = ("Queue", "Episode", "Memory used")
    FOLLOWING: ClassVar[str] = "following live"
    """What it is called that the panes go with the newest question."""

    def __init__(self) -> None:
        super().__init__()
        self.following = self.follows = True
        """Whether the panes go with the live question: now, and as a person chose it by its key."""
        self._drawn: tuple[object, ...] | None = None
        self._where = ""
        self._recalling: int | None = None

    def compose_body(self) -> Iterable[Widget]:
        """Queue, episode, memories."""
        with Container(id="panes"):
            yield Queue(self.session, self.no_run_words)
            with Container(id="beside"):
                yield Episode()
                yield Memories()

    @property
    def queue(self) -> Queue:
        """The list of questions."""
        return self.query_one(Queue)

    @property
    def episode(self) -> EpisodeView | None:
        """The chosen question's episode, where its detail is at hand."""
        position = self.queue.position
        return None if position is None else self.session.view.episode(position)

    def watch_other(self) -> None:
        """The session now holds another run: begin at its beginning."""
        self.query_one(Head).watch_session(self.session)
        self.queue.watch_session(self.session)
        self.following, self._attempt, self._drawn = True, None, None
        self.refresh_view()

    def refresh_view(self) -> None:
        """Queue, follow, episode, memories: each only where it changed."""
        super().refresh_view()
        queue = self.queue
        queue.refresh_queue()
        live = self.live_position()
        if self.following and live is not None and queue.position != live:
            queue.select_position(live)
            self._attempt = None
        self._subtitle()
        self._show_episode()

    def _begin_reading(self, sheet: Episode, episode: EpisodeView | None) -> None:
        """A finished episode is read from its beginning, an open one where it stands."""
        sheet.scroll_home(animate=False)
        if episode is not None and episode.outcome is None and episode.attempts:
            sheet.reveal((episode.position, len(episode.attempts) - 1))

    def no_run_words(self) -> str:
        """What to do where there is no run to watch."""
        raise NotImplementedError

    def _subtitle(self) -> None:
        where = self.FOLLOWING if self.following else f"staying ({self.key('watch.follow')} follows)"
        if not self.goes_on or (not self.queue.row_count and not self.queue.search):
            where = ""
        search = f"search: {one_line(self.queue.search, 40)}" if self.queue.search else ""
        words = ", ".join(filter(None, (where, search)))
        if words != self._where:
            self._where = words
            self.queue.border_subtitle = Content(words)

    @property
    def goes_on(self) -> bool:
        """Whether there is something to follow, or to stay behind."""
        return True

    def live_position(self) -> int | None:
        """The question to be at while following."""
        return self.session.view.live

    def _show_episode(self) -> None:
        view, position = self.session.view, self.queue.position
        episode, attempt = self.episode, self.attempt
        selected = attempt.number if attempt is not None else 0
        words = self._why_empty(position)
        now = (
            view.figures.run,
            position,
            selected,
            episode and (episode.began, episode.version),
            words,
        )
        if now == self._drawn:
            return
        before, self._drawn = self._drawn, now
        view.pin(position)
        sheet = self.query_one(Episode)
        was_at_end = sheet.at_end
        sheet.show_episode(episode, view.budget, selected, words)
        self.query_one(Memories).show_attempt(attempt, view.budget)
        if before is None or before[:2] != now[:2]:
            self._begin_reading(sheet, episode)
        elif attempt is not None and (was_at_end or before[2] != selected):
            sheet.reveal((position, selected))
        if position is not None and view.forgotten(position) and self._recalling != position:
            self._recalling = position
            self.console_app.start(self._recall(position))

    def _why_empty(self, position: int | None) -> str:
        if position is None:
            return self.queue.empty_words()
        if self.session.view.forgotten(position):
            return "Reading this episode from the store ..."
        return "This question waits for its turn."

    async def _recall(self, position: int) -> None:
        try:
            found = await self.session.recall(position)
        finally:
            self._recalling = None
        if not found:
            words = "The detail of this episode was let go, and no store is open to read it from."
            self.query_one(Episode).show_episode(None, 0, 0, words)
            return
        self._drawn = None
        self.refresh_view()

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """A person chose a question: stay on it."""
        event.stop()
        self.following = False
        self._attempt = None
        self.refresh_view()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Enter on a question goes to its episode."""
        event.stop()
        self.front("episode")

    def on_paper_picked(self, event: Paper.Picked) -> None:
        """A click selects the attempt."""
        key = event.key
        if event.paper.id == "episode" and isinstance(key, tuple) and isinstance(key[0], int):
            self.select_attempt(key[1])

    def action_follow(self) -> None:
        """Follow the live question, or stay here."""
        self.following = self.follows = not self.following
        self._attempt = None
        self.refresh_view()

    def select_attempt(self, number: int) -> None:
        """Whoever goes back to an older attempt stays there."""
        episode = self.episode
        self.following = self.following and (
            episode is None or number >= len(episode.attempts) - 1 or number < 0
        )
        super().select_attempt(number)

    def action_share_run(self) -> None:
        """Write the run, as far as it is stored, for somebody else."""
        run = self.session.view.figures.run
        if not run or self.console_app.archive is None:
            self.tell("There is no stored run to share.")
            return
        from tui.console.screens.share import Share

        self.app.push_screen(Share(), lambda key: self._share_as(run, key))

    def _share_as(self, run: str, key: str | None) -> None:
        if key is not None:
            self.console_app.start(self._write_for_others(run, key), group="share")

    async def _write_for_others(self, run: str, key: str) -> None:
        from tui.console.screens.share import written
        from tui.replaying import Take

        archive = self.console_app.archive
        if archive is not None:
            take = Take(run, await archive.reel(run))
            path = await asyncio.to_thread(written, take, key, Path.cwd())
            self.tell(f"Wrote {path.name}")

    def search_for(self, words: str) -> None:
        """Narrow the queue."""
        self.queue.search = words.strip()
        if words:
            self.following = False
        self.refresh_view()

    def offers(self, action: Action) -> bool:
        """Copying rows and the like are offered where there is something to copy."""
        if action.name == "watch.follow":
            return self.goes_on
        return action.name != "watch.detail" or self.attempt is not None
