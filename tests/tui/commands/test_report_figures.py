"""Every figure of a report, recomputed from the store by a query of its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.models.chat import Message, Sampling
from tests.core.run.stage import RIGHT, WRONG, wrapped
from tests.tui.commands.test_bench import served, stream, told, words
from tests.tui.experiments.harbour_study import STRATEGIES

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
        _differences(conn, rows, stream)
        _mcnemar(conn, rows)
        _failures(conn, rows)
        _repaired(conn, rows)
        _along(conn, rows)
        _cost_of_a_question(conn, rows)
        _unserved(conn, rows, stream)


def drafts(messages: Sequence[Message], sampling: Sampling) -> str:
    """Candidates that do not agree, and a selector that says what it likes."""
    if "You compare SQL queries" in messages[-1].content:
        return "[B] > [A]"
    return wrapped(RIGHT if sampling.temperature and sampling.seed % 2 else WRONG)


async def test_what_a_runs_selector_costs_is_in_the_calls_too(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = stream.parent / "s.sqlite"
    command = ("run", stream, "--initial", "select", "--candidates", 4, "--plain", "--limit", 4)
    async with served(drafts) as (server, model):
        options = ("--strategy", "none", "--model", model, "--store", store)
        code, _, err = await told(capsys, *command, *options)
    assert code == 0, err
    code, out, _ = await told(capsys, "report", "last", "--store", store, "--json")
    (row,) = [row for line in out.splitlines() if (row := json.loads(line))["table"] == "cost"]
    with closing(sqlite3.connect(store)) as conn:
        purposes = dict(conn.execute("SELECT purpose, count(*) FROM calls GROUP BY purpose"))
        assert purposes["initial"] == 4
        assert purposes["candidate"] == 12
        assert purposes["selection"] == len(server.chats) - 16 > 0
        for (table, column), query in SUMS.items():
            if table == "cost":
                assert row[column] == pytest.approx(of_runs(conn, "none", query)[0]), column


async def test_the_classifiers_figures_are_what_labels_and_the_store_say(
    stream: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    async with served() as (_, model):
        await told(capsys, *words(stream, model, "s.sqlite"))
    store, labels = stream.parent / "s.sqlite", stream.parent / "labels.csv"
    with closing(sqlite3.connect(store)) as conn:
        runs = [row[0] for row in conn.execute("SELECT id FROM runs ORDER BY id")]
        predicted = dict(
            conn.execute(
                "SELECT id, failure FROM attempts JOIN questions USING (run, position)"
                " WHERE run = ? AND attempt = 0 AND failure IS NOT NULL",
                (runs[0],),
            ).fetchall()
        )
    cycle = ("Result Mismatch", "Result Mismatch", "Aggregation")
    true = {name: cycle[place % 3] for place, name in enumerate(sorted(predicted)[:-1])}
    lines = [f"{name},{label}" for name, label in {**true, "no question of this": "Syntax"}.items()]
    labels.write_text("\n".join(["question,label", *lines]), "utf-8")
    code, out, _ = await told(capsys, "report", *runs, "--store", store, "--labels", labels, "--json")
    assert code == 0
    (row,) = [row for line in out.splitlines() if (row := json.loads(line))["table"] == "classifier"]
    said = [predicted[name] for name in true]
    assert row["questions"] == len(true) == 8
    assert row["accuracy %"] == pytest.approx(100 * accuracy_score(list(true.values()), said))
    assert 0 < row["accuracy %"] < 100
    kinds = sorted({*true.values(), *said})
    options = {"labels": kinds, "zero_division": 0}
    assert row["macro-F1"] == pytest.approx(
        f1_score(list(true.values()), said, average="macro", **options)
    )
    every = f1_score(list(true.values()), said, average=None, **options)
    assert [row[f"F1 {kind}"] for kind in kinds] == pytest.approx(list(every))


RIGHTS = """
SELECT q.id AS question, r.id AS run, e.outcome IN ('right at once', 'repaired') AS right
FROM episodes e JOIN questions q USING (run, position) JOIN runs r ON r.id = e.run
WHERE r.strategy = ?
"""


def _differences(conn: sqlite3.Connection, rows: list[dict[str, Any]], stream: Path) -> None:
    (row,) = [each for each in rows if each["table"] == "differences"]
    rates = []
    for strategy in (row["first"], row["second"]):
        found = conn.execute(RIGHTS, (strategy,)).fetchall()
        rates.append(sum(right for _, _, right in found) / len(found))
    assert row["first - second"] == pytest.approx(100 * (rates[0] - rates[1]))
    assert (row["questions"], row["orders"]) == (12, 2)
    every = _by_question(conn, row, frozenset())
    assert sum(map(len, every.values())) == 24
    served = _served(conn, stream)
    for column, pairs in (
        ("first - second", every),
        ("gold not seen", _by_question(conn, row, served)),
    ):
        ends = _bootstrapped(pairs)
        assert ends[0] < ends[1]
        assert (row[f"{column} low"], row[f"{column} high"]) == pytest.approx(ends)


def _by_question(
    conn: sqlite3.Connection, row: dict[str, Any], without: frozenset[tuple[str, str]]
) -> dict[str, list[int]]:
    """First minus second of every question in every order, but for (question, order) in `without`."""
    first, second = (
        {
            (question, run.split("-")[-2]): right
            for question, run, right in conn.execute(RIGHTS, (row[name],))
        }
        for name in ("first", "second")
    )
    assert set(first) == set(second)
    found: dict[str, list[int]] = {}
    for question, order in sorted(set(first) - without):
        found.setdefault(question, []).append(first[question, order] - second[question, order])
    return found


def _bootstrapped(pairs: dict[str, list[int]], draws: int = 10_000) -> tuple[float, float]:
    """The ends of the percentile interval in points, as the report describes it: questions are drawn
    with replacement, each with all its orders. Seed 0 of numpy's PCG64; how often each question is
    drawn comes from its multinomial, 500 draws at a time."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(0))
    questions, means = sorted(pairs), []
    even = [1 / len(questions)] * len(questions)
    for _ in range(draws // 500):
        for times in rng.multinomial(len(questions), even, size=500):
            drawn = [
                difference
                for question, often in zip(questions, times, strict=True)
                for difference in pairs[question] * int(often)
            ]
            means.append(100 * sum(drawn) / len(drawn))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _served(conn: sqlite3.Connection, stream: Path) -> frozenset[tuple[str, str]]:
    """(question, order) whose gold occurred earlier in that order."""
    golds = _golds(stream)
    found = set()
    for name, strategy in conn.execute("SELECT id, strategy FROM runs").fetchall():
        seen: set[str] = set()
        for (question_id,) in conn.execute(
            "SELECT id FROM questions WHERE run = ? ORDER BY position", (name,)
        ):
            if golds[question_id] in seen:
                found.add((question_id, name.removeprefix(strategy).split("-")[-2]))
            seen.add(golds[question_id])
    return frozenset(found)


def _golds(stream: Path) -> dict[str, str]:
    return {
        record["id"]: record["gold"]
        for record in map(json.loads, stream.read_text("utf-8").splitlines())
    }


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
    golds = _golds(stream)
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
