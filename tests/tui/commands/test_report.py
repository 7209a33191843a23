"""`merito report`: every figure against a query of its own, and files that hold hostile text."""

from __future__ import annotations

import csv
import html.parser
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.run.events import AttemptJudged, RunStarted
from stores.store import Store
from tests.streams import HOSTILE, batches, question, run_events, settings
from tests.tui.commands.test_bench import served, stream, told, words
from tests.tui.experiments.harbour_study import STRATEGIES
from tui.experiments import files
from tui.experiments.reporting import reported, stored_metrics
from tui.main import run

__all__ = ["stream"]

MEANS = {
    "accuracy": (
        ("initial", "100.0 * sum(outcome = 'right at once') / count(*)"),
        ("final", "100.0 * sum(outcome IN ('right at once', 'repaired')) / count(*)"),
    ),
    "repairs": (
        ("initial failures", "sum(outcome <> 'right at once')"),
        ("repaired", "sum(outcome = 'repaired')"),
        (
            "steps",
            "1.0 * sum(attempts) / sum(outcome <> 'right at once')",
        ),
    ),
}
"""Table -> (column, an aggregate over the judged episodes of one run)."""

SUMS = {
    ("repairs", "oscillation %"): "SELECT 100.0 * sum(repeats IS NOT NULL) / count(*) FROM attempts"
    " WHERE run = ? AND attempt > 0",
    ("repairs", "with memory"): "SELECT count(*) FROM episodes e WHERE run = ? AND outcome = 'repaired'"
    " AND EXISTS (SELECT 1 FROM retrieved r WHERE r.run = e.run AND r.position = e.position"
    " AND r.attempt = e.attempts AND r.taken)",
    ("repairs", "limit hits"): "SELECT coalesce(sum(limit_hit), 0) FROM attempts WHERE run = ?",
    ("cost", "calls"): "SELECT count(*) FROM calls WHERE run = ? AND answer_seq IS NOT NULL",
    ("cost", "repair calls"): "SELECT count(*) FROM calls WHERE run = ? AND attempt > 0",
    ("cost", "tokens sent"): "SELECT sum(prompt_tokens) FROM calls WHERE run = ?",
    ("cost", "tokens evaluated"): "SELECT sum(prompt_tokens - coalesce(cached_tokens, 0)) FROM calls"
    " WHERE run = ?",
    ("cost", "tokens written"): "SELECT sum(output_tokens) FROM calls WHERE run = ?",
    ("cost", "model s"): "SELECT sum(seconds) FROM calls WHERE run = ?",
    ("cost", "database s"): "SELECT sum(seconds) FROM executions WHERE run = ?",
    ("cost", "retrieval s"): "SELECT coalesce(sum(s), 0) FROM (SELECT max(seconds) AS s FROM retrievals"
    " WHERE run = ? GROUP BY seq)",
}
"""(table, column) -> its value of one run."""


def of_runs(conn: sqlite3.Connection, strategy: str, query: str) -> tuple[float, int]:
    """Mean of a query over the runs of a strategy, and their number."""
    runs = [row[0] for row in conn.execute("SELECT id FROM runs WHERE strategy = ?", (strategy,))]
    values = [conn.execute(query, (each,)).fetchone()[0] for each in runs]
    return sum(values) / len(values), len(values)


async def test_every_figure_is_what_a_query_of_the_store_says(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served() as (_, model):
        code, out, _ = await told(capsys, *words(stream, model, "s.sqlite", "--json"))
    assert code == 0
    rows = [row for line in out.splitlines() if "table" in (row := json.loads(line))]
    checked = 0
    with closing(sqlite3.connect(stream.parent / "s.sqlite")) as conn:
        for row in rows:
            queries = {
                column: f"SELECT {aggregate} FROM episodes WHERE run = ?"
                for column, aggregate in MEANS.get(row["table"], ())
            } | {column: query for (table, column), query in SUMS.items() if table == row["table"]}
            for column, query in queries.items():
                mean, orders = of_runs(conn, row["strategy"], query)
                assert row[column] == pytest.approx(mean), (row["table"], row["strategy"], column)
                assert row["orders"] == orders
                checked += 1
        assert checked == 2 * (5 + len(SUMS))
        _differences(conn, rows)
        _mcnemar(conn, rows)
        _failures(conn, rows)
        _repaired(conn, rows)
        _along(conn, rows)
        _cost_of_a_question(conn, rows)
        _unserved(conn, rows, stream)


RIGHTS = """
SELECT q.id AS question, r.id AS run, e.outcome IN ('right at once', 'repaired') AS right
FROM episodes e JOIN questions q USING (run, position) JOIN runs r ON r.id = e.run
WHERE r.strategy = ?
"""


def _differences(conn: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    (row,) = [each for each in rows if each["table"] == "differences"]
    rates = []
    for strategy in (row["first"], row["second"]):
        found = conn.execute(RIGHTS, (strategy,)).fetchall()
        rates.append(sum(right for _, _, right in found) / len(found))
    assert row["first - second"] == pytest.approx(100 * (rates[0] - rates[1]))
    assert row["first - second low"] <= row["first - second"] <= row["first - second high"]
    assert (row["questions"], row["orders"]) == (12, 2)


def _mcnemar(conn: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    """On the first order alone, by scipy's exact binomial test."""
    from scipy.stats import binomtest

    (row,) = [each for each in rows if each["table"] == "differences"]
    counts = conn.execute(
        f"WITH a AS ({RIGHTS} AND r.id LIKE '%-0-%'), b AS ({RIGHTS} AND r.id LIKE '%-0-%')"
        " SELECT sum(a.right > b.right), sum(a.right < b.right) FROM a JOIN b USING (question)",
        (row["first"], row["second"]),
    ).fetchone()
    assert counts == (row["only first right"], row["only second right"])
    assert row["McNemar p"] == pytest.approx(binomtest(counts[0], sum(counts)).pvalue)


def _failures(conn: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    """Shares by type: of the first failures, which all strategies share, and of the last."""
    queries = {
        "first failures": "SELECT failure, count(*) FROM attempts JOIN runs ON runs.id = attempts.run"
        " WHERE strategy = ? AND attempt = 0 AND failure IS NOT NULL GROUP BY failure",
        "still wrong": "SELECT failure, count(*) FROM attempts a JOIN runs ON runs.id = a.run"
        " WHERE strategy = ? AND failure IS NOT NULL AND attempt = (SELECT max(attempt)"
        " FROM attempts b WHERE b.run = a.run AND b.position = a.position) GROUP BY failure",
    }
    checked = [row for row in rows if row["table"] == "failures"]
    assert [row["strategy"] for row in checked] == ["initial SQL", *STRATEGIES.split(",")]
    for row in checked:
        strategy = "iterative" if row["strategy"] == "initial SQL" else row["strategy"]
        kinds = dict(conn.execute(queries[row["of"]], (strategy,)).fetchall())
        assert row["failures"] == sum(kinds.values()) > 0
        for kind, number in kinds.items():
            assert row[kind] == pytest.approx(100 * number / row["failures"])


def _repaired(conn: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    query = (
        "SELECT failure, sum(outcome = 'repaired'), count(*) FROM attempts"
        " JOIN episodes USING (run, position) JOIN runs ON runs.id = attempts.run"
        " WHERE strategy = ? AND attempt = 0 AND outcome <> 'right at once' GROUP BY failure"
    )
    for row in (each for each in rows if each["table"] == "repaired-by-type"):
        found = conn.execute(query, (row["strategy"],)).fetchall()
        assert (row["all"], row["all of"]) == tuple(
            sum(column) for column in list(zip(*found, strict=True))[1:]
        )
        for kind, repaired, failed in found:
            assert (row[kind], row[f"{kind} of"]) == (repaired, failed)


def _along(conn: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    query = (
        "SELECT avg(outcome IN ('right at once', 'repaired')) FROM episodes"
        " JOIN runs ON runs.id = run WHERE strategy = ? AND position < ?"
    )
    for row in (each for each in rows if each["table"] == "stream"):
        places = [int(name.removeprefix("n = ")) for name in row if name.startswith("n = ")]
        assert places[-1] == 12
        for n in places:
            (rate,) = conn.execute(query, (row["strategy"], n)).fetchone()
            assert row[f"n = {n}"] == pytest.approx(100 * rate)


def _cost_of_a_question(conn: sqlite3.Connection, rows: list[dict[str, Any]]) -> None:
    query = (
        "SELECT count(*), sum(prompt_tokens), sum(output_tokens) FROM calls"
        " JOIN runs ON runs.id = run WHERE strategy = ?"
    )
    for row in (each for each in rows if each["table"] == "tradeoff"):
        calls, sent, written = conn.execute(query, (row["strategy"],)).fetchone()
        figures = (row["calls"], row["tokens sent"], row["tokens written"])
        assert figures == pytest.approx((calls / 24, sent / 24, written / 24))


def _unserved(conn: sqlite3.Connection, rows: list[dict[str, Any]], stream: Path) -> None:
    golds = {
        record["id"]: record["gold"]
        for record in map(json.loads, stream.read_text("utf-8").splitlines())
    }
    for row in (each for each in rows if each["table"] == "accuracy"):
        rates = []
        for (name,) in conn.execute("SELECT id FROM runs WHERE strategy = ?", (row["strategy"],)):
            seen: set[str] = set()
            counted = []
            for question_id, outcome in conn.execute(
                "SELECT id, outcome FROM episodes JOIN questions USING (run, position)"
                " WHERE run = ? ORDER BY position",
                (name,),
            ):
                if golds[question_id] not in seen:
                    counted.append(outcome in ("right at once", "repaired"))
                seen.add(golds[question_id])
            rates.append(sum(counted) / len(counted))
            assert row["questions, gold not seen"] == str(len(counted)) == "8"
        assert row["final, gold not seen"] == pytest.approx(100 * sum(rates) / len(rates))


async def test_files_hold_the_same_tables(stream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stream.parent
    async with served() as (_, model):
        _, out, _ = await told(capsys, *words(stream, model, "s.sqlite", "--json"))
    experiment = json.loads(out.splitlines()[0])["experiment"]
    code, said, _ = await told(
        capsys, "report", "--experiment", experiment, "--store", folder / "s.sqlite",
        "--html", folder / "r.html", "--markdown", folder / "r.md", "--csv", folder / "tables",
    )  # fmt: skip
    assert code == 0
    assert "Written: " in said
    rows = [json.loads(line) for line in out.splitlines()]
    for name in ("accuracy", "differences", "repairs", "cost", "failures", "runs", "questions"):
        with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            written = list(csv.DictReader(file))
        wanted = [
            {k: v for k, v in row.items() if k != "table"} for row in rows if row.get("table") == name
        ]
        assert written == [{k: "" if v is None else str(v) for k, v in row.items()} for row in wanted]
    text = (folder / "r.md").read_text("utf-8")
    assert "## Execution accuracy" in text
    assert "50.00" in text
    page = (folder / "r.html").read_text("utf-8")
    assert page.count("<svg") == 3
    assert "50.00" in page


class Page(html.parser.HTMLParser):
    """Notes every tag and attribute, and whether the tags close as they opened."""

    VOID = frozenset({"meta", "line", "polyline", "circle", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


EVIL = "</pre></title><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7 * 7 }} {% raw %}"


def hostile_store(path: Path) -> Store:
    """Two runs whose questions, SQL and messages try to break out."""
    store = Store.create(path)
    for name, right in (("plain", 0), ("other", 1)):
        events: list[Any] = []
        for event in run_events(8, run=name, run_settings=settings(strategy=name, dataset=EVIL)):
            if isinstance(event, RunStarted):
                asked = tuple(question(n, text=f"{EVIL} {HOSTILE} {n}") for n in range(8))
                event = msgspec.structs.replace(event, questions=asked, problems=(EVIL,))
            if isinstance(event, AttemptJudged):
                event = msgspec.structs.replace(event, sql=EVIL + HOSTILE, message=EVIL + HOSTILE)
            if right and getattr(event, "outcome", None) == "failed":
                event = msgspec.structs.replace(event, outcome="right at once")
            events.append(event)
        for batch in batches(events):
            store.append(batch)
    return store


def test_text_from_outside_is_never_markup(tmp_path: Path) -> None:
    with closing(hostile_store(tmp_path / "s.sqlite")) as store:
        report = reported(stored_metrics(store, ["plain", "other"]), EVIL)
    assert report.stories
    files.write_page(tmp_path / "r.html", report)
    text = (tmp_path / "r.html").read_text("utf-8")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert not page.tags & {"script", "img", "link", "iframe", "object", "a"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("src", "href")}
    assert "{{ 7 * 7 }}" in text
    assert "\x1b" not in text + files.markdown(report)
    assert "<script" not in files.markdown(report).replace("\\<", "")
    assert files.write_csv(tmp_path / "tables", report)


def test_the_terminal_sees_no_control_character(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile_store(tmp_path / "s.sqlite").close()
    assert run(["report", "plain", "other", "--store", str(tmp_path / "s.sqlite")]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "<img src=x" in out


MISTAKES: dict[str, tuple[list[str], int, str]] = {
    "nothing named": ([], 2, "Name a RUN"),
    "no such run": (["gone"], 2, "'gone'"),
    "no such experiment": (["--experiment", "x0"], 2, "'x0'"),
    "labels that are not there": (["plain", "--labels", "none.csv"], 2, "none.csv"),
    "a file in a file": (["plain", "--html", "s.sqlite/r.html"], 1, "r.html"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_clear_line(
    mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile_store(tmp_path / "s.sqlite").close()
    monkeypatch.chdir(tmp_path)
    more, code, said = MISTAKES[mistake]
    assert run(["report", "--store", "s.sqlite", *more]) == code
    assert said in capsys.readouterr().err


def test_labels_name_their_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile_store(tmp_path / "s.sqlite").close()
    labels = tmp_path / "labels.csv"
    labels.write_text("question,label\nq1,Syntax\nq2,Sintax\n", "utf-8")
    command = ["report", "plain", "--store", str(tmp_path / "s.sqlite"), "--labels", str(labels)]
    assert run(command) == 1
    assert "record 3" in capsys.readouterr().err
    labels.write_text("question,label\nq1,Result Mismatch\nq2,Syntax\n", "utf-8")
    assert run(command) == 0
    assert "Failure classifier against labels" in capsys.readouterr().out
