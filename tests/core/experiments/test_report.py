"""Reports: arms, pairs and tables, each figure with what stands behind it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from copy import copy
from typing import Any

import msgspec
import pytest

from core.experiments import paper
from core.experiments.arms import arms_of, compared
from core.experiments.metrics import Result, RunMetrics, metrics_of
from core.experiments.report import Report, report_of
from core.experiments.table import Table
from core.models.chat import ModelDescription
from core.repair.strategy import STRATEGIES
from core.run.events import EpisodeOutcome
from tests.streams import Plan, run_events, settings

RIGHT: Plan = (EpisodeOutcome.RIGHT_AT_ONCE, 0)
REPAIRED: Plan = (EpisodeOutcome.REPAIRED, 2)
FAILED: Plan = (EpisodeOutcome.FAILED, 3)
BROKEN: Plan = (EpisodeOutcome.BROKEN, 0)

WEAK = (RIGHT, FAILED, FAILED, RIGHT, FAILED, BROKEN)
STRONG = (RIGHT, REPAIRED, FAILED, RIGHT, REPAIRED, BROKEN)
GOLDS = {"sample": {f"q{n}": "same" if n in (1, 4) else f"gold {n}" for n in range(12)}}


def ran(
    strategy: str, plans: Sequence[Plan], order: int = 0, n: int = 12, **changes: Any
) -> RunMetrics:
    name = f"{strategy}-{order}-{len(changes)}"
    return metrics_of(
        run_events(
            n,
            run=name,
            plans=plans,
            run_settings=settings(strategy=strategy, order_seed=order, **changes),
        )
    )


def study() -> list[RunMetrics]:
    return [
        ran(strategy, plans, order)
        for order in (0, 1)
        for strategy, plans in (("iterative", WEAK), ("merit", STRONG), ("merit-no-dense", WEAK))
    ]


def table(report: Report, name: str) -> Table:
    return next(each for each in report.tables if each.name == name)


def test_runs_of_one_strategy_in_several_orders_are_one_arm() -> None:
    arms = arms_of(study(), {})
    assert {arm.label: len(arm.runs) for arm in arms} == {
        "iterative": 2, "merit": 2, "merit-no-dense": 2,
    }  # fmt: skip


def test_labels_say_only_what_tells_arms_apart() -> None:
    runs = [ran("merit", STRONG), ran("merit", STRONG, layout="conversation"), ran("none", WEAK)]
    assert sorted(arm.label for arm in arms_of(runs, {})) == [
        "merit, conversation",
        "merit, paper",
        "none",
    ]


def test_runs_of_another_repair_loop_are_another_arm() -> None:
    runs = [ran("merit", STRONG), ran("merit", WEAK, order=1, loop=2)]
    assert [arm.label for arm in arms_of(runs, {})] == ["merit, loop not told", "merit, loop 2"]
    assert dict(report_of(runs, title="t").facts)["repair loop"] == "not told, 2"


def test_a_repeated_run_is_an_arm_of_its_own() -> None:
    again = metrics_of(run_events(12, run="again", plans=WEAK, run_settings=settings(order_seed=0)))
    first, second = arms_of([ran("merit", STRONG), again], {})
    assert first.label != second.label
    found = compared(first, second)
    assert found is not None
    assert found.test is not None
    assert (found.test.first_only, found.test.second_only) == (4, 0)


def test_the_noise_floor_is_how_often_a_strategy_disagrees_with_itself() -> None:
    """Of ten judged questions, four are repaired with one seed and not with the other."""
    runs = [
        *(ran("merit", STRONG, order) for order in (0, 1)),
        *(ran("merit", WEAK, order, seed=1) for order in (0, 1)),
        ran("iterative", WEAK),
    ]
    (row,) = table(report_of(runs, title="t"), "noise").records()
    assert (row["first"], row["second"]) == ("merit, seed 0", "merit, seed 1")
    assert (row["questions"], row["orders"]) == (10, 2)
    assert (row["one alone right"], row["one alone right of"], row["disagree %"]) == (8, 20, 40.0)
    assert row["first - second"] == pytest.approx(40.0)


def test_strategies_that_ran_once_have_no_noise_floor() -> None:
    assert "noise" not in {each.name for each in report_of(study(), title="t").tables}


def test_a_difference_pairs_questions_over_the_common_orders() -> None:
    weak, strong = arms_of([*study()[:2], ran("merit", STRONG, 1)], GOLDS)
    found = compared(strong, weak)
    assert found is not None
    assert found.difference is not None
    assert found.orders == 1
    assert found.difference.difference == pytest.approx(4 / 10)
    assert found.difference.clusters == 10
    assert found.unserved is not None
    assert found.unserved.clusters == 9
    assert found.unserved.difference == pytest.approx(3 / 9), "question 4 had the gold of question 1"


def begun(run: RunMetrics, questions: int) -> RunMetrics:
    """The run when this many questions were final."""
    left = tuple(
        each if place < questions else Result(position=place, question=each.question)
        for place, each in enumerate(run.results)
    )
    figures = copy(run.figures)
    figures.outcomes = Counter(each.outcome for each in left[:questions] if each.outcome)
    return msgspec.structs.replace(run, results=left, figures=figures)


def test_an_order_without_a_question_judged_in_both_is_none() -> None:
    weak = [ran("iterative", WEAK), ran("iterative", WEAK, 1)]
    strong = [ran("merit", STRONG), begun(ran("merit", STRONG, 1), 0)]
    found = compared(*arms_of([*strong, *weak], {}))
    assert found is not None
    assert found.difference is not None
    assert (found.orders, found.difference.clusters, found.difference.outcomes) == (1, 10, 10)


def test_mcnemar_takes_the_order_with_the_most_questions() -> None:
    weak = [ran("iterative", WEAK), ran("iterative", WEAK, 1)]
    strong = [begun(ran("merit", STRONG), 1), ran("merit", STRONG, 1)]
    found = compared(*arms_of([*strong, *weak], {}))
    assert found is not None
    assert found.orders == 2
    assert (found.test.first_only, found.test.second_only) == (4, 0)


def test_a_mean_is_of_complete_orders_where_there_are_any() -> None:
    runs = [ran("merit", STRONG), begun(ran("merit", (FAILED,), 1), 1)]
    report = report_of(runs, title="t", golds=GOLDS)
    row = table(report, "accuracy").records()[0]
    assert (row["questions"], row["orders"], row["final"]) == ("10", 1, pytest.approx(80.0))
    assert table(report, "accuracy").rows[0][2].text == "1 of 2"
    assert "final deviation" not in row
    (stream,) = table(report, "stream").records()
    assert stream["n = 10"] == pytest.approx(80.0)
    assert [point.questions for point in report.points] == ["10"]


def test_where_no_order_is_complete_the_furthest_is_told() -> None:
    runs = [begun(ran("merit", STRONG, order), 3 + order) for order in (0, 1)]
    row = table(report_of(runs, title="t"), "accuracy").rows[0]
    assert [cell.text for cell in row[:3]] == ["merit", "4 of 12", "1 of 2"]


@pytest.mark.parametrize("seed", range(3))
def test_the_sequence_of_runs_changes_nothing(seed: int) -> None:
    runs = study()
    random.Random(seed).shuffle(runs)
    shuffled, straight = (report_of(each, title="t", golds=GOLDS) for each in (runs, study()))
    assert [t.records() for t in shuffled.tables] == [t.records() for t in straight.tables]
    assert shuffled.stories == straight.stories
    assert (shuffled.curves, shuffled.points) == (straight.curves, straight.points)


def test_no_figure_stands_without_questions_and_orders() -> None:
    report = report_of(study(), title="t", golds=GOLDS)
    for each in report.tables:
        if each.name == "left-out":
            continue
        assert {"questions", "orders"} <= set(each.columns), each.name
        for record in each.records():
            assert record["questions"], each.name
            assert record["orders"], each.name


def test_the_papers_figures_stand_beside_on_its_own_benchmarks_alone() -> None:
    own = table(report_of(study(), title="t"), "accuracy").records()
    assert all(record["paper final"] is None for record in own)
    spider = table(report_of(study(), title="t", benchmarks={"sample": "spider"}), "accuracy").records()
    assert [record["paper final"] for record in spider] == [66.34, 69.79, None]


def test_a_difference_of_the_paper_is_turned_with_its_pair() -> None:
    assert paper.difference("spider", "merit", "merit-reliability") == "+0.39 [-0.23, 1.03]"
    assert paper.difference("spider", "merit-reliability", "merit") == "-0.39 [-1.03, 0.23]"
    assert paper.difference("bird", "iterative", "merit") == "-1.09 [-2.17, 0.00]"
    assert paper.difference("spider", "merit", "merit-no-bm25") == "-0.58"
    assert paper.difference("spider", "merit", "none") == ""
    runs = [ran("merit", STRONG), ran("merit-reliability", WEAK)]
    (row,) = table(report_of(runs, title="t", benchmarks={"sample": "spider"}), "differences").records()
    assert (row["first"], row["paper"]) == ("merit-reliability", "-0.39 [-1.03, 0.23]")


def test_ablations_are_compared_with_what_they_ablate() -> None:
    report = report_of(study(), title="t", benchmarks={"sample": "spider"})
    (row,) = table(report, "ablations").records()
    assert (row["first"], row["second"], row["paper"]) == ("merit-no-dense", "merit", "-1.12")
    assert row["first - second"] == pytest.approx(-40.0)


def test_an_ablation_is_compared_with_the_head_of_its_own_layout() -> None:
    runs = [
        ran("merit", WEAK),
        ran("merit", STRONG, layout="conversation"),
        ran("merit-no-dense", WEAK, layout="conversation"),
    ]
    (row,) = table(report_of(runs, title="t"), "ablations").records()
    assert (row["first"], row["second"]) == ("merit-no-dense", "merit, conversation")


def test_an_ablation_without_its_head_is_compared_like_any_strategy() -> None:
    report = report_of([ran("iterative", WEAK), ran("merit-no-dense", STRONG)], title="t")
    (row,) = table(report, "differences").records()
    assert (row["first"], row["second"]) == ("merit-no-dense", "iterative")


def test_the_broken_are_named_and_in_no_rate() -> None:
    rows = table(report_of(study(), title="t"), "left-out").records()
    assert [row["question"] for row in rows] == ["q11", "q5"]
    assert all(row["runs"] == 6 and "no such table" in str(row["note"]) for row in rows)


def test_unfinished_runs_and_missing_golds_are_said() -> None:
    events = run_events(12, run="cut", plans=WEAK)[:40]
    notes = " ".join(report_of([metrics_of(events)], title="t").notes)
    assert "cut is not finished" in notes
    assert "The gold of sample is not at hand" in notes


def test_what_is_judged_otherwise_than_published_is_said() -> None:
    (said,) = [n for n in report_of(study(), title="t").notes if "except on purpose" in n]
    assert said.startswith("Judged as spider's published script does, ")
    assert "a question whose gold query fails is left out of every rate" in said
    assert "empty prediction" not in said
    (said,) = [
        n for n in report_of([ran("merit", WEAK, protocol="bird")], title="t").notes if "purp" in n
    ]
    assert "an empty prediction is wrong, also where the gold result is empty" in said
    own = report_of([ran("merit", WEAK, regime="execution")], title="t")
    assert "except on purpose" not in " ".join(own.notes)


def test_stories_are_the_questions_on_which_arms_part() -> None:
    report = report_of(study(), title="t")
    assert [story.id for story in report.stories] == ["q1", "q10", "q4", "q7"]
    assert all(len(story.tellings) == 6 for story in report.stories)


def test_labels_judge_the_classifier() -> None:
    metrics = study()
    first = {result.question.id: str(result.attempts[0].failure) for result in metrics[0].failed_first}
    rows = table(report_of(metrics, title="t", labels=first), "classifier").records()
    assert {row["accuracy %"] for row in rows} == {100.0}
    assert all(row["questions"] == len(first) for row in rows)


OTHER_MODEL = ModelDescription(engine="scripted", name="qwen-larger", context_tokens=8192, digest="d2")


def of_another_model(run: RunMetrics) -> RunMetrics:
    return msgspec.structs.replace(run, run=f"{run.run}-larger", model=OTHER_MODEL)


def test_first_failures_are_told_once_for_each_model() -> None:
    runs = study()
    runs += [of_another_model(run) for run in runs if run.settings.strategy == "merit"]
    first = {result.question.id: str(result.attempts[0].failure) for result in runs[0].failed_first}
    report = report_of(runs, title="t", labels=first)
    wanted = ["initial SQL, qwen-scripted", "initial SQL, qwen-larger"]
    rows = [row for row in table(report, "failures").records() if row["of"] == "first failures"]
    assert [row["strategy"] for row in rows] == wanted
    assert [(row["questions"], row["orders"], row["failures"]) for row in rows] == [("10", 2, 12)] * 2
    assert [row["strategy"] for row in table(report, "classifier").records()] == wanted


def test_first_failures_are_told_of_the_arm_that_has_judged_most() -> None:
    runs = [ran("iterative", WEAK), *(ran("merit", STRONG, order) for order in (0, 1))]
    rows = table(report_of(runs, title="t"), "failures").records()
    (first,) = [row for row in rows if row["of"] == "first failures"]
    assert (first["strategy"], first["orders"], first["failures"]) == ("initial SQL", 2, 12)


def test_each_arm_has_the_papers_figures_of_its_own_data_set() -> None:
    runs = [ran("merit", STRONG, dataset="bird"), ran("merit", STRONG, dataset="spider")]
    first = {result.question.id: str(result.attempts[0].failure) for result in runs[0].failed_first}
    named = {"spider": "spider", "bird": "bird"}
    report = report_of(runs, title="t", labels=first, benchmarks=named)
    rows = table(report, "classifier").records()
    assert [row["strategy"] for row in rows] == ["initial SQL, data bird", "initial SQL, data spider"]
    assert [str(row["paper"])[-5:] for row in rows] == ["0.355", "0.317"]
    rows = [row for row in table(report, "failures").records() if row["of"] == "first failures"]
    assert [row["paper mismatch"] for row in rows] == [None, 84.7]


def test_every_ablation_has_a_head_to_be_compared_with() -> None:
    heads = {name.partition("-")[0] for name in STRATEGIES if name.startswith("merit")}
    assert heads == {"merit", "merito"}


def test_a_report_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="run"):
        report_of([], title="t")
