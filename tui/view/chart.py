"""The chart of a run: what lies where along it, and what the view looked like at regular places.

It is made in one pass over the run, in as many goes as its owner likes, and holds a few numbers an
event; the events themselves it lets go again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum

from core.memory.entry import Polarity, ReviewState
from core.run.events import (
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    JudgementAwaited,
)
from core.run.figures import Figures
from tui.view.reel import Pages
from tui.view.run_view import Happening, QueueRow, RunView

INTERVAL = 512
"""Events between two snapshots: the most that a jump has to play."""
LONGEST_PAUSE = 3.0
"""Seconds of the run's own time between two events that are played; a longer wait is cut."""


class Mark(Enum):
    """What can be gone to along a run; the value is its word."""

    QUESTION = "question"
    ATTEMPT = "attempt"
    FAILURE = "failure"
    REPAIR = "repair"
    JUDGEMENT = "judgement"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The run's view after `place` events. Rows and memories hold only what changed since the
    snapshot before, so that a long run costs no more than its own length."""

    place: int
    rows: tuple[QueueRow, ...]
    learned: dict[str, tuple[Polarity, ReviewState]]
    figures: Figures
    """All but what was learned."""
    happenings: tuple[Happening, ...]
    waiting: tuple[tuple[int, int], ...]
    live: int | None
    now: float
    versions: tuple[int, int, int]


class Chart:
    """What is known of the first `surveyed` events of a run."""

    def __init__(self, pages: Pages) -> None:
        self.surveyed = 0
        self.moments = array("d")
        """When each event is played, in seconds from 0, with long waits cut."""
        self.marks: dict[Mark, array[int]] = {mark: array("L") for mark in Mark}
        """Places just after what is marked, in order."""
        self._pages = pages
        self._positions = array("l")
        """Each event's episode; -1 for those of the whole run."""
        self._firsts: dict[int, int] = {}
        """Where each episode begins."""
        self._snapshots: list[Snapshot] = []
        self._view = RunView(keep=1)
        self._touched: set[int] = set()
        self._learned: dict[str, tuple[Polarity, ReviewState]] = {}
        self._awaited: set[tuple[int, int]] = set()
        self._at = 0.0

    @property
    def complete(self) -> bool:
        """Whether the whole run is known."""
        return self.surveyed >= len(self._pages)

    def survey(self, count: int) -> None:
        """Take in the next `count` events."""
        for event in self._pages.between(self.surveyed, min(len(self._pages), self.surveyed + count)):
            self._take(event)

    def next(self, mark: Mark, place: int) -> int | None:
        """The nearest place beyond `place` with this mark."""
        places = self.marks[mark]
        index = bisect_right(places, place)
        return places[index] if index < len(places) else None

    def previous(self, mark: Mark, place: int) -> int | None:
        """The nearest place before `place` with this mark."""
        index = bisect_left(self.marks[mark], place)
        return self.marks[mark][index - 1] if index else None

    def began(self, position: int) -> int | None:
        """The place just after an episode's first event; None where it is not known to have begun."""
        first = self._firsts.get(position)
        return None if first is None else first + 1

    def nearest(self, place: int) -> int:
        """The nearest place at or before `place` from which `restored` gives a view."""
        index = self._index(place)
        return self._snapshots[index].place if index >= 0 else 0

    def restored(self, place: int) -> RunView:
        """The view at `nearest(place)`; the details of its episodes are forgotten, and `of_episode`
        finds them again."""
        view = RunView()
        index = self._index(place)
        if index < 0:
            return view
        rows: dict[int, QueueRow] = {}
        for snapshot in self._snapshots[: index + 1]:
            rows.update((row.position, row) for row in snapshot.rows)
        last = self._snapshots[index]
        known = rows.get
        view.rows = [
            _copy(then) if (then := known(row.position)) else QueueRow(row.position, row.question)
            for row in self._rows_at(rows)
        ]
        view.figures = _copied(last.figures)
        for snapshot in self._snapshots[: index + 1]:
            view.figures.learned |= snapshot.learned
        view.happenings.extend(last.happenings)
        view.waiting = dict.fromkeys(last.waiting)
        view.live, view.now = last.live, last.now
        view.version, view.head_version, view.queue_version = last.versions
        return view

    def of_episode(self, position: int, stop: int) -> Iterator[AnyEvent]:
        """An episode's events up to a place."""
        for place in range(self._firsts.get(position, stop), min(stop, self.surveyed)):
            if self._positions[place] == position:
                yield self._pages[place]

    def positions(self, start: int, stop: int) -> set[int]:
        """The episodes that events between two places belong to."""
        return {position for position in self._positions[start:stop] if position >= 0}

    def _rows_at(self, known: dict[int, QueueRow]) -> list[QueueRow]:
        """All rows there are: those of the run's beginning, and any that turned up later."""
        return self._view.rows[: max(self._view.figures.questions, max(known, default=-1) + 1)]

    def _index(self, place: int) -> int:
        return bisect_right(self._snapshots, place, key=lambda snapshot: snapshot.place) - 1

    def _take(self, event: AnyEvent) -> None:
        place, position = self.surveyed + 1, getattr(event, "position", -1)
        wait = event.at - self._at if self.surveyed else 0.0
        now = self.moments[-1] if self.moments else 0.0
        self.moments.append(now + min(max(wait, 0.0), LONGEST_PAUSE))
        self._positions.append(position)
        self._firsts.setdefault(position, place - 1)
        self._at, self.surveyed = event.at, place
        for mark in self._marks_of(event):
            self.marks[mark].append(place)
        self._view.apply(event)
        self._touched.add(position)
        if place % INTERVAL == 0:
            self._keep(place)

    def _marks_of(self, event: AnyEvent) -> Iterator[Mark]:
        if isinstance(event, EpisodeStarted):
            yield Mark.QUESTION
        elif isinstance(event, JudgementAwaited):
            self._awaited.add((event.position, event.attempt))
        elif isinstance(event, AttemptJudged):
            yield Mark.ATTEMPT
            if event.failure is not None and not event.skipped:
                yield Mark.FAILURE
            if (event.position, event.attempt) in self._awaited:
                self._awaited.discard((event.position, event.attempt))
                yield Mark.JUDGEMENT
        elif isinstance(event, EpisodeEnded) and event.outcome is EpisodeOutcome.REPAIRED:
            yield Mark.REPAIR

    def _keep(self, place: int) -> None:
        view, before = self._view, self._learned
        now = view.figures.learned
        rows = [view.rows[position] for position in sorted(self._touched) if position >= 0]
        self._snapshots.append(
            Snapshot(
                place=place,
                rows=tuple(_copy(row) for row in rows),
                learned={name: state for name, state in now.items() if before.get(name) != state},
                figures=_copied(view.figures, learned={}),
                happenings=tuple(view.happenings),
                waiting=tuple(view.waiting),
                live=view.live,
                now=view.now,
                versions=(view.version, view.head_version, view.queue_version),
            )
        )
        self._touched.clear()
        self._learned = dict(now)


def _copy(row: QueueRow) -> QueueRow:
    return QueueRow(
        row.position,
        row.question,
        row.state,
        row.repairs,
        row.began,
        row.seconds,
        row.helped,
        row.version,
    )


def _copied(figures: Figures, **changes: object) -> Figures:
    """The same counts, to go on from by themselves."""
    from copy import copy

    own = {each.name: copy(getattr(figures, each.name)) for each in fields(figures)}
    return replace(figures, **(own | changes))
