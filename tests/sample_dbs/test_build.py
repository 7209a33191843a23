"""What is committed is what the sources give, on every machine and version."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sample_dbs.build import build, build_database, dump, names, source_questions

REPEATED_LESSONS = 5
"""How many lessons of a database come up in at least two questions."""


@pytest.fixture
def sources(root: Path, tmp_path: Path) -> Path:
    """A copy of the sources, in which a test may break something."""
    shutil.copytree(root / "sources", tmp_path / "sources")
    return tmp_path


def break_question(root: Path, name: str, **changes: object) -> int:
    """Change the first question of `name`; its number is returned."""
    path = root / "sources" / name / "questions.json"
    records: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    records[0].update(changes)
    path.write_text(json.dumps(records), encoding="utf-8")
    return int(records[0]["question_id"])


def test_a_database_built_anew_holds_what_the_committed_one_holds(
    root: Path, name: str, tmp_path: Path
) -> None:
    fresh = tmp_path / f"{name}.sqlite"
    build_database(root, name, fresh)
    assert dump(fresh) == dump(root / "database" / name / f"{name}.sqlite")


@pytest.mark.slow
def test_a_full_build_gives_the_committed_files(root: Path, sources: Path) -> None:
    assert build(sources) == []
    for file in ("dev.json", "tables.json"):
        assert (sources / file).read_text("utf-8") == (root / file).read_text("utf-8")


@pytest.mark.slow
def test_a_rebuild_leaves_the_bytes_of_an_unchanged_database(sources: Path) -> None:
    build(sources)
    path = sources / "database" / "metro_rail" / "metro_rail.sqlite"
    before = path.stat().st_mtime_ns
    build(sources)
    assert path.stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_broken_gold_query_is_named_and_nothing_is_published(sources: Path) -> None:
    number = break_question(sources, "city_clinic", query="SELECT NAME FROM DEPT")
    assert build(sources) == [f"city_clinic {number}: does not run: no such column: NAME"]
    assert not (sources / "dev.json").exists()


@pytest.mark.slow
def test_a_number_used_twice_is_a_fault(sources: Path, root: Path) -> None:
    taken = source_questions(root, "city_clinic")[1]["question_id"]
    break_question(sources, "city_clinic", question_id=taken)
    assert build(sources) == [f"question_id {taken} is used 2 times"]


def test_rows_without_their_parent_are_refused(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sources / "sources" / "film_festival" / "handwritten.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    del rows["countries"][0]
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(ValueError, match="film_festival: rows without their parent"):
        build_database(sources, "film_festival", tmp_path / "broken.sqlite")


def test_what_one_question_teaches_another_needs(root: Path) -> None:
    for name in names(root):
        lessons = [record["lesson"] for record in source_questions(root, name)]
        repeated = {lesson for lesson in lessons if lessons.count(lesson) > 1}
        assert len(repeated) >= REPEATED_LESSONS, name


def test_databases_stay_readable_by_plain_sqlite(database: sqlite3.Connection) -> None:
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)
