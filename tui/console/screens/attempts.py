"""One attempt of an episode is selected: the newest, or the one a person went to."""

from __future__ import annotations

from tui.console.screens.base import RoomScreen
from tui.console.widgets.episode import attempt_name
from tui.view.episode_view import AttemptView, EpisodeView
from tui.view.legible import cell_text


class AttemptScreen(RoomScreen):
    """A screen that shows an episode attempt by attempt."""

    def __init__(self) -> None:
        super().__init__()
        self._attempt: int | None = None
        """The selected attempt; None means the newest, whichever that is."""

    @property
    def episode(self) -> EpisodeView | None:
        """The episode on show, where its detail is at hand."""
        raise NotImplementedError

    def episode_name(self, episode: EpisodeView) -> str:
        """What the episode is called in a title."""
        return f"Question {episode.position + 1}"

    @property
    def attempt(self) -> AttemptView | None:
        """The selected attempt."""
        episode = self.episode
        if episode is None or not episode.attempts:
            return None
        index = len(episode.attempts) - 1 if self._attempt is None else self._attempt
        return episode.attempts[min(index, len(episode.attempts) - 1)]

    def select_attempt(self, number: int) -> None:
        """Go to an attempt; the last one stands for the newest."""
        episode = self.episode
        if episode is not None and 0 <= number < len(episode.attempts):
            self._attempt = number if number < len(episode.attempts) - 1 else None
            self.refresh_view()

    def action_attempt(self, step: int) -> None:
        """Select the attempt before or after."""
        attempt = self.attempt
        if attempt is not None:
            self.select_attempt(attempt.number + step)

    def action_detail(self) -> None:
        """Everything about the selected attempt."""
        from tui.console.screens.detail import detail

        episode, attempt = self.episode, self.attempt
        if episode is None or attempt is None:
            self.tell("There is no attempt to open yet.")
            return
        name = attempt_name(attempt.number, self.session.view.budget)
        self.app.push_screen(detail(f"{self.episode_name(episode)}, {name}", episode, attempt))

    def action_copy(self) -> None:
        """Copy the selected attempt's SQL."""
        attempt = self.attempt
        if attempt is None or not attempt.sql:
            self.tell("There is no SQL to copy yet.")
            return
        self.console_app.copy(attempt.sql, "the SQL")

    def action_copy_rows(self) -> None:
        """Copy the selected attempt's rows with their column names, tab-separated."""
        attempt = self.attempt
        if attempt is None or attempt.result is None or not attempt.result.columns:
            self.tell("There are no rows to copy.")
            return
        result = attempt.result
        rows = [result.columns, *([cell_text(cell, 10_000) for cell in row] for row in result.rows)]
        text = "\n".join("\t".join(str(cell) for cell in row) for row in rows)
        self.console_app.copy(text, f"{len(result.rows)} rows")
