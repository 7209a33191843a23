"""The memories' vectors in a file beside the store: a cache that is never trusted further than it
can be checked."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

FORMAT = 1
"""Counts up whenever the texts that are embedded change their form."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of vectors says about itself."""

    format: int
    space: str
    """Fingerprint of the encoder and its weights; spaces never mix."""
    count: int
    newest: str
    """Id of the last entry."""
    dimensions: int
    digest: str
    """SHA-256 of ids and vectors."""


class VectorCache:
    """The vectors of entries in one space. A file that is of another space, cut short or garbage
    counts as absent, and the next `save` replaces it."""

    def __init__(self, path: Path, space: str) -> None:
        self.path = path
        self.space = space

    def load(self) -> tuple[tuple[str, ...], Vectors] | None:
        """The ids and their vectors, float32 of shape (ids, dimensions); None where there is
        nothing that can be used."""
        import numpy as np

        try:
            with np.load(self.path, allow_pickle=False) as file:
                label = msgspec.json.decode(file["label"].tobytes(), type=Label)
                ids = msgspec.json.decode(file["ids"].tobytes(), type=tuple[str, ...])
                vectors: Vectors = file["vectors"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, msgspec.MsgspecError):
            return None
        whole = vectors.dtype == np.float32 and vectors.ndim == 2 and len(vectors) == len(ids)
        return (ids, vectors) if whole and label == self._label(ids, vectors) else None

    def save(self, ids: Sequence[str], vectors: Vectors) -> bool:
        """Add vectors of shape (ids, dimensions) to those that the file has; it is replaced whole or
        not at all. False where it cannot be written: a cache is worth no error."""
        import numpy as np

        added = np.ascontiguousarray(vectors, dtype=np.float32)
        there = self.load()
        if there is None or there[1].shape[1] != added.shape[1]:
            return self._write(tuple(ids), added)
        known = set(there[0])
        fresh = [index for index, name in enumerate(ids) if name not in known]
        names = (*there[0], *(ids[index] for index in fresh))
        return not fresh or self._write(names, np.concatenate([there[1], added[fresh]]))

    def _write(self, ids: tuple[str, ...], vectors: Vectors) -> bool:
        import numpy as np

        label = msgspec.json.encode(self._label(ids, vectors))
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        try:
            with draft.open("wb") as file:
                np.savez(
                    file,
                    label=np.frombuffer(label, dtype=np.uint8),
                    ids=np.frombuffer(msgspec.json.encode(ids), dtype=np.uint8),
                    vectors=vectors,
                )
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path)
        except OSError:
            with suppress(OSError):
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
            dimensions=int(vectors.shape[1]),
            digest=digest.hexdigest(),
        )
