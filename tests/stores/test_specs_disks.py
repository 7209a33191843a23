"""A file of specifications on a full disk: the disk is named, and nothing kept is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.selection.specification import ExtraKeyword, Specification, SpecificationMemory
from stores.errors import StoreTrouble
from stores.specs import Specs


def memories(start: int, count: int) -> list[SpecificationMemory]:
    extra = (ExtraKeyword(keyword="UNION", usage="long " * 800),)
    return [
        SpecificationMemory(
            id=f"{number:06}",
            database="shop",
            question=f"Question {number}?",
            specification=Specification(extra_keywords=extra),
        )
        for number in range(start, start + count)
    ]


def fill(specs: Specs) -> tuple[int, StoreTrouble]:
    """Keep memories until the disk refuses; how many were acknowledged, and the error."""
    kept = 0
    while kept < 2_000:
        try:
            kept += specs.keep(memories(kept, 50))
        except StoreTrouble as trouble:
            return kept, trouble
    pytest.fail("the disk never filled up")


def test_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "merito.sqlite.specs"
    with Specs(path) as specs:
        kept, trouble = fill(specs)
        assert "no space is left for it" in trouble.problem
        assert str(path) in trouble.problem
        assert trouble.mend
        assert len(specs.ids()) == kept
    with Specs(path, create=False) as specs:
        assert len(specs.ids()) == kept


def test_a_page_limit_of_sqlite_reads_as_a_full_disk(tmp_path: Path) -> None:
    with Specs(tmp_path / "merito.sqlite.specs") as specs:
        specs._connection.execute("PRAGMA max_page_count = 60")
        kept, trouble = fill(specs)
        assert "no space is left for it" in trouble.problem
        assert len(specs.ids()) == kept
