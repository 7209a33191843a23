"""`merito eval` in the benchmarks' own files, as its user meets it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tui.main import run

SEPARATOR = "\t----- bird -----\t"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the database `shop`."""
    path = tmp_path / "database" / "shop" / "shop.sqlite"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE item (name TEXT, value REAL);"
            "INSERT INTO item VALUES ('apple', 1), ('pear', 2.5), ('pear', 2.5)"
        )
    return tmp_path


class Evaluation:
    """Writes the two files, runs the command, and keeps what it printed."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._root, self._capsys = root, capsys
        self.out = self.err = ""

    def __call__(self, dataset: str, gold: str, pred: Any, *options: str) -> int:
        gold_file, pred_file = self._root / "gold.sql", self._root / "pred"
        gold_file.write_text(gold, "utf-8")
        pred_file.write_text(pred if isinstance(pred, str) else json.dumps(pred), "utf-8")
        arguments = ["--gold", str(gold_file), "--pred", str(pred_file), "--root", str(self._root)]
        code = run(["eval", "--dataset", dataset, *arguments, *options])
        self.out, self.err = self._capsys.readouterr()
        return code

    def decisions(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def evaluate(root: Path, capsys: pytest.CaptureFixture[str]) -> Evaluation:
    return Evaluation(root, capsys)


def test_spider_decisions_as_json(evaluate: Evaluation) -> None:
    gold = "SELECT name FROM item\tshop\n" * 5
    pred = (
        "SELECT name FROM item\nSELECT 1\nSELECT nom FROM item\nDROP TABLE item\nselect name from item"
    )
    assert evaluate("spider", gold, pred, "--json") == 0
    found = evaluate.decisions()
    assert found[0] == {"index": 0, "db_id": "shop", "correct": True, "status": "CORRECT", "error": ""}
    assert [(each["index"], each["correct"], each["status"]) for each in found[1:]] == [
        (1, False, "DENOTATION_MISMATCH"),
        (2, False, "EXECUTION_ERROR"),
        (3, False, "EXECUTION_ERROR"),
        (4, True, "CORRECT"),
    ]
    assert "does anything else the sandbox refuses, is wrong: 1 (index 3)\n" in evaluate.err
    assert found[2]["error"] == "no such column: nom"
    assert "not authorized" in found[3]["error"]


def test_spider_files_are_read_as_the_published_script_reads_them(evaluate: Evaluation) -> None:
    """Blank lines end a conversation, what follows a tab in a prediction is not looked at, and
    `value` between spaces stands for a number."""
    gold = "SELECT 1\tshop\nSELECT 2\tshop\n\nSELECT 1\tshop\n\n"
    pred = "  SELECT value \nSELECT 2\tshop\n\r\nSELECT value , 1\n"
    assert evaluate("spider", gold, pred.replace("value \n", "value \n"), "--json") == 0
    assert [each["index"] for each in evaluate.decisions()] == [0, 1, 2]
    assert [each["correct"] for each in evaluate.decisions()] == [False, True, False]
    assert evaluate("spider", "SELECT 1 AS one\tshop", "SELECT value AS one", "--json") == 0
    assert evaluate.decisions()[0]["correct"] is True


def test_distinct(evaluate: Evaluation) -> None:
    pair = ("SELECT count(DISTINCT name) FROM item\tshop", "SELECT count(name) FROM item")
    evaluate("spider", *pair, "--json")
    assert evaluate.decisions()[0]["correct"] is True
    evaluate("spider", *pair, "--json", "--keep-distinct")
    assert evaluate.decisions()[0]["correct"] is False


def test_bird_decisions_as_json(evaluate: Evaluation) -> None:
    gold = "SELECT name, value FROM item\tshop\n" * 5
    pred = {
        "0": f"SELECT DISTINCT name, value FROM item{SEPARATOR}shop",
        "1": f"SELECT value, name FROM item{SEPARATOR}shop",
        "2": 0,
        "3": "  SELECT name, value FROM item ",
        "4": f"SELECT a{SEPARATOR}b{SEPARATOR}c",
    }
    assert evaluate("bird", gold, pred, "--json") == 0
    found = evaluate.decisions()
    assert [each["correct"] for each in found] == [True, False, False, True, False]
    assert [each["soft_f1"] for each in found] == [1.0, 1.0, 0.0, 1.0, 0.0]
    assert found[2]["error"] == "no SQL found in the answer"


def test_the_summary(evaluate: Evaluation) -> None:
    gold = "SELECT name FROM item\tshop\n" * 3 + "SELECT marker_x FROM item\tshop\n"
    pred = [f"SELECT name FROM item{SEPARATOR}shop", "", "DELETE FROM item", "SELECT 1"]
    assert evaluate("bird", gold, dict(enumerate(pred))) == 1
    assert "33.33 % of 3" in evaluate.out
    assert "soft F1" in evaluate.out
    assert "BROKEN" in evaluate.out
    assert (
        "an empty prediction is wrong, also where the gold result is empty: 1 (index 1)" in evaluate.out
    )
    assert "refuses, is wrong: 1 (index 2)" in evaluate.out
    assert "gold query fails is left out of every rate: 1 (index 3)" in evaluate.out
    assert "marker_x" not in evaluate.out + evaluate.err


def test_one_database_a_schema_is_said_to_be_weak(evaluate: Evaluation) -> None:
    assert evaluate("spider", "SELECT 1\tshop", "SELECT 1") == 0
    assert "weaker than the distilled test suite" in evaluate.out


def test_broken_questions_are_named_and_left_out(evaluate: Evaluation) -> None:
    gold = "SELECT marker_x FROM item\tshop\nSELECT 1\tnowhere\nSELECT 1\tshop"
    assert evaluate("spider", gold, "SELECT 1\n" * 3, "--json") == 1
    found = evaluate.decisions()
    assert [(each["correct"], each["status"]) for each in found] == [
        (None, "BROKEN"),
        (None, "BROKEN"),
        (True, "CORRECT"),
    ]
    assert "Question 0" in found[0]["error"]
    assert "nowhere" in found[1]["error"]
    assert "marker_x" not in evaluate.out + evaluate.err


def test_limits_and_deadlines(evaluate: Evaluation) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"
    pred = f"{endless}\nSELECT zeroblob(17000000)\n"
    assert evaluate("spider", "SELECT 1\tshop\n" * 2, pred, "--json", "--deadline", "0.3") == 0
    assert [each["status"] for each in evaluate.decisions()] == ["TIMEOUT", "LIMIT"]


@pytest.mark.parametrize(
    ("dataset", "gold", "pred", "says"),
    [
        ("spider", "SELECT 1\tshop\nSELECT 2\tshop", "SELECT 1", "has 2 queries"),
        ("spider", "SELECT 1\tshop", "", "has 0"),
        ("spider", "", "SELECT 1", "no gold queries"),
        ("spider", "SELECT 1\tshop\n\nSELECT 2\tshop", "SELECT 1\nSELECT 2", "blank lines"),
        ("spider", "SELECT 1 shop", "SELECT 1", "line 1: expected SQL, one tab"),
        (
            "spider",
            "SELECT 1\tshop\nSELECT\t2\tshop",
            "SELECT 1\nSELECT 2",
            "line 2: expected SQL, one tab",
        ),
        ("bird", "SELECT 1\tshop", '{"0": "SELECT 1"', "broken JSON"),
        ("bird", "SELECT 1\tshop", '["SELECT 1"]', "expected a JSON object"),
        ("bird", "SELECT 1\tshop", "{}", "has 0"),
        ("bird", "SELECT 1\tshop\n\nSELECT 1\tshop", '{"0": "", "1": ""}', "line 2: expected SQL"),
    ],
)
def test_files_that_do_not_fit(
    evaluate: Evaluation, dataset: str, gold: str, pred: str, says: str
) -> None:
    assert evaluate(dataset, gold, pred, "--json") == 1
    assert evaluate.out == ""
    assert says in evaluate.err
    assert evaluate.err.count("\n") == 1


def test_a_file_that_is_not_there_is_a_usage_error(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = ["--root", str(root), "--gold", str(root / "no.sql"), "--pred", str(root / "no.sql")]
    assert run(["eval", "--dataset", "spider", *paths]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.data
@pytest.mark.slow
def test_the_benchmarks_gold_against_itself(
    data_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = data_folder / "spider" / "dev_gold.sql"
    pred = tmp_path / "pred.sql"
    lines = gold.read_text("utf-8").splitlines()
    pred.write_text("\n".join(line.split("\t")[0] for line in lines), "utf-8")
    root = ["--root", str(data_folder / "spider"), "--gold", str(gold), "--pred", str(pred)]
    assert run(["eval", "--dataset", "spider", *root, "--json"]) == 0
    decisions = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(decisions) == len(lines)
    assert all(decision["correct"] for decision in decisions)
    assert [decision["index"] for decision in decisions] == list(range(len(lines)))


def test_a_root_that_holds_none_of_the_databases_is_one_mistake(evaluate: Evaluation) -> None:
    gold = "SELECT 1\tmarket\nSELECT 1\tshpo\n" * 20
    assert evaluate("spider", gold, "SELECT 1\n" * 40) == 2
    assert evaluate.out == ""
    assert evaluate.err.count("\n") == 1
    assert "None of the 2 databases" in evaluate.err
    assert "There are: shop" in evaluate.err
    assert evaluate("spider", "SELECT 1\tshpo\n", "SELECT 1\n") == 2
    assert "The database 'shpo' that the gold queries name is not under" in evaluate.err
    assert "Did you mean shop?" in evaluate.err


@pytest.mark.parametrize(
    ("keys", "odd"), [(("0", "1", "2"), ""), (("0", "2", "1"), "'2'"), (("a", "b", "c"), "'a'")]
)
def test_birds_predictions_under_odd_keys_are_told(
    evaluate: Evaluation, keys: tuple[str, ...], odd: str
) -> None:
    pred = dict.fromkeys(keys, f"SELECT name FROM item{SEPARATOR}shop")
    assert evaluate("bird", "SELECT name FROM item\tshop\n" * 3, pred, "--json") == 0
    assert [each["correct"] for each in evaluate.decisions()] == [True] * 3
    assert ("paired by place" in evaluate.err) == bool(odd)
    assert odd in evaluate.err


def test_what_rewording_costs_is_told_over_the_questions_judged_both_times(
    evaluate: Evaluation, root: Path
) -> None:
    """Of four questions the gold of one is broken; of the others two were right, and one stays so."""
    gold = "SELECT 1\tshop\n" * 3 + "SELECT gone\tshop"
    assert evaluate("spider", gold, "SELECT 1\nSELECT 1\nSELECT 2\nSELECT 1", "--json") == 1
    before = root / "before.jsonl"
    before.write_text(evaluate.out, "utf-8")
    after = "SELECT 1\nSELECT 2\nSELECT 2\nSELECT 1"
    assert evaluate("spider", gold, after, "--before", str(before)) == 1
    told = " ".join(evaluate.out.split())
    assert (
        "Before the rewording 66.67 %, after it 33.33 %: a drop of 33.33 [0.00, 100.00] points" in told
    )
    assert "of 3 questions judged both times." in told
    assert evaluate("spider", gold, after, "--before", str(before), "--json") == 1
    assert len(evaluate.decisions()) == 4
    assert "a drop of 33.33" in evaluate.err


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            '{"index": 0, "correct": true}',
            "From before the rewording there is 1 decision, now there are 2 questions",
        ),
        ('{"index": 0, "correct": true}\n' * 2, "record 2: the field 'index' is no whole number"),
        ('{"index": 0}', "record 1: the field 'correct' is neither true"),
        ("", "is empty"),
    ],
)
def test_decisions_of_other_questions_are_refused(
    evaluate: Evaluation, root: Path, lines: str, says: str
) -> None:
    before = root / "before.jsonl"
    before.write_text(lines, "utf-8")
    assert evaluate("spider", "SELECT 1\tshop\n" * 2, "SELECT 1\n" * 2, "--before", str(before)) == 1
    assert says in evaluate.err
    assert evaluate.err.count("\n") == 1
