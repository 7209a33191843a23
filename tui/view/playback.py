"""A stored run played again: forward, back, at any speed, with no model and no database."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from core.run.events import AnyEvent, EpisodeStarted, RunEnded, RunStarted
from tui.view.run_view import RunView

SPEEDS = (1, 2, 5, 10, 20, 50, 100)
LONGEST_PAUSE = 3.0
"""Seconds of the run's own time between two events that are played; a longer wait is cut."""


class Playback:
    """Where a replay stands. Time is the run's own, with long waits cut."""

    def __init__(self, events: Sequence[AnyEvent], speed: float = SPEEDS[0]) -> None:
        self.events = events
        self.view = RunView()
        self.playing = False
        self.speed = min(SPEEDS, key=lambda each: abs(each - speed))
        self.at = 0
        """Events that have been applied."""
        self._moments = _moments(events)
        self._clock = 0.0

    @property
    def ended(self) -> bool:
        """Whether every event has been played."""
        return self.at >= len(self.events)

    @property
    def seconds(self) -> float:
        """Where the replay stands, in played seconds of the run."""
        return self._moments[self.at - 1] if self.at else 0.0

    @property
    def length(self) -> float:
        """Played seconds of the whole run."""
        return self._moments[-1] if self._moments else 0.0

    def faster(self, steps: int) -> None:
        """Change the speed by steps of the table, either way."""
        index = SPEEDS.index(self.speed) + steps
        self.speed = SPEEDS[max(0, min(index, len(SPEEDS) - 1))]

    def play(self, playing: bool) -> None:
        """Let it run, or hold it. At the end it begins again."""
        if playing and self.ended:
            self.seek(0)
        self.playing = playing
        self._clock = self.seconds

    def advance(self, elapsed: float) -> bool:
        """Apply what is due after `elapsed` seconds of the viewer's time; True where something was."""
        if not self.playing:
            return False
        self._clock += elapsed * self.speed
        before = self.at
        self._apply_to(bisect_right(self._moments, self._clock))
        self.playing = not self.ended
        return self.at != before

    def step(self, count: int) -> None:
        """Go some events forward, or back."""
        self.seek(self.at + count)

    def seek(self, index: int) -> None:
        """Stand after `index` events."""
        index = max(0, min(index, len(self.events)))
        if index < self.at:
            self.view, self.at = RunView(), 0
        self._apply_to(index)
        self._clock = self.seconds

    def next_question(self) -> None:
        """Forward to where the next question begins, or to the end."""
        for index in range(self.at, len(self.events)):
            if isinstance(self.events[index], EpisodeStarted | RunEnded):
                self.seek(index + 1)
                return
        self.seek(len(self.events))

    def previous_question(self) -> None:
        """Back to where this question began, or the one before it."""
        for index in range(self.at - 2, -1, -1):
            if isinstance(self.events[index], EpisodeStarted | RunStarted):
                self.seek(index + 1)
                return
        self.seek(0)

    def _apply_to(self, index: int) -> None:
        while self.at < index:
            self.view.apply(self.events[self.at])
            self.at += 1


def _moments(events: Sequence[AnyEvent]) -> list[float]:
    """When each event is played, from 0, with long waits cut."""
    moments: list[float] = []
    now = 0.0
    for index, event in enumerate(events):
        if index:
            now += min(max(event.at - events[index - 1].at, 0.0), LONGEST_PAUSE)
        moments.append(now)
    return moments
