"""Arms: the runs of one strategy under one set of settings, in several orders; and how two arms
are paired, question by question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
from msgspec import UNSET

from core.experiments.metrics import Result, RunMetrics, accuracy, served_by_memory
from core.experiments.statistics import (
    Interval,
    McNemar,
    Spread,
    clustered_difference,
    mcnemar,
    spread,
)

Golds = Mapping[str, Mapping[str, str]]
"""Data set -> question id -> hash of the normalised gold. From the caller, never from events."""

_encoder = msgspec.json.Encoder(order="sorted")


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the papers' tables."""

    label: str
    runs: tuple[RunMetrics, ...]
    """One an order."""
    served: Mapping[str, frozenset[str]] | None
    """Run id -> questions whose gold occurred earlier in its stream; None where no gold is known."""

    @property
    def strategy(self) -> str:
        """The strategy's name."""
        return self.runs[0].settings.strategy

    @property
    def told(self) -> tuple[RunMetrics, ...]:
        """The orders behind every figure of the arm alone: the complete ones; where none is, the one
        that is furthest, since the first few questions of an order are no sample of them all."""
        complete = tuple(run for run in self.runs if run.complete)
        return complete or (max(self.runs, key=lambda run: run.figures.finished),)

    @property
    def questions(self) -> str:
        """How many questions stand behind a rate: the n of each order, as `60` or `58-60`."""
        counts = sorted({len(run.judged) for run in self.told})
        return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}-{counts[-1]:,}"

    @property
    def unfinished(self) -> str:
        """How many questions there are where not all of them are final: ` of 60`; else nothing."""
        longest = max(len(run.results) for run in self.told)
        return "" if all(run.complete for run in self.told) else f" of {longest:,}"

    def over_orders(self, figure: Callable[[RunMetrics], float | None]) -> Spread | None:
        """Mean and deviation of a figure of each order; those that have none are left out."""
        return spread([value for run in self.told if (value := figure(run)) is not None])

    def unserved(self, run: RunMetrics) -> list[Result]:
        """The judged questions whose gold did not occur earlier in the stream."""
        return [each for each in run.judged if each.question.id not in self.served_in(run)]

    def served_in(self, run: RunMetrics) -> frozenset[str]:
        """The questions that memory could have served in this run; none where no gold is known."""
        return (self.served or {}).get(run.run, frozenset())

    @property
    def accuracy_unserved(self) -> Spread | None:
        """Accuracy without the questions that memory could have served; None without golds."""
        if self.served is None:
            return None
        return self.over_orders(lambda run: accuracy(self.unserved(run)))


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """First minus second, over the questions and orders that both judged."""

    first: Arm
    second: Arm
    orders: int
    """In which a question was judged in both."""
    difference: Interval | None
    unserved: Interval | None
    """Without the questions whose gold occurred earlier in the stream of either."""
    apart: int
    """Outcomes of which one alone is right, in all orders."""
    test: McNemar
    """On the common order with the most such questions, the first of them, alone: orders of one
    question are not independent."""


def arms_of(runs: Iterable[RunMetrics], golds: Golds) -> tuple[Arm, ...]:
    """The runs grouped, in the sequence in which the arms first come. A run that repeats another
    (same settings, same order) stands in an arm of its own: the two differ by noise alone."""
    groups: dict[bytes, list[dict[int | None, RunMetrics]]] = {}
    for run in runs:
        alike, order = groups.setdefault(_identity(run), []), run.settings.order_seed
        room = next((group for group in alike if order not in group), None)
        if room is None:
            alike.append({order: run})
        else:
            room[order] = run
    ordered = [
        tuple(
            by_order[order] for order in sorted(by_order, key=lambda order: (order is None, order or 0))
        )
        for alike in groups.values()
        for by_order in alike
    ]
    labels = labels_of([group[0] for group in ordered])
    return tuple(
        Arm(label=label, runs=group, served=_served(group, golds))
        for label, group in zip(labels, ordered, strict=True)
    )


def _identity(run: RunMetrics) -> bytes:
    common = msgspec.structs.replace(run.settings, order_seed=None, model="")
    return _encoder.encode([common, run.model.fingerprint, run.versions.get("prompts", "")])


def _served(group: Sequence[RunMetrics], golds: Golds) -> Mapping[str, frozenset[str]] | None:
    known = golds.get(group[0].settings.dataset)
    if known is None:
        return None
    return {run.run: served_by_memory(run.results, known) for run in group}


def arm_of(label: str, run: RunMetrics, golds: Golds) -> Arm:
    """One run as an arm of its own."""
    return Arm(label=label, runs=(run,), served=_served((run,), golds))


def loop_words(run: RunMetrics) -> str:
    """The version of the repair loop."""
    return "not told" if run.settings.loop is UNSET else str(run.settings.loop)


DISTINGUISHING: tuple[tuple[str, Callable[[RunMetrics], Any]], ...] = (
    ("layout", lambda run: run.settings.layout),
    ("model", lambda run: run.model.name),
    ("data", lambda run: run.settings.dataset),
    ("K", lambda run: run.settings.budget),
    ("limit", lambda run: run.settings.limit),
    ("regime", lambda run: run.settings.regime),
    ("memory", lambda run: run.settings.memory),
    ("seed", lambda run: run.settings.seed),
    ("loop", loop_words),
    ("run", lambda run: run.run),
)
"""What else a label says, where a strategy has several arms that differ in it."""


def settings_apart(one: Arm, other: Arm) -> int:
    """In how many settings two arms differ, strategy and run left out."""
    first, second = one.runs[0], other.runs[0]
    return sum(value(first) != value(second) for name, value in DISTINGUISHING if name != "run")


def repeats(arms: Sequence[Arm]) -> Iterator[tuple[Arm, Arm]]:
    """The pairs of arms that are the same but for the seed, or in everything: what they differ in is
    chance."""
    for first, second in combinations(arms, 2):
        if _but_for_seed(first.runs[0]) == _but_for_seed(second.runs[0]):
            yield first, second


def _but_for_seed(run: RunMetrics) -> bytes:
    same = msgspec.structs.replace(run.settings, seed=0)
    return _identity(msgspec.structs.replace(run, settings=same))


def labels_of(firsts: Sequence[RunMetrics], what: str | None = None) -> list[str]:
    """The shortest labels that tell runs apart, each of an arm of its own. They begin with the
    strategy, or all with `what`."""
    labels = [[what or run.settings.strategy] for run in firsts]
    for name, value in DISTINGUISHING:
        texts = [", ".join(label) for label in labels]
        for index, run in enumerate(firsts):
            rivals = {str(value(firsts[i])) for i, text in enumerate(texts) if text == texts[index]}
            if len(rivals) > 1:
                said = str(value(run))
                labels[index].append(said if name in ("layout", "model") else f"{name} {said}")
    return [", ".join(label) for label in labels]


def compared(first: Arm, second: Arm) -> Comparison | None:
    """The paired difference; None where the two share no judged question in the same order."""
    theirs = {run.settings.order_seed: run for run in second.runs}
    common = [
        (run, theirs[run.settings.order_seed])
        for run in first.runs
        if run.settings.order_seed in theirs
    ]
    return compared_over(first, second, common)


def compared_over(
    first: Arm, second: Arm, common: Sequence[tuple[RunMetrics, RunMetrics]]
) -> Comparison | None:
    """The paired difference over these runs of both; None where they share no judged question."""
    everything: dict[str, list[tuple[float, float]]] = {}
    unserved: dict[str, list[tuple[float, float]]] = {}
    orders = [(mine, other, rights) for mine, other in common if (rights := _rights(mine, other))]
    if not orders:
        return None
    for mine, other, rights in orders:
        # Two orders serve different questions: the one that answers from memory may be either.
        served = first.served_in(mine) | second.served_in(other)
        for question, pair in rights.items():
            everything.setdefault(question, []).append(pair)
            if question not in served:
                unserved.setdefault(question, []).append(pair)
    return Comparison(
        first=first,
        second=second,
        orders=len(orders),
        difference=clustered_difference(everything),
        apart=sum(a != b for pairs in everything.values() for a, b in pairs),
        unserved=None if None in (first.served, second.served) else clustered_difference(unserved),
        test=mcnemar(max((rights for _, _, rights in orders), key=len).values()),
    )


def paired(mine: RunMetrics, other: RunMetrics) -> list[tuple[Result, Result]]:
    """The questions that both runs hold, in the order of the first."""
    theirs = {question_key(result): result for result in other.results}
    return [
        (result, theirs[question_key(result)])
        for result in mine.results
        if question_key(result) in theirs
    ]


def _rights(mine: RunMetrics, other: RunMetrics) -> dict[str, tuple[bool, bool]]:
    return {a.question.id: (a.right, b.right) for a, b in paired(mine, other) if a.judged and b.judged}


def question_key(result: Result) -> tuple[str, str]:
    """By what a question of one run is found in another."""
    return result.question.id, result.question.source_key
