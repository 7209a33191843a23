"""Data sets are read whole, or refused with one line that names file, record and field."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.datasets.loading import load
from core.errors import MeritoError
from stores.store import Store

SPIDER_RECORD = {"db_id": "shop", "question": "How many?", "query": "SELECT 1"}
BIRD_RECORD = {
    "question_id": 7,
    "db_id": "shop",
    "question": "How many?",
    "evidence": "many is more than two",
    "SQL": "SELECT 1",
    "difficulty": "simple",
}
TABLE_RECORD = {"database": "shop", "question": "How many?", "gold": "SELECT 1", "id": "a"}


def _database(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE item (id INTEGER)")


def _write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the database `shop` in Spider's layout."""
    _database(tmp_path / "database" / "shop" / "shop.sqlite")
    return tmp_path


def test_an_id_of_ehrsql_is_taken_where_it_is_there(root: Path) -> None:
    records = [{**SPIDER_RECORD, "id": "6f3a"}, {**SPIDER_RECORD, "id": 7, "question_id": 8}]
    _write(root / "valid.json", records)
    found = load(root / "valid.json")
    assert (found.protocol, found.golds) == ("spider", {"6f3a": "SELECT 1", "8": "SELECT 1"})


def test_spider_by_its_folder(root: Path) -> None:
    records = [SPIDER_RECORD, {**SPIDER_RECORD, "evidence": "a hint", "question_id": "own"}]
    _write(root / "dev.json", records)
    found = load(root)
    assert found.protocol == "spider"
    assert [question.id for question in found.questions] == ["0", "own"]
    assert found.questions[1].evidence == "a hint"
    assert found.golds == {"0": "SELECT 1", "own": "SELECT 1"}
    assert found.problems == ()
    assert found.name == root.name


def test_bird_by_its_folder(tmp_path: Path) -> None:
    _database(tmp_path / "dev_databases" / "shop" / "shop.sqlite")
    _write(tmp_path / "dev.json", [BIRD_RECORD])
    for stream in (tmp_path, tmp_path / "dev.json"):
        found = load(stream)
        assert found.protocol == "bird"
        question = found.questions[0]
        assert (question.id, question.evidence, question.difficulty) == (
            "7",
            "many is more than two",
            "simple",
        )
        assert found.golds == {"7": "SELECT 1"}


TABLES = {
    "questions.jsonl": "\n".join(
        [json.dumps(TABLE_RECORD), "", json.dumps({"database": "shop", "question": "Which?"})]
    ),
    "questions.csv": 'id,database,question,gold\na,shop,How many?,SELECT 1\n,shop,"Which?",\n',
    "questions.tsv": "id\tdatabase\tquestion\tgold\na\tshop\tHow many?\tSELECT 1\n\tshop\tWhich?\t\n",
    "list.json": json.dumps([TABLE_RECORD, {"database": "shop", "question": "Which?"}]),
}


@pytest.mark.parametrize("name", TABLES)
def test_plain_tables(root: Path, tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = _write(tmp_path_factory.mktemp("elsewhere") / name, TABLES[name])
    found = load(path, root=root)
    assert [(q.id, q.text) for q in found.questions] == [("a", "How many?"), ("1", "Which?")]
    assert found.golds == {"a": "SELECT 1"}
    assert found.protocol == "bird"


def test_standard_input(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def typed() -> None:
        lines = json.dumps(TABLE_RECORD).encode() + b"\n"
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))

    typed()
    found = load("-", root=root)
    assert (found.name, len(found.questions)) == ("stdin", 1)
    typed()
    with pytest.raises(MeritoError, match="do not say where their databases are"):
        load("-")


def test_a_byte_order_mark_and_windows_line_ends(root: Path) -> None:
    path = root / "questions.csv"
    path.write_bytes("\ufeffdatabase,question\r\nshop,Wie viele?\r\n".encode())
    assert load(path).questions[0].text == "Wie viele?"


def test_a_question_may_be_long_strange_or_look_like_markup(root: Path) -> None:
    texts = ["x" * 100_000, "[red]\x1b[31m\x00\t", "¿Cuántos? 💾", '"quoted", with commas\nand lines']
    _write(root / "dev.json", [{**SPIDER_RECORD, "question": text} for text in texts])
    assert [question.text for question in load(root).questions] == texts


def test_questions_without_a_database_are_counted_and_the_rest_runs(root: Path) -> None:
    away = [{**SPIDER_RECORD, "db_id": name} for name in ("gone", "gone", "../shop")]
    _write(root / "dev.json", [*away, SPIDER_RECORD])
    found = load(root)
    assert [question.id for question in found.questions] == ["3"]
    assert list(found.golds) == ["3"]
    assert len(found.problems) == 2
    assert found.problems[0].startswith("2 of 4 questions left out: there is no database 'gone'")
    assert [(each.question, each.database, each.why) for each in found.left_out] == [
        ("0", "gone", "no database"),
        ("1", "gone", "no database"),
        ("2", "../shop", "no database"),
    ]


def test_a_set_without_gold_is_read_too(root: Path) -> None:
    _write(root / "dev.json", [{"db_id": "shop", "question": "How many?"}])
    assert load(root).golds == {}


def test_gold_is_not_printed_with_the_set(root: Path) -> None:
    _write(root / "dev.json", [{**SPIDER_RECORD, "query": "SELECT 'marker'"}])
    assert "marker" not in repr(load(root))


MALFORMED: list[tuple[str, str, Any, list[str]]] = [
    # what, file name, content, what the line must name
    ("broken JSON", "dev.json", '[{"db_id": "shop",]', ["dev.json", "broken JSON"]),
    ("broken JSON below", "dev.json", '[\n{"db_id": \n]', ["dev.json", "line 3"]),
    ("an object", "dev.json", {"a": 1}, ["dev.json", "list of records"]),
    ("deep", "dev.json", "[" * 100_000, ["dev.json", "broken JSON"]),
    ("long number", "dev.json", f"[{'9' * 10_000}]", ["dev.json", "broken JSON"]),
    ("empty list", "dev.json", [], ["dev.json", "no questions"]),
    ("empty file", "dev.json", " \n", ["dev.json", "empty"]),
    ("no object", "dev.json", [SPIDER_RECORD, 5], ["dev.json, record 2", "object"]),
    (
        "no question",
        "dev.json",
        [{"db_id": "shop", "query": "x"}],
        ["record 1", "'question'", "missing"],
    ),
    ("null question", "dev.json", [{**SPIDER_RECORD, "question": None}], ["'question'", "missing"]),
    ("empty question", "dev.json", [{**SPIDER_RECORD, "question": " \n"}], ["'question'", "empty"]),
    ("number", "dev.json", [SPIDER_RECORD, {**SPIDER_RECORD, "question": 5}], ["record 2", "a number"]),
    ("list", "dev.json", [{**SPIDER_RECORD, "query": ["SELECT"]}], ["'query'", "a list"]),
    (
        "half a character",
        "dev.json",
        '[{"db_id": "shop", "question": "\\ud800"}]',
        ["'question'", "half"],
    ),
    (
        "no gold in one",
        "dev.json",
        [SPIDER_RECORD, {"db_id": "shop", "question": "?"}],
        ["record 2", "'query'"],
    ),
    (
        "bird's gold",
        "dev.json",
        [BIRD_RECORD, {**BIRD_RECORD, "question_id": 8, "SQL": None}],
        ["record 2", "'SQL'"],
    ),
    ("same id", "dev.json", [BIRD_RECORD, BIRD_RECORD], ["record 2", "'7'", "record 1"]),
    ("id is a float", "dev.json", [{**BIRD_RECORD, "question_id": 1.5}], ["'question_id'", "a number"]),
    (
        "id is a truth",
        "dev.json",
        [{**BIRD_RECORD, "question_id": True}],
        ["'question_id'", "true or false"],
    ),
    (
        "broken line",
        "q.jsonl",
        '{"database": "shop", "question": "?"}\n{"a\n',
        ["q.jsonl, record 2", "broken"],
    ),
    ("a list a line", "q.jsonl", "[1]\n", ["q.jsonl, record 1", "object"]),
    ("no database", "q.jsonl", '{"question": "?"}\n', ["record 1", "'database'", "missing"]),
    ("no header", "q.csv", "shop,How many?\n", ["q.csv", "no header"]),
    ("header twice", "q.csv", "database,question,question\n", ["q.csv", "'question' twice"]),
    ("header alone", "q.csv", "database,question\n", ["q.csv", "no questions"]),
    ("too many cells", "q.csv", "database,question\nshop,One, two?\n", ["record 1", "3 cells"]),
    ("open quote", "q.csv", 'database,question\nshop,"One\n', ["q.csv, record 1", "broken CSV"]),
    ("empty cell", "q.csv", "database,question\nshop,\n", ["record 1", "'question'", "empty"]),
    ("no cell", "q.csv", "question,database\nHow many?\n", ["record 1", "'database'", "missing"]),
    ("unknown ending", "q.xlsx", "x", ["q.xlsx", "kind of file"]),
]


@pytest.mark.parametrize(
    ("name", "content", "named"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED]
)
def test_malformed_files(root: Path, name: str, content: Any, named: list[str]) -> None:
    path = _write(root / name, content)
    with pytest.raises(MeritoError) as refused:
        load(path)
    problem = refused.value.problem
    assert all(each in problem for each in named), problem
    assert "\n" not in str(refused.value)
    assert refused.value.mend


BESIDE_SOUND = [row for row in MALFORMED if isinstance(row[2], list) and len(row[2]) == 2] + [
    row for row in MALFORMED if row[0] == "broken line"
]


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [row[1:] for row in BESIDE_SOUND],
    ids=[row[0] for row in BESIDE_SOUND],
)
def test_a_malformed_record_may_be_left_out_by_name(
    root: Path, name: str, content: Any, named: list[str]
) -> None:
    found = load(_write(root / name, content), leave_broken_out=True)
    assert len(found.questions) == 1
    (left_out,) = found.left_out
    assert left_out.why == "malformed"
    assert all(each in left_out.note for each in named), left_out
    (told,) = found.problems
    assert told.startswith("1 of 2 records left out: malformed; the first: ")
    assert left_out.note in told


def test_what_is_left_out_changes_no_id(root: Path) -> None:
    lines = [json.dumps({"database": "shop", "question": text}) for text in "abc"]
    path = _write(root / "q.jsonl", "\n".join([lines[0], "{", lines[1], "[]", lines[2]]))
    found = load(path, leave_broken_out=True)
    assert [(question.id, question.text) for question in found.questions] == [
        ("0", "a"),
        ("2", "b"),
        ("4", "c"),
    ]


def test_where_nothing_is_sound_the_first_trouble_is_told(root: Path) -> None:
    with pytest.raises(MeritoError, match="record 1: an object"):
        load(_write(root / "dev.json", [5, 6]), leave_broken_out=True)


def test_a_file_that_is_not_utf8(root: Path) -> None:
    path = root / "q.jsonl"
    path.write_bytes(b'{"database": "shop", "question": "?"}\n{"question": "Caf\xe9"}')
    with pytest.raises(MeritoError, match=r"q\.jsonl: the text is not UTF-8 \(line 2\)"):
        load(path)


def test_no_database_at_all_is_an_error(root: Path) -> None:
    _write(root / "dev.json", [{**SPIDER_RECORD, "db_id": "shopp"}])
    with pytest.raises(MeritoError, match="The question does not have its database") as refused:
        load(root)
    assert "shop" in refused.value.mend


def test_paths_that_lead_nowhere(root: Path, tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match="no file or folder"):
        load(root / "nothing.json")
    with pytest.raises(MeritoError, match="holds no file of questions"):
        load(root)
    _write(root / "dev.json", [SPIDER_RECORD])
    with pytest.raises(MeritoError, match="no folder"):
        load(root, root=tmp_path / "nothing")
    with pytest.raises(MeritoError, match="no data set layout 'wikisql'"):
        load(root, dataset="wikisql")


def test_the_layout_can_be_named(root: Path) -> None:
    """A file with both golds is read as the user says."""
    _write(root / "dev.json", [{**SPIDER_RECORD, "SQL": "SELECT 2"}])
    assert load(root, dataset="spider").golds == {"0": "SELECT 1"}
    assert load(root, dataset="bird").golds == {"0": "SELECT 2"}
    assert load(root).protocol == "bird"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(["q.json", "q.jsonl", "q.csv", "q.tsv"]))
def test_any_bytes_are_read_or_refused_in_one_line(root: Path, content: bytes, name: str) -> None:
    path = root / name
    path.write_bytes(content)
    with pytest.raises(MeritoError) as refused:
        load(path)
    assert "\n" not in refused.value.problem


@pytest.mark.data
def test_the_benchmarks(data_folder: Path, tmp_path: Path) -> None:
    spider, bird = load(data_folder / "spider"), load(data_folder / "bird")
    assert (len(spider.questions), spider.protocol, spider.name) == (487, "spider", "spider")
    assert (len(bird.questions), bird.protocol, bird.name) == (65, "bird", "bird")
    assert all(question.evidence for question in bird.questions)
    copied = tmp_path / "questions.json"
    shutil.copy(data_folder / "spider" / "dev.json", copied)
    assert len(load(copied, root=data_folder / "spider" / "database").questions) == 487


@pytest.mark.parametrize(
    ("count", "begins", "asks"),
    [
        (1, "The question does not have its database", "(it asks for 'gone')"),
        (2, "None of the 2 questions has its database", "(the first asks for 'gone')"),
    ],
)
def test_without_a_root_it_is_said_which_folder_was_searched(
    count: int, begins: str, asks: str, tmp_path: Path
) -> None:
    lines = [json.dumps({"database": "gone", "question": "How many?"})] * count
    path = _write(tmp_path / "questions.jsonl", "\n".join(lines))
    (tmp_path / "empty.sqlite").touch()
    with Store.open(tmp_path / "store.sqlite", create=True):
        pass
    with pytest.raises(MeritoError) as caught:
        load(path)
    assert caught.value.problem == (
        f"{begins} in the stream's own folder, {tmp_path}, which is searched without --root {asks}."
    )
    assert caught.value.mend.startswith("It holds no database")
    assert caught.value.mend.endswith("Name the folder of the databases: --root DIR.")


def test_with_a_root_the_databases_that_are_there_are_named(root: Path, tmp_path: Path) -> None:
    path = _write(tmp_path / "elsewhere.jsonl", json.dumps({**TABLE_RECORD, "database": "gone"}))
    (root / "empty.sqlite").touch()
    with pytest.raises(MeritoError) as caught:
        load(path, root=root)
    assert caught.value.problem.startswith(f"The question does not have its database under {root}")
    assert "shop" in caught.value.mend
    assert "empty" not in caught.value.mend
