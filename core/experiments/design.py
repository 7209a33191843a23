"""An experiment: data set x strategies x orders x model, and its cells (evaluation.md,
"Experiments").

Its id follows from what all cells have in common; a cell's run id from the experiment, the strategy
and the order. The same settings therefore always mean the same runs: a second start goes on with
them, and another strategy or order widens the experiment without repeating a cell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import msgspec

from core.models.chat import ModelDescription
from core.question import Question, Stream
from core.repair.strategy import Strategy
from core.run.events import RunSettings

_encoder = msgspec.json.Encoder(order="sorted")
_OF_ONE_CELL = ("strategy", "strategy_fields", "order_seed", "layout", "model")
"""Settings that differ between cells, or that the experiment knows better: the layout asked for, and
the model that answers instead of how it was named."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an experiment."""

    run: str
    """Its id in the store."""
    strategy: Strategy
    order: int | None
    """Seed of the stream's order; None is the file's order."""
    again: int = 0
    """Which repeat of the same cell it is, from 0: each draws by another seed."""
    questions: tuple[Question, ...]

    @property
    def label(self) -> str:
        """Strategy and order, for people."""
        again = f", again {self.again}" if self.again else ""
        return f"{self.strategy.name}, {order_words(self.order)}{again}"


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared with what, and on what."""

    common: RunSettings
    """Settings of every cell, every choice made; those of one cell alone count for nothing."""
    layout: str | None
    """The layout asked for; None leaves it to each strategy."""
    model: ModelDescription
    prompts: str
    """Digest of the templates."""
    questions: tuple[Question, ...]
    """All of them, in the file's order."""
    golds: Mapping[str, str]
    """Gold SQL by question id; only its digest goes anywhere."""
    strategies: tuple[Strategy, ...]
    orders: tuple[int | None, ...]
    repeats: int = 1
    """How often each cell is run, to tell how far a strategy disagrees with itself."""

    @property
    def id(self) -> str:
        """`x` and eight hexadecimal digits."""
        common = {
            name: value
            for name, value in msgspec.to_builtins(self.common).items()
            if name not in _OF_ONE_CELL
        }
        golds = [self.golds.get(question.id) for question in self.questions]
        parts = [common, self.layout, self.model.fingerprint, self.prompts, self.questions, golds]
        return f"x{_digest(parts, 8)}"

    def settings(self, cell: Cell) -> RunSettings:
        """The settings of one cell: the common ones, so that what changes beside the store while the
        experiment goes on changes no cell."""
        return msgspec.structs.replace(
            self.common,
            strategy=cell.strategy.name,
            strategy_fields=msgspec.to_builtins(cell.strategy),
            layout=self.layout or cell.strategy.layout,
            order_seed=cell.order,
            seed=self.common.seed + cell.again,
        )

    def cells(self) -> tuple[Cell, ...]:
        """Every strategy on the first order, then on the next, and the repeats after all of them: what
        is stopped half-way can compare all strategies already."""
        return tuple(self._cells())

    def _cells(self) -> Iterator[Cell]:
        stream, experiment = Stream(self.questions), self.id
        for again, order in product(range(self.repeats), self.orders):
            ordered = tuple(stream.in_order(order))
            for strategy in self.strategies:
                # A strategy whose row changed since is another strategy.
                fields = msgspec.to_builtins(strategy)
                row = _digest([fields, again] if again else fields, 4)
                place = "file" if order is None else str(order)
                yield Cell(
                    run=f"{experiment}-{strategy.name}-{place}-{row}",
                    strategy=strategy,
                    order=order,
                    again=again,
                    questions=ordered,
                )


def sample(questions: Stream, limit: int | None, seed: int) -> tuple[Question, ...]:
    """The questions of an experiment in the file's order: all, or `limit` of them drawn by `seed`.

    Every order is then a shuffle of the same questions; the first of the file would be questions
    about the first databases alone.
    """
    if limit is None or limit >= len(questions):
        return tuple(questions)
    drawn = {question.id for question in questions.in_order(seed).first(limit)}
    return tuple(question for question in questions if question.id in drawn)


def order_words(order: int | None) -> str:
    """An order, for people."""
    return "the file's order" if order is None else f"order {order}"


class Pace:
    """How long the rest will take, from the questions finished so far: each strategy has its own
    pace, and one without any takes the mean of the others."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._questions: dict[str, int] = {}

    def finished(self, strategy: str, seconds: float, questions: int = 1) -> None:
        """So many questions took so long together."""
        if questions:
            self._seconds[strategy] = self._seconds.get(strategy, 0.0) + seconds
            self._questions[strategy] = self._questions.get(strategy, 0) + questions

    def left(self, waiting: Mapping[str, int]) -> float | None:
        """Seconds that `waiting` questions, by strategy, will take; None before the first."""
        if not self._questions:
            return None
        mean = sum(self._seconds.values()) / sum(self._questions.values())
        return sum(count * self._of(strategy, mean) for strategy, count in waiting.items())

    def _of(self, strategy: str, otherwise: float) -> float:
        count = self._questions.get(strategy, 0)
        return self._seconds[strategy] / count if count else otherwise


def _digest(value: object, digits: int) -> str:
    return hashlib.sha256(_encoder.encode(value)).hexdigest()[:digits]


def unfinished(cells: Sequence[Cell], ended: Mapping[str, int]) -> dict[str, int]:
    """Questions still to come, by strategy. `ended` holds final episodes by run id."""
    waiting: dict[str, int] = {}
    for cell in cells:
        left = len(cell.questions) - ended.get(cell.run, 0)
        waiting[cell.strategy.name] = waiting.get(cell.strategy.name, 0) + left
    return waiting
