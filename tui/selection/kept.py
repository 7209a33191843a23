"""What selection keeps beside a store, opened as the commands' options say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.memory.embedding import EncoderProcess
    from core.selection.retrieval import MemoryBank
    from core.selection.specification import SpecificationMemory
    from stores.specs import Specs


def open_specs(store: Path | None, *, create: bool = False) -> Specs:
    """The specifications that belong to a store, or to the usual one: with `create` to write to, and
    made where they are missing, else to read alone. Raises StoreTrouble."""
    from stores.specs import Specs, specs_path
    from tui import settings

    path = specs_path(settings.store_path(None if store is None else str(store)))
    return Specs(path, create=create, read_only=not create)


@asynccontextmanager
async def memory_bank(
    opened: Specs, encoder: EncoderProcess | None = None
) -> AsyncIterator[MemoryBank]:
    """The bank over the kept memories that may be shown; without an encoder it has one of its own."""
    from core.memory.embedding import DEFAULT_MODEL, EncoderProcess
    from core.selection.retrieval import MemoryBank
    from tui import settings
    from tui.kept_vectors import KeptVectors

    own = encoder or EncoderProcess(settings.value("encoder") or DEFAULT_MODEL, log=settings.log_file())
    shelf = KeptVectors(opened.path.with_name(f"{opened.path.name}.vectors.npz"))
    try:
        yield MemoryBank(_standing(opened), own, shelf)
    finally:
        if encoder is None:
            await own.close()


def _standing(opened: Specs) -> list[SpecificationMemory]:
    """All kept memories but those of repairs that reviewers do not approve (any more). What the
    store beside them knows nothing of stays."""
    from core.memory.entry import ReviewState
    from stores.store import Store

    memories = opened.memories()
    sources = [memory.repair.memory for memory in memories if memory.repair]
    store = opened.path.with_name(opened.path.name.removesuffix(".specs"))
    if not sources or store == opened.path or not store.exists():
        return memories
    with Store.open(store, mode="read") as reviewed:
        states = reviewed.review_states(sources)
    barred = {name for name, state in states.items() if state is not ReviewState.APPROVED}
    return [each for each in memories if each.repair is None or each.repair.memory not in barred]
