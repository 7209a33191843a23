"""Weights: what is known, what is at hand, and what is verified, with no file hashed twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import MeritoError
from core.models import weights
from tests.core.models.index import CONTENT, WEIGHTS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MERITO_MODELS", str(tmp_path))
    return tmp_path


def steps(path: Path) -> int:
    """How many chunks were read to verify a file: 0 where its digest was remembered."""
    seen: list[object] = []
    weights.verify(WEIGHTS, path, seen.append)
    return len(seen)


def test_the_table_is_that_of_the_specification() -> None:
    sizes = {one.name: (one.size, one.parts.count) for one in weights.KNOWN}
    assert sizes == {"1.5b": (1_117_320_768, 22), "0.5b": (491_400_064, 6)}
    assert weights.known("1.5B").hub_repo == "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(MeritoError, match=r"named '7b'.*Say 1\.5b or 0\.5b"):
        weights.known("7b")


def test_a_file_is_found_only_in_full_length(folder: Path) -> None:
    assert weights.find(WEIGHTS) is None
    (folder / WEIGHTS.file).write_bytes(CONTENT[:-1])
    assert weights.find(WEIGHTS) is None
    (folder / WEIGHTS.file).write_bytes(CONTENT)
    assert weights.find(WEIGHTS) == folder / WEIGHTS.file


def test_a_verified_file_is_not_hashed_again_until_it_changes(folder: Path) -> None:
    path = folder / WEIGHTS.file
    path.write_bytes(CONTENT)
    assert not weights.is_verified(WEIGHTS, path)
    assert steps(path) > 0
    assert weights.is_verified(WEIGHTS, path)
    assert steps(path) == 0
    os.utime(path, ns=(0, 0))
    assert not weights.is_verified(WEIGHTS, path)
    assert steps(path) > 0


def test_a_wrong_checksum_names_file_expected_and_actual(folder: Path) -> None:
    path = folder / "another [/x].gguf".replace("/", "%")
    path.write_bytes(b"x" + CONTENT[1:])
    with pytest.raises(MeritoError) as caught:
        weights.verify(WEIGHTS, path)
    for word in (str(path), WEIGHTS.sha256, weights.sha256_of(path)):
        assert word in caught.value.problem
    assert "merito models pull tiny" in caught.value.mend
    assert not weights.is_verified(WEIGHTS, path)


def test_a_truncated_file_tells_its_length(folder: Path) -> None:
    path = folder / WEIGHTS.file
    path.write_bytes(CONTENT[:1000])
    with pytest.raises(MeritoError, match="1,000 bytes instead of 384,000"):
        weights.verify(WEIGHTS, path)


@pytest.mark.parametrize("notes", [b"", b"{", b"[1]", b'{"a": {"size": "x"}}'])
def test_broken_notes_cost_a_hashing_and_nothing_more(folder: Path, notes: bytes) -> None:
    path = folder / WEIGHTS.file
    path.write_bytes(CONTENT)
    (folder / "hashed.json").write_bytes(notes)
    assert steps(path) > 0
    assert steps(path) == 0


def test_a_file_that_cannot_be_read_is_told_in_words(folder: Path) -> None:
    with pytest.raises(MeritoError, match="cannot be read: No such file"):
        weights.sha256_of(folder / "none")
