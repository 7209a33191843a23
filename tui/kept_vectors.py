"""The vectors that lie beside the store, as the memory of a run wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.memory.embedding import Space
from stores.vectors import VectorCache


class KeptVectors:
    """A cache file of one encoder's vectors; stale or damaged, it counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def fetch(self, space: Space, ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors of those `ids` that the file holds."""
        loaded = VectorCache(self._path, space.fingerprint).load()
        if loaded is None:
            return {}
        held = dict(zip(*loaded, strict=True))
        return {memory: held[memory] for memory in ids if memory in held}

    def keep(self, space: Space, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add them to the file. That it cannot be written is no failure: it is a cache."""
        VectorCache(self._path, space.fingerprint).save(ids, vectors)
