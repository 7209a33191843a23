"""Pools with everything wrong in them that a pool can have: a clear line each, the rest done."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.tui.commands.choosing import Stage, record, write_pool
from tests.tui.commands.test_select import AGREED, DEAR, PAIR

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000) SELECT i FROM n"
RIGHT, TURNED = (f"SELECT name FROM item WHERE price > 2 ORDER BY price {way}" for way in ("", "DESC"))


class Case(NamedTuple):
    """What a question of the pool is, and what becomes of it."""

    written: dict[str, Any]
    said: tuple[str, ...]
    """Lines about it on stderr."""
    groups: list[list[int]]
    correct: bool | None


CASES = {
    "no candidates": Case(record(20, DEAR), ("Question 20: it has no candidates.",), [], None),
    "one hangs": Case(
        record(21, DEAR, ENDLESS, RIGHT),
        ("Question 21, candidate 1 (greedy): it did not end within the deadline",),
        [[1], [0]],
        True,
    ),
    "one returns ten million rows": Case(
        record(22, DEAR, RIGHT, MANY),
        ("Question 22, candidate 2 (sample-1): it ",),
        [[0], [1]],
        True,
    ),
    "two differ in the order of rows alone": Case(
        record(23, DEAR, TURNED, "SELECT 1", RIGHT), (), [[0, 2], [1]], True
    ),
    "fields that nobody knows": Case(
        record(24, DEAR, RIGHT, mood="good", candidates=[{"sql": RIGHT, "heat": {"t": [0.8]}}]),
        (),
        [[0]],
        True,
    ),
    "gold that fails": Case(
        record(25, DEAR, RIGHT, gold_sql="SELECT nom FROM item"),
        ("Question 25: its gold query fails",),
        [[0]],
        None,
    ),
    "gold that hangs": Case(
        record(26, DEAR, RIGHT, gold_sql=ENDLESS), ("Question 26: its gold query",), [[0]], None
    ),
    "a database that is not there": Case(
        record(27, DEAR, RIGHT, db_id="nowhere"), ("Question 27: ",), [], None
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", [("select", "--method"), ("bench", "select", "--methods")])
def test_each_is_a_clear_line_and_the_rest_of_the_pool_is_done(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    stage = Stage(tmp_path, capsys, monkeypatch)
    pool = write_pool(stage.root, AGREED, *(case.written for case in CASES.values()), PAIR)
    with pool.open("a", encoding="utf-8") as file:
        file.write('{"question_id": 28, "db_id": "shop"}\n{"question_id": \n')
    *verb, flag = command
    options = ("--root", stage.root, flag, "majority", "--deadline", 2, "--json")
    assert stage(*verb, pool, *options) == 1
    assert "Traceback" not in stage.err
    lines = {line["question_id"]: line for line in stage.lines if "choice" in line}
    assert list(lines) == [7, *range(20, 28), 9]
    assert (lines[7]["correct"], lines[9]["correct"]) == (True, False)
    for name, case in CASES.items():
        line = lines[case.written["question_id"]]
        assert line["groups"] == case.groups, name
        assert line["correct"] is case.correct, name
        about = [each for each in stage.err.splitlines() if f"Question {line['question_id']}" in each]
        assert len(about) == len(case.said), (name, about)
        assert all(each.startswith(said) for each, said in zip(about, case.said, strict=True)), about
    for broken in ("record 11", "record 12"):
        assert sum(broken in each for each in stage.err.splitlines()) == 1
