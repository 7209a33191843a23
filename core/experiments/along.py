"""Two of a report's plots as tables: accuracy along the stream, and accuracy against cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.experiments.arms import Arm
from core.experiments.metrics import RunMetrics, Spending, accuracy_along
from core.experiments.table import ABSENT, Cell, Table, behind, count, mean, words

PLACES = 8
"""Places along the stream at which accuracy is told."""


def stream_table(arms: Sequence[Arm]) -> Table:
    """Accuracy over the first n judged questions, at a few n."""
    longest = max((len(run.judged) for arm in arms for run in arm.told), default=0)
    places = sorted({round(longest * step / PLACES) for step in range(1, PLACES + 1)} - {0})
    return Table(
        name="stream",
        title="Accuracy along the stream, % after n questions (means over orders)",
        columns=("strategy", "questions", "orders", *(f"n = {place:,}" for place in places)),
        rows=tuple((*behind(arm), *(_after(arm, place) for place in places)) for arm in arms if places),
        note="Of the questions judged so far, in the order of the stream.",
    )


def _after(arm: Arm, place: int) -> Cell:
    curves = [accuracy_along(run.results) for run in arm.told]
    values = [curve[place - 1] for curve in curves if len(curve) >= place]
    if not values:
        return ABSENT
    average = 100 * sum(values) / len(values)
    return Cell(f"{average:.1f}", (("", average),))


def cost_of(run: RunMetrics) -> float | None:
    """Prompt tokens evaluated for each judged question, of what these took alone."""
    return _each(run, lambda spent: spent.cost.evaluated)


def tradeoff_table(arms: Sequence[Arm]) -> Table:
    """What each arm pays for a question and what it gets; which of them nobody beats at less."""
    rights = [arm.over_orders(lambda run: run.figures.accuracy_now) for arm in arms]
    costs = [arm.over_orders(cost_of) for arm in arms]
    places = [
        (cost.mean, right.mean)
        for arm, cost, right in zip(arms, costs, rights, strict=True)
        if cost and right and not arm.unfinished
    ]
    rows = []
    for arm, cost, right in zip(arms, costs, rights, strict=True):
        if cost is None or right is None:
            continue
        beaten = any(
            other != (cost.mean, right.mean) and other[0] <= cost.mean and other[1] >= right.mean
            for other in places
        )
        rows.append(
            (
                *behind(arm),
                mean(right, scale=100),
                mean(arm.over_orders(lambda run: _each(run, lambda spent: spent.cost.calls))),
                mean(arm.over_orders(lambda run: _each(run, lambda spent: spent.cost.sent)), 0),
                mean(cost, 0),
                mean(arm.over_orders(lambda run: _each(run, lambda spent: spent.cost.written)), 0),
                mean(arm.over_orders(lambda run: _each(run, lambda spent: spent.seconds)), 1),
                words("" if beaten or arm.unfinished else "yes"),
            )
        )
    return Table(
        name="tradeoff",
        title="Accuracy against cost, for each question (means over orders)",
        columns=(
            "strategy", "questions", "orders", "final %", "calls", "tokens sent", "tokens evaluated",
            "tokens written", "seconds", "unbeaten",
        ),
        rows=tuple(rows),
        note="Unbeaten: no other strategy is as accurate for as few evaluated tokens; only where every"
        " question is final. Cost, as accuracy, is of the judged questions alone.",
    )  # fmt: skip


def _each(run: RunMetrics, of: Callable[[Spending], float]) -> float | None:
    return of(run.spending_on_judged) / len(run.judged) if run.judged else None


def curve_table(arms: Sequence[Arm]) -> Table:
    """Every place of every run's curve, for files."""
    rows = [
        (
            words(arm.label),
            words("file" if run.settings.order_seed is None else str(run.settings.order_seed)),
            words(run.run),
            count(n),
            Cell(f"{100 * value:.2f}", (("", 100 * value),)),
        )
        for arm in arms
        for run in arm.runs
        for n, value in enumerate(accuracy_along(run.results), start=1)
    ]
    return Table(
        name="curves",
        title="Accuracy along the stream, question by question",
        columns=("strategy", "order", "run", "n", "accuracy %"),
        rows=tuple(rows),
    )
