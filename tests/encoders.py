"""An encoder without weights, for tests that need vectors and not their meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.memory.embedding import Space

DIMENSIONS = 32


class HashingEncoder:
    """Each word adds one to a dimension that its hash names; equal texts get equal vectors."""

    name = "hashing"
    dimensions = DIMENSIONS

    async def start(self) -> None:
        """There is nothing to load."""

    async def space(self) -> Space:
        return Space(name="hashing", digest="-", dimensions=DIMENSIONS, window=256)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([_vector(text) for text in texts])

    async def cuts(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(0 for _ in texts)

    async def close(self) -> None:
        """There is nothing to end."""


def _vector(text: str) -> NDArray[np.float32]:
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    for word in text.lower().split():
        vector[hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[0] % DIMENSIONS] += 1
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector
