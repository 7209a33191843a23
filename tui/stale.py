"""Which stored memories their databases contradict by now."""

from __future__ import annotations

from pathlib import Path

from core.database.files import DatabaseFolder
from core.database.schema import Schema, read_schema
from core.errors import MeritoError
from core.memory.staleness import differences, fingerprint, seen
from stores.store import Store


def stale_memories(store: Store) -> dict[str, tuple[str, ...]]:
    """The differences between each memory's stored schema and its database, for those that have any
    and about which nobody has decided knowing them. A memory whose database cannot be found or read
    is not stale: nothing is known about it."""
    databases = _Databases(store)
    found: dict[str, tuple[str, ...]] = {}
    for run, database, text, memories in store.schemas():
        schema = databases.schema(run, database)
        differing = differences(text, schema) if schema is not None else ()
        if differing:
            mark = fingerprint(differing)
            found |= {memory: differing for memory in memories if not _settled(store, memory, mark)}
    return found


def _settled(store: Store, memory: str, mark: str) -> bool:
    history = store.history(memory)
    return bool(history) and seen(history[-1].remark) == mark


class _Databases:
    """Where the runs of a store had their databases."""

    def __init__(self, store: Store) -> None:
        self._roots = {
            run.record.id: _root(run.settings.root, run.settings.dataset) for run in store.standings()
        }
        self._schemas: dict[Path, Schema | None] = {}

    def schema(self, run: str, database: str) -> Schema | None:
        """The database's schema today. An imported memory's run is not here: then any run's folder
        that has a database of the name will do."""
        own = self._roots.get(run)
        for root in dict.fromkeys((own,) if own is not None else self._roots.values()):
            path = _path(root, database)
            if path is not None:
                return self._read(path)
        return None

    def _read(self, path: Path) -> Schema | None:
        if path not in self._schemas:
            try:
                self._schemas[path] = read_schema(path)
            except MeritoError:
                self._schemas[path] = None
        return self._schemas[path]


def _root(root: str, dataset: str) -> Path:
    if root:
        return Path(root)
    path = Path(dataset)
    return path if path.is_dir() else path.parent


def _path(root: Path, database: str) -> Path | None:
    try:
        return DatabaseFolder(root).path(database)
    except MeritoError:
        return None
