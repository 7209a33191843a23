"""A stored run played again: forward, back, at any speed, with no model and no database."""

from __future__ import annotations

from bisect import bisect_right

from tui.view.chart import INTERVAL, Chart, Mark
from tui.view.reel import Pages, Reel
from tui.view.run_view import RunView

SPEEDS = (1, 2, 5, 10, 20, 50, 100)


class Playback:
    """Where a replay stands. Time is the run's own, with long waits cut.

    A place is a number of events that have been applied. What lies beyond `chart.surveyed` cannot
    be gone to yet; `survey` is called until it is complete.
    """

    def __init__(self, reel: Reel, speed: float = SPEEDS[0]) -> None:
        self.view = RunView()
        self.playing = False
        self.speed = min(SPEEDS, key=lambda each: abs(each - speed))
        self.at = 0
        """Events that have been applied."""
        self._pages = Pages(reel)
        self.chart = Chart(self._pages)
        self._clock = 0.0

    def __len__(self) -> int:
        """Events there are."""
        return len(self._pages)

    @property
    def ended(self) -> bool:
        """Whether every event has been played."""
        return self.at >= len(self)

    @property
    def seconds(self) -> float:
        """Where the replay stands, in played seconds of the run."""
        return self.chart.moments[self.at - 1] if self.at else 0.0

    @property
    def length(self) -> float:
        """Played seconds of what is known of the run."""
        return self.chart.moments[-1] if self.chart.moments else 0.0

    def survey(self, count: int = INTERVAL) -> bool:
        """Read ahead by `count` events; True where the run goes on beyond them. Raises MeritoError
        where the events cannot be read."""
        self.chart.survey(count)
        return not self.chart.complete

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
        self._go(max(self.at, bisect_right(self.chart.moments, self._clock)))
        self.playing = not self.ended
        return self.at != before

    def step(self, count: int) -> None:
        """Go some events forward, or back."""
        self.seek(self.at + count)

    def seek(self, place: int) -> None:
        """Stand after `place` events, as far as the run is known."""
        self._go(max(0, min(place, self.chart.surveyed)))
        self._clock = self.seconds

    def next(self, mark: Mark) -> bool:
        """Forward to the next place with this mark; False, and nowhere, where there is none."""
        return self._to(self.chart.next(mark, self.at))

    def previous(self, mark: Mark) -> bool:
        """Back to the place before with this mark; False, and nowhere, where there is none."""
        return self._to(self.chart.previous(mark, self.at))

    def recall(self, position: int) -> bool:
        """Give an episode its detail back, up to here; False where it has not begun."""
        events = list(self.chart.of_episode(position, self.at))
        if events:
            self.view.recall(position, events)
        return bool(events)

    def _to(self, place: int | None) -> bool:
        if place is not None:
            self.seek(place)
        return place is not None

    def _go(self, place: int) -> None:
        start = self.chart.nearest(place)
        if place < self.at or start > self.at:
            self.view, self.at = self.chart.restored(place), start
            self._recall_open(start, place)
        for event in self._pages.between(self.at, place):
            self.view.apply(event)
        self.at = place

    def _recall_open(self, start: int, place: int) -> None:
        """Before events are applied, the episodes that they belong to need what came before."""
        wanted = self.chart.positions(start, place)
        if self.view.live is not None:
            wanted.add(self.view.live)
        for position in wanted:
            if self.view.forgotten(position):
                self.view.recall(position, self.chart.of_episode(position, start))
        self.view.pin(None)
