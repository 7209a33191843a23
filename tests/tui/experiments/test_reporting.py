"""Which data sets the papers' figures may stand beside."""

from __future__ import annotations

import pytest

from core.experiments.metrics import RunMetrics, metrics_of
from core.experiments.report import report_of
from tests.streams import run_events, settings
from tui.experiments.reporting import benchmarks_of


def over(dataset: str, protocol: str = "spider", n: int = 3) -> RunMetrics:
    asked = settings(dataset=dataset, protocol=protocol)
    return metrics_of(run_events(n, run_settings=asked))


@pytest.mark.parametrize(
    ("dataset", "protocol", "benchmark"),
    [
        ("/d/spider", "spider", "spider"),
        ("/d/Spider/dev.json", "spider", "spider"),
        ("/d/bird", "bird", "bird"),
        ("/d/mini-dev/mini_dev_sqlite.json", "bird", "bird"),
        ("/d/spider/train_spider.json", "spider", None),
        ("/d/spider", "bird", None),
        ("/d/drspider", "spider", None),
        ("/d/spider-syn", "spider", None),
        ("/d/spider/variants", "spider", None),
        ("/d/ladybird", "bird", None),
        ("-", "spider", None),
    ],
)
def test_a_benchmark_is_told_by_its_whole_name(
    dataset: str, protocol: str, benchmark: str | None
) -> None:
    assert benchmarks_of([over(dataset, protocol)]).get(dataset) == benchmark


def test_other_questions_than_the_papers_are_said() -> None:
    runs = [over("/d/spider")]
    notes = " ".join(report_of(runs, title="t", benchmarks=benchmarks_of(runs)).notes)
    assert "figures beside spider are of all 1,034 questions of its dev set; 3 were asked" in notes
    assert "dev set" not in " ".join(report_of(runs, title="t").notes)
