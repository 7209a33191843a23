"""How far an experiment has come: a bar in a terminal, lines in a pipe, JSON for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import click

from core.experiments.design import Cell, Experiment, Pace, unfinished
from core.run.events import AnyEvent, EpisodeEnded, RunResumed, RunStarted
from core.wording import counted
from stores.runs import RunRecord
from tui.view.summary import duration

SECONDS_BETWEEN_LINES = 5.0


class Telling:
    """Counts what is finished; its heirs say so."""

    def __init__(self, experiment: Experiment, records: Mapping[str, RunRecord]) -> None:
        self.experiment = experiment
        self.cells = experiment.cells()
        self.ended = {
            cell.run: records[cell.run].ended if cell.run in records else 0 for cell in self.cells
        }
        self._cell = {cell.run: cell for cell in self.cells}
        self._pace = Pace()
        self._worked = 0.0
        self._began = time.monotonic()

    @property
    def finished(self) -> int:
        """Questions that are final, in all cells."""
        return sum(self.ended.values())

    @property
    def total(self) -> int:
        """Questions of all cells."""
        return len(self.cells) * len(self.experiment.questions)

    @property
    def seconds_left(self) -> float | None:
        """An estimate; None before the first question has ended. What the questions took by
        themselves is set against the clock, which counts those under way side by side once."""
        left = self._pace.left(unfinished(self.cells, self.ended))
        if left is None or not self._worked:
            return None
        return left * (time.monotonic() - self._began) / self._worked

    def begin(self, cell: Cell) -> None:
        """A cell's turn has come."""

    def hear(self, event: AnyEvent) -> None:
        """Take in what happened in a cell."""
        match event:
            case RunStarted() | RunResumed():
                self.begin(self._cell[event.run])
            case EpisodeEnded():
                cell = self._cell[event.run]
                self._pace.finished(cell.strategy.name, event.seconds)
                self._worked += event.seconds
                self.ended[cell.run] += 1
                self.say(cell, event)
            case _:
                pass

    def say(self, cell: Cell, event: EpisodeEnded) -> None:
        """Show that a question is final."""

    def line(self, cell: Cell) -> str:
        """Where it stands, in words."""
        left = self.seconds_left
        words = (
            f"{cell.label}: {self.ended[cell.run]} of {counted(len(cell.questions), 'question')};"
            f" {self.finished:,} of {self.total:,} in all"
        )
        return words + (f"; about {duration(left)} left" if left else "")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the screen as it was."""


class Lines(Telling):
    """A line every few seconds and at the end of each cell."""

    def __init__(self, experiment: Experiment, records: Mapping[str, RunRecord]) -> None:
        super().__init__(experiment, records)
        self._said = time.monotonic()

    def say(self, cell: Cell, event: EpisodeEnded) -> None:
        """Say where it stands, where it is time."""
        now = time.monotonic()
        if now - self._said >= SECONDS_BETWEEN_LINES or self.ended[cell.run] == len(cell.questions):
            click.echo(self.line(cell))
            self._said = now


class Objects(Telling):
    """One JSON object a finished question."""

    def say(self, cell: Cell, event: EpisodeEnded) -> None:
        """Write it."""
        tell(
            run=cell.run,
            position=event.position,
            outcome=event.outcome.value,
            finished=self.finished,
            total=self.total,
            seconds_left=self.seconds_left,
        )


class Bar(Telling):
    """One bar over all cells."""

    def __init__(self, experiment: Experiment, records: Mapping[str, RunRecord]) -> None:
        super().__init__(experiment, records)
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            BarColumn(bar_width=24), TextColumn("{task.description}", markup=False), transient=True
        )
        self._task = self._bar.add_task("", total=self.total, completed=self.finished)

    def begin(self, cell: Cell) -> None:
        """Show its name before its first question is final."""
        self._bar.update(self._task, description=self.line(cell))

    def say(self, cell: Cell, event: EpisodeEnded) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=self.finished, description=self.line(cell))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


def telling(plain: bool, as_json: bool) -> type[Telling]:
    """The form that fits."""
    if as_json:
        return Objects
    return Lines if plain or not sys.stdout.isatty() else Bar


def tell(**fields: Any) -> None:
    """One JSON object on a line of its own, flushed at once."""
    click.echo(json.dumps(fields, ensure_ascii=False))
