"""Both protocols on real databases through the real sandbox."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.database.files import DatabaseFolder
from core.database.rows import Execution
from core.database.sandbox import COMPLETE, Sandbox
from core.datasets.loading import load
from core.errors import MeritoError
from core.feedback import denotation as denotation_module
from core.feedback.denotation import Denotation, Score
from core.feedback.verdict import QuestionBroken, Status
from core.question import Question

MARKER = "zanzibar_7431"
pytestmark = pytest.mark.asyncio(loop_scope="module")


def _question(database: str = "shop") -> Question:
    return Question(id="q", database=database, text="?")


async def _score(
    sandbox: Sandbox, folder: DatabaseFolder, protocol: str, predicted: str, gold: str, **options: Any
) -> Score:
    judge = Denotation(sandbox, folder, {"q": gold}, protocol, **options)
    return await judge.score(_question(), predicted)


RIGHT, WRONG, ERROR = Status.CORRECT, Status.DENOTATION_MISMATCH, Status.EXECUTION_ERROR
NOTHING = "SELECT name FROM empty_shelf"

SPIDER = [
    # predicted, gold, status
    ("SELECT name FROM item", "SELECT name FROM item", RIGHT),
    ("SELECT price, name FROM item", "SELECT name, price FROM item", RIGHT),
    ("SELECT DISTINCT name FROM item", "SELECT name FROM item", RIGHT),
    ("SELECT count(kind) FROM item", "SELECT count(DISTINCT kind) FROM item", RIGHT),
    ("SELECT name FROM item ORDER BY name", "SELECT name FROM item ORDER BY price", WRONG),
    ("SELECT name FROM item ORDER BY name", "SELECT name FROM item ORDER\nBY price", RIGHT),
    ("SELECT name FROM item WHERE price > = 2", "SELECT name FROM item WHERE price >= 2", RIGHT),
    ("SELECT 2020", "SELECT YEAR(CURDATE())", RIGHT),
    ("SELECT name FROM item; SELECT 1", "SELECT name FROM item", RIGHT),
    ("SELECT name FROM item; DROP TABLE item", "SELECT name FROM item", RIGHT),
    ("SELECT id, name FROM empty_shelf", NOTHING, RIGHT),
    ("-- no idea", NOTHING, RIGHT),
    (";", NOTHING, RIGHT),
    (" ", NOTHING, ERROR),
    ("-- no idea", "SELECT name FROM item", WRONG),
    ("DELETE FROM empty_shelf", NOTHING, ERROR),
    ("SELECT nom FROM item", "SELECT name FROM item", ERROR),
    # a quoted name that is no column is a literal, for predictions as for gold
    ('SELECT name FROM item WHERE kind = "fruit"', "SELECT name FROM item WHERE kind = 'fruit'", RIGHT),
    ('SELECT "nom" FROM item', "SELECT 'nom' FROM item", RIGHT),
    # right on the named database, wrong on the test case beside it
    ("SELECT name FROM item WHERE id < 4", "SELECT name FROM item", WRONG),
    ("SELECT NULL", "SELECT kind FROM item WHERE id = 3", RIGHT),
    ("SELECT 'Jos'", "SELECT name FROM bad", RIGHT),
    ("SELECT 'Jo?s'", "SELECT name FROM bad", WRONG),
]

BIRD = [
    ("SELECT name FROM item", "SELECT name FROM item", RIGHT),
    ("SELECT name FROM item ORDER BY name", "SELECT name FROM item ORDER BY price DESC", RIGHT),
    ("SELECT price, name FROM item", "SELECT name, price FROM item", WRONG),
    ("SELECT kind FROM item", "SELECT DISTINCT kind FROM item", RIGHT),
    ("SELECT count(kind) FROM item", "SELECT count(DISTINCT kind) FROM item", WRONG),
    ("SELECT name FROM item WHERE price > = 2", "SELECT name FROM item WHERE price >= 2", ERROR),
    ("SELECT name FROM item; SELECT 1", "SELECT name FROM item", ERROR),
    ("SELECT name FROM item;;", "SELECT name FROM item", ERROR),
    ("SELECT name FROM item; -- done", "SELECT name FROM item", RIGHT),
    (";SELECT name FROM item", "SELECT name FROM item", RIGHT),
    ("SELECT id FROM empty_shelf", NOTHING, RIGHT),
    ("", NOTHING, ERROR),
    ("-- no idea", NOTHING, ERROR),
    (";", NOTHING, ERROR),
    ("DELETE FROM empty_shelf", NOTHING, ERROR),
    # only the named database counts
    ("SELECT name FROM item WHERE id < 4", "SELECT name FROM item", RIGHT),
    ("SELECT 1.0, 10", "SELECT 1, 10", RIGHT),
]


@pytest.mark.parametrize(
    ("protocol", "predicted", "gold", "status"),
    [("spider", *row) for row in SPIDER] + [("bird", *row) for row in BIRD],
)
@pytest.mark.parametrize("ran_before", [False, True], ids=["run here", "run before"])
async def test_decisions(
    sandbox: Sandbox,
    folder: DatabaseFolder,
    protocol: str,
    predicted: str,
    gold: str,
    status: Status,
    ran_before: bool,
) -> None:
    """The same, whether or not the run has executed the prediction already."""
    known = await _executed(sandbox, folder, predicted) if ran_before else None
    judge = Denotation(sandbox, folder, {"q": gold}, protocol)
    score = await judge.score(_question(), predicted, known)
    assert score.correct is (status is RIGHT)
    if not ran_before:
        assert score.status is status


async def _executed(sandbox: Sandbox, folder: DatabaseFolder, sql: str) -> Execution:
    return await sandbox.execute(folder.path("shop"), sql, caps=COMPLETE)


async def test_distinct_kept(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    pair = ("SELECT count(kind) FROM item", "SELECT count(DISTINCT kind) FROM item")
    assert (await _score(sandbox, folder, "spider", *pair)).correct
    assert not (await _score(sandbox, folder, "spider", *pair, keep_distinct=True)).correct


async def test_soft_f1_is_birds_alone(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    gold = "SELECT name, price FROM item WHERE id = 1"
    half = await _score(sandbox, folder, "bird", "SELECT name, 'x' FROM item WHERE id = 1", gold)
    assert (half.status, half.soft) == (WRONG, pytest.approx(0.5))
    assert (await _score(sandbox, folder, "bird", "SELEC", gold)).soft == 0.0
    assert (await _score(sandbox, folder, "spider", gold, gold)).soft is None


async def test_the_author_sees_the_message_about_what_was_written(
    sandbox: Sandbox, folder: DatabaseFolder
) -> None:
    """The text that Spider runs may fail where the written one ran, and the other way round."""
    judge = Denotation(sandbox, folder, {"q": "SELECT name FROM item"}, "spider")
    runs = 'SELECT distinct.a FROM (SELECT 1 AS a) AS "distinct"'
    runs = runs.replace("distinct.a", 'DISTINCT "distinct".a')
    score = await judge.score(_question(), runs, await _executed(sandbox, folder, runs))
    assert (score.status, score.message) == (WRONG, "")
    fails = "SELECT id FROM item WHERE price > = 0"
    score = await judge.score(_question(), fails, await _executed(sandbox, folder, fails))
    assert score.status is ERROR
    assert "syntax error" in score.message


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        (f"SELECT {MARKER} FROM item", "its gold query fails (no such column)."),
        (f"SELECT name FROM {MARKER}", "its gold query fails (no such table)."),
        (f"SELECT name FORM {MARKER}", "its gold query fails (syntax error)."),
        (f"SELECT {MARKER}(name) FROM item", "its gold query fails (no such function)."),
        (f"SELECT name FROM item WHERE name = '{MARKER}", "fails (unrecognized token)."),
        ("", "no gold"),
        (
            f"SELECT '{MARKER}' UNION ALL SELECT '{MARKER}'; SELECT 2",
            "fails (more than one statement).",
        ),
        (
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
            f" SELECT '{MARKER}', i FROM n WHERE i = 2",
            "deadline",
        ),
        (f"SELECT zeroblob(17000000), '{MARKER}'", "limit"),
    ],
    ids=[
        "column",
        "table",
        "syntax",
        "function",
        "literal",
        "missing",
        "two statements",
        "endless",
        "too big",
    ],
)
async def test_a_broken_question_is_named_and_says_nothing_of_gold(
    sandbox: Sandbox, folder: DatabaseFolder, gold: str, why: str
) -> None:
    judge = Denotation(sandbox, folder, {"q": gold}, "bird", deadline=0.3)
    for _ in range(2):  # the second time from the cache
        with pytest.raises(QuestionBroken) as broken:
            await judge.score(_question(), "SELECT name FROM item")
        text = str(broken.value)
        assert "Question q" in text
        assert "shop" in text
        assert why in text
        assert MARKER not in text
        assert broken.value.__cause__ is None
        assert broken.value.__context__ is None


async def test_gold_that_fails_on_one_test_case_breaks_the_question(
    sandbox: Sandbox, folder: DatabaseFolder
) -> None:
    with closing(sqlite3.connect(folder.path("shop").with_name("shop_v2.sqlite"))) as other:
        other.execute("DROP TABLE empty_shelf")
        other.commit()
    with pytest.raises(QuestionBroken):
        await _score(sandbox, folder, "spider", "SELECT 1", NOTHING)


async def test_a_database_that_cannot_be_used_breaks_the_question(
    sandbox: Sandbox, folder: DatabaseFolder
) -> None:
    judge = Denotation(sandbox, folder, {"q": "SELECT 1"}, "spider")
    with pytest.raises(QuestionBroken, match="nowhere"):
        await judge.score(_question("nowhere"), "SELECT 1")
    folder.path("shop").with_name("shop_v3.sqlite").write_bytes(b"not a database, " * 100)
    with pytest.raises(QuestionBroken, match="not an SQLite database"):
        await _score(sandbox, folder, "spider", "SELECT 1", "SELECT 1")


async def test_birds_deadline_holds_for_prediction_and_gold_together(
    sandbox: Sandbox, folder: DatabaseFolder
) -> None:
    sql = "SELECT name FROM item"
    judge = Denotation(sandbox, folder, {"q": sql}, "bird", deadline=5.0)
    fast = await _executed(sandbox, folder, sql)
    slow = Execution(outcome=fast.outcome, columns=fast.columns, rows=fast.rows, seconds=4.99999)
    assert (await judge.score(_question(), sql, fast)).correct
    assert (await judge.score(_question(), sql, slow)).status is Status.TIMEOUT


async def test_limits_are_told_from_wrong_answers(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    score = await _score(sandbox, folder, "bird", "SELECT zeroblob(17000000)", "SELECT 1")
    assert (score.status, score.limit_hit) == (ERROR, True)


async def test_a_comparison_given_up_is_a_limit_hit(
    sandbox: Sandbox, folder: DatabaseFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.feedback.columns import TooHard

    def too_hard(*_: object) -> bool:
        raise TooHard

    protocol = denotation_module.PROTOCOLS["spider"]
    fields = {name: getattr(protocol, name) for name in protocol.__struct_fields__}
    hard = type(protocol)(**{**fields, "equal": too_hard})
    monkeypatch.setitem(denotation_module.PROTOCOLS, "spider", hard)
    score = await _score(sandbox, folder, "spider", "SELECT 1", "SELECT 1")
    assert (score.status, score.limit_hit) == (ERROR, True)


class _CountingSandbox(Sandbox):
    """Counts what it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.statements: list[str] = []

    async def execute(self, database: Path, sql: str, **options: Any) -> Execution:
        self.statements.append(sql)
        return await super().execute(database, sql, **options)


async def test_gold_runs_once_however_many_ask_at_once(folder: DatabaseFolder) -> None:
    gold = "SELECT name FROM item WHERE 7 = 7"
    async with _CountingSandbox() as sandbox:
        judge = Denotation(sandbox, folder, {"q": gold}, "bird")
        await asyncio.gather(*(judge.score(_question(), f"SELECT {n}") for n in range(5)))
        assert sandbox.statements.count(gold) == 1
        assert len(sandbox.statements) == 6


async def test_a_prediction_that_the_protocol_leaves_alone_is_not_run_again(
    folder: DatabaseFolder,
) -> None:
    sql = "SELECT name FROM item;\n"
    async with _CountingSandbox() as sandbox:
        judge = Denotation(sandbox, folder, {"q": "SELECT name FROM item"}, "spider")
        known = await _executed(sandbox, folder, sql)
        before = len(sandbox.statements)
        assert (await judge.score(_question(), sql, known)).correct
        # gold on both test cases, the prediction on the second alone
        assert len(sandbox.statements) - before == 3


async def test_old_gold_results_make_room_and_come_back(
    sandbox: Sandbox, folder: DatabaseFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(denotation_module, "CACHED_CELLS", 4)
    golds = {str(n): f"SELECT name, {n} FROM item" for n in range(4)}
    judge = Denotation(sandbox, folder, golds, "bird")
    for n in (0, 1, 2, 3, 0, 1):
        question = Question(id=str(n), database="shop", text="?")
        assert (await judge.score(question, golds[str(n)])).correct


async def test_an_unknown_protocol_is_named(sandbox: Sandbox, folder: DatabaseFolder) -> None:
    with pytest.raises(MeritoError, match="no protocol 'sider'"):
        Denotation(sandbox, folder, {}, "sider")


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["spider", "bird"])
async def test_every_gold_query_is_right_against_itself(
    sandbox: Sandbox, data_folder: Path, benchmark: str
) -> None:
    dataset = load(data_folder / benchmark)
    judge = Denotation(sandbox, dataset.folder, dataset.golds, dataset.protocol)
    wrong = [
        question.id
        for question in dataset.questions
        if not (await judge.score(question, dataset.golds[question.id])).correct
    ]
    assert wrong == []
    assert len(dataset.questions) == {"spider": 487, "bird": 65}[benchmark]


@pytest.mark.data
@pytest.mark.slow
async def test_real_predictions_are_judged_as_the_literal_reading_says(
    sandbox: Sandbox, data_folder: Path
) -> None:
    """Every fourth question's sampled answers, compared by the slow implementation."""
    from core.database.rows import published_rows
    from tests.core.feedback import reference

    lines = (data_folder / "spider" / "candidates_1.5b.jsonl").read_text("utf-8").splitlines()
    folder = DatabaseFolder(data_folder / "spider")
    for line in lines[::4]:
        pool: Mapping[str, Any] = json.loads(line)
        judge = Denotation(sandbox, folder, {"q": pool["gold_sql"]}, "spider")
        path = folder.path(pool["db_id"])
        gold_text = reference.spider_text(pool["gold_sql"])
        gold = await sandbox.execute(path, gold_text, caps=COMPLETE)
        for sql in {candidate["sql"] for candidate in pool["candidates"]}:
            run = await sandbox.execute(path, reference.spider_text(sql), caps=COMPLETE)
            expected = not run.error and reference.spider_equal(
                published_rows(run), published_rows(gold), "order by" in gold_text.lower()
            )
            assert (await judge.score(_question(pool["db_id"]), sql)).correct is expected, sql
