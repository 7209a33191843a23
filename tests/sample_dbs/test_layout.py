"""The folder is a data set in Spider's layout, small, and complete."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from sample_dbs.build import QUESTION_FIELDS, names

Record = dict[str, Any]


def test_there_are_five_domains_below_one_megabyte_together(root: Path) -> None:
    files = sorted(root.glob("database/*/*.sqlite"))
    assert [file.stem for file in files] == [file.parent.name for file in files] == names(root)
    assert len(files) == 5
    assert sum(file.stat().st_size for file in files) < 1_000_000


def test_every_question_has_every_field_and_a_number_of_its_own(questions: list[Record]) -> None:
    assert all(tuple(question) == QUESTION_FIELDS for question in questions)
    assert len({question["question_id"] for question in questions}) == len(questions)
    assert {question["difficulty"] for question in questions} == {"simple", "moderate", "challenging"}


def test_no_two_questions_of_a_database_read_the_same(questions: list[Record]) -> None:
    texts = {(question["db_id"], question["question"].casefold()) for question in questions}
    assert len(texts) == len(questions)


def test_a_database_has_enough_tables_rows_and_questions(
    name: str, database: sqlite3.Connection, questions: list[Record]
) -> None:
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    sizes = [database.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0] for table in tables]
    own = [question for question in questions if question["db_id"] == name]
    assert 5 <= len(tables) <= 9
    assert min(sizes) > 0
    assert max(sizes) >= 200
    assert len(own) >= 28
    assert sum(bool(question["evidence"]) for question in own) >= 2


def test_spiders_tables_name_every_column_and_key(
    name: str, database: sqlite3.Connection, spider_tables: dict[str, Record]
) -> None:
    record = spider_tables[name]
    tables, columns = record["table_names_original"], record["column_names_original"]
    assert columns[0] == [-1, "*"]
    assert len(columns) == len(record["column_names"]) == len(record["column_types"])
    for place, table in enumerate(tables):
        stored = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        assert [column for owner, column in columns if owner == place] == stored
    for child, parent in record["foreign_keys"]:
        child_table, parent_table = tables[columns[child][0]], tables[columns[parent][0]]
        keys = database.execute(f'PRAGMA foreign_key_list("{child_table}")').fetchall()
        assert (parent_table, columns[child][1], columns[parent][1]) in {key[2:5] for key in keys}
    assert record["foreign_keys"]
    assert record["primary_keys"]


def test_the_demo_is_a_dozen_known_questions_at_most_of_one_or_two_databases(
    root: Path, questions: list[Record]
) -> None:
    chosen = json.loads((root / "demo.json").read_text(encoding="utf-8"))
    by_number = {question["question_id"]: question for question in questions}
    assert 8 <= len(chosen) == len(set(chosen)) <= 12
    assert len({by_number[number]["db_id"] for number in chosen}) <= 2


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, sample_dbs; print(*({'sqlite3', 'sqlglot', 'core', 'tui'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == ""
