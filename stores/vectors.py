"""The memories' vectors in a file beside the store: a cache that is never trusted further than it
can be checked."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

FORMAT = 1


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of vectors says about itself."""

    format: int
    space: str
    """Fingerprint of the encoder, its weights and the form of the texts; spaces never mix."""
    count: int
    newest: str
    """Id of the last entry."""
    dimensions: int
    digest: str
    """SHA-256 of ids and vectors."""


class VectorCache:
    """The vectors of entries by id, in one space. Whatever is stale, of another space, cut short or
    garbage counts as absent, and the next `save` replaces it."""

    def __init__(self, path: Path, space: str) -> None:
        self.path = path
        self.space = space

    def load(self) -> tuple[tuple[str, ...], Vectors] | None:
        """The ids, oldest first, and their vectors, float32 of shape (ids, dimensions); None where
        there is nothing that can be used."""
        import numpy as np

        try:
            with np.load(self.path, allow_pickle=False) as file:
                label = msgspec.json.decode(file["label"].tobytes(), type=Label)
                ids = msgspec.json.decode(file["ids"].tobytes(), type=tuple[str, ...])
                vectors: Vectors = file["vectors"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, msgspec.MsgspecError):
            return None
        if vectors.ndim != 2 or vectors.dtype != np.float32 or label != self._label(ids, vectors):
            return None
        return ids, vectors

    def known(self, ids: Sequence[str]) -> tuple[Vectors | None, tuple[int, ...]]:
        """The vectors of `ids`, rows of those that are not cached being zero, and the indexes of
        these rows; (None, all) where nothing is cached."""
        import numpy as np

        loaded = self.load()
        if loaded is None or not loaded[0]:
            return None, tuple(range(len(ids)))
        there = {name: row for row, name in enumerate(loaded[0])}
        vectors = np.zeros((len(ids), loaded[1].shape[1]), dtype=np.float32)
        missing = []
        for index, name in enumerate(ids):
            if name in there:
                vectors[index] = loaded[1][there[name]]
            else:
                missing.append(index)
        return vectors, tuple(missing)

    def save(self, ids: Sequence[str], vectors: Vectors) -> bool:
        """Replace the file, whole or not at all. False where the folder does not let it be written:
        a cache is worth no error."""
        import numpy as np

        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        names = msgspec.json.encode(list(ids))
        label = msgspec.json.encode(self._label(tuple(ids), rows))
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        try:
            with draft.open("wb") as file:
                np.savez(
                    file,
                    label=np.frombuffer(label, dtype=np.uint8),
                    ids=np.frombuffer(names, dtype=np.uint8),
                    vectors=rows,
                )
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path)
        except OSError:
            draft.unlink(missing_ok=True)
            return False
        return True

    def _label(self, ids: tuple[str, ...], vectors: Vectors) -> Label:
        digest = hashlib.sha256(msgspec.json.encode(ids))
        digest.update(vectors.tobytes())
        return Label(
            format=FORMAT,
            space=self.space,
            count=len(ids),
            newest=ids[-1] if ids else "",
            dimensions=int(vectors.shape[1]) if vectors.ndim == 2 else 0,
            digest=digest.hexdigest(),
        )
