"""The choices that are kept beside a store, as the console reads them: never written, never locked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stores.specs import KeptPool, KeptSelection


class Selections(Protocol):
    """Pools and what was chosen from them."""

    async def pools(self) -> Sequence[KeptPool]:
        """Every pool, the newest first. Raises MeritoError where they cannot be read."""
        ...

    async def selections(self, pool: str) -> Sequence[KeptSelection]:
        """The choices kept of a pool, by question, then by method."""
        ...


class KeptSelections:
    """Those of a store; there need be none."""

    def __init__(self, store: Path) -> None:
        self._store = store

    async def pools(self) -> Sequence[KeptPool]:
        """Every pool, the newest first."""
        return await asyncio.to_thread(self._pools)

    async def selections(self, pool: str) -> Sequence[KeptSelection]:
        """The choices kept of a pool."""
        return await asyncio.to_thread(self._selections, pool)

    def _pools(self) -> Sequence[KeptPool]:
        from stores.specs import Specs, specs_path

        path = specs_path(self._store)
        if not path.exists():
            return ()
        with Specs(path, create=False, read_only=True) as specs:
            return specs.pools()

    def _selections(self, pool: str) -> Sequence[KeptSelection]:
        from stores.specs import Specs, specs_path

        with Specs(specs_path(self._store), create=False, read_only=True) as specs:
            return specs.selections(pool)
