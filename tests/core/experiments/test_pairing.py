"""Two runs side by side: who was right where, and whether the difference is real."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from core.experiments.arms import arms_of
from core.experiments.metrics import Reading, RunMetrics, metrics_of
from core.experiments.pairing import Verdict, pairing_of
from core.experiments.report import curves_of
from core.run.events import EpisodeEnded, EpisodeOutcome
from tests.streams import Plan, run_events, settings

RIGHT: Plan = (EpisodeOutcome.RIGHT_AT_ONCE, 0)
REPAIRED: Plan = (EpisodeOutcome.REPAIRED, 2)
FAILED: Plan = (EpisodeOutcome.FAILED, 3)
BROKEN: Plan = (EpisodeOutcome.BROKEN, 0)


def ran(strategy: str, plans: Sequence[Plan], *, order: int = 0, n: int | None = None) -> RunMetrics:
    asked = settings(strategy=strategy, order_seed=order)
    name = f"{strategy}-{order}"
    return metrics_of(run_events(n or len(plans), run=name, plans=plans, run_settings=asked))


def test_every_question_gets_its_verdict() -> None:
    first = ran("merit", (REPAIRED, FAILED, RIGHT, FAILED, BROKEN))
    second = ran("iterative", (FAILED, RIGHT, RIGHT, FAILED, RIGHT))
    found = pairing_of(first, second, {})
    assert [pair.verdict for pair in found.pairs] == [
        Verdict.FIRST_ONLY, Verdict.SECOND_ONLY, Verdict.BOTH, Verdict.NEITHER, Verdict.OPEN,
    ]  # fmt: skip
    assert [pair.differs for pair in found.pairs] == [True, True, False, False, False]
    assert found.labels == ("merit", "iterative")


def test_the_difference_has_its_interval_and_its_test() -> None:
    first, second = ran("merit", (RIGHT,) * 9 + (FAILED,)), ran("none", (FAILED,) * 6 + (RIGHT,) * 4)
    found = pairing_of(first, second, {}).comparison
    assert found is not None
    assert found.difference is not None
    assert found.test is not None
    assert found.difference.difference == pytest.approx(0.5)
    assert found.difference.low < 0.5 < found.difference.high
    assert (found.test.first_only, found.test.second_only) == (6, 1)
    assert found.test.p == pytest.approx(2 * (1 + 7) / 2**7)


def test_runs_in_different_orders_are_paired_by_question() -> None:
    first, second = ran("merit", (RIGHT, FAILED), order=0), ran("merit", (FAILED, RIGHT), order=1)
    found = pairing_of(first, second, {})
    assert [pair.verdict for pair in found.pairs] == [Verdict.FIRST_ONLY, Verdict.SECOND_ONLY]
    assert found.comparison is not None
    assert found.labels[0] != found.labels[1]


def test_runs_without_a_common_judged_question_have_no_difference() -> None:
    assert pairing_of(ran("merit", (RIGHT,)), ran("none", (BROKEN,)), {}).comparison is None


def test_gold_seen_earlier_is_left_out_of_the_second_interval() -> None:
    first, second = ran("merit", (RIGHT, RIGHT, RIGHT)), ran("none", (RIGHT, FAILED, RIGHT))
    golds = {"sample": {"q0": "same", "q1": "same", "q2": "other"}}
    found = pairing_of(first, second, golds).comparison
    assert found is not None
    assert found.unserved is not None
    assert (found.unserved.difference, found.unserved.clusters) == (0.0, 2)


def test_gold_seen_earlier_in_either_order_is_left_out() -> None:
    first, second = ran("merit", (FAILED, RIGHT, RIGHT)), ran("none", (RIGHT, RIGHT, FAILED), order=1)
    turned = msgspec.structs.replace(second, results=second.results[::-1])
    golds = {"sample": {"q0": "same", "q1": "same", "q2": "other"}}
    found = pairing_of(first, turned, golds).comparison
    assert found is not None
    assert found.unserved is not None
    assert (found.unserved.difference, found.unserved.clusters) == (1.0, 1), "only q2 is new in both"


def test_a_run_that_goes_on_is_read_on() -> None:
    events = run_events(8)
    reading = Reading()
    for event in events[:60]:
        reading.apply(event)
    early = reading.metrics()
    finished = early.figures.finished
    for event in events[60:]:
        reading.apply(event)
    assert reading.metrics() == metrics_of(events)
    assert reading.seq == events[-1].seq
    assert early.figures.finished == finished < 8, "what was read earlier does not change"
    assert early == metrics_of(events[:60])


def test_an_order_that_has_just_begun_does_not_shorten_the_curve() -> None:
    events = run_events(6, run="b", plans=(FAILED,), run_settings=settings(order_seed=1))
    ends = [place for place, event in enumerate(events) if isinstance(event, EpisodeEnded)]
    begun = metrics_of(events[: ends[0] + 1])
    (arm,) = arms_of([ran("merit", (RIGHT,) * 6), begun], {})
    (curve,) = curves_of([arm])
    assert curve.values == (1.0,) * 6
