"""A cache of vectors is right or absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from stores.vectors import VectorCache

SPACE = "all-MiniLM-L6-v2:abc:4"
Vectors = NDArray[np.float32]


def rows(count: int, seed: int = 0, dimensions: int = 4) -> Vectors:
    return np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "merito.sqlite.vectors.npz", SPACE)


def held(cache: VectorCache) -> dict[str, list[float]]:
    loaded = cache.load()
    assert loaded is not None
    return {name: vector.tolist() for name, vector in zip(*loaded, strict=True)}


def test_vectors_come_back_bit_by_bit(cache: VectorCache) -> None:
    vectors = rows(3)
    assert cache.save(["a", "b", "c"], vectors)
    loaded = cache.load()
    assert loaded is not None
    assert loaded[0] == ("a", "b", "c")
    assert loaded[1].dtype == np.float32
    assert np.array_equal(loaded[1], vectors)


def test_nothing_is_absent(cache: VectorCache) -> None:
    assert cache.load() is None


def test_what_was_there_stays_when_more_is_saved(cache: VectorCache) -> None:
    """Runs with a fresh memory and runs with the library share one file."""
    cache.save(["a", "b"], rows(2))
    before = held(cache)
    cache.save(["b", "c"], rows(2, seed=9))
    after = held(cache)
    assert list(after) == ["a", "b", "c"]
    assert {name: after[name] for name in before} == before
    assert after["c"] == rows(2, seed=9)[1].tolist()


def test_another_encoder_s_vectors_are_absent_and_replaced(cache: VectorCache) -> None:
    cache.save(["a"], rows(1))
    other = VectorCache(cache.path, "bge-large:def:4")
    assert other.load() is None
    other.save(["b"], rows(1))
    assert list(held(other)) == ["b"]
    assert cache.load() is None


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _whole: b"",
    "text": lambda _whole: b"not an archive",
    "cut short": lambda whole: whole[: len(whole) * 2 // 3],
    "one bit in the vectors": lambda whole: _flipped(whole, whole.index(b"vectors.npy") + 150),
    "an archive of something else": lambda _whole: _archive(),
}


def _flipped(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


def _archive() -> bytes:
    import io

    file = io.BytesIO()
    np.savez(file, vectors=rows(1))
    return file.getvalue()


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_absent_and_replaced(cache: VectorCache, kind: str) -> None:
    cache.save(["a", "b"], rows(2))
    cache.path.write_bytes(DAMAGE[kind](cache.path.read_bytes()))
    assert cache.load() is None
    assert cache.save(["a"], rows(1))
    assert list(held(cache)) == ["a"]


def test_a_folder_that_cannot_be_written_costs_only_time(
    cache: VectorCache, make_read_only: Callable[[Path], None]
) -> None:
    cache.save(["a"], rows(1))
    make_read_only(cache.path.parent)
    assert not cache.save(["a", "b"], rows(2))
    assert list(held(cache)) == ["a"]


def test_no_draft_is_left_behind(cache: VectorCache) -> None:
    cache.save(["a"], rows(1))
    cache.save(["b"], rows(1))
    assert list(cache.path.parent.iterdir()) == [cache.path]


def test_no_vectors_at_all_can_be_kept(cache: VectorCache) -> None:
    assert cache.save([], rows(0))
    loaded = cache.load()
    assert loaded is not None
    assert loaded[0] == ()
    cache.save(["a"], rows(1))
    assert list(held(cache)) == ["a"]
