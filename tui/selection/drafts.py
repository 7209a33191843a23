"""Candidates for the first SQL of a run's questions: from an order to what draws and chooses."""

from __future__ import annotations

from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from core.run.events import Drafting, RunSettings
from tui import settings
from tui.selection.kept import memory_bank, open_specs

if TYPE_CHECKING:
    from core.database.sandbox import Sandbox
    from core.datasets.dataset import DataSet
    from core.selection.drafting import Drafter
    from tui.engines import Engines

WITH_MEMORIES, WITHOUT = "map-sql", "map-sql-no-memory"


class Wanted(Protocol):
    """The part of an order that is about candidates."""

    @property
    def initial(self) -> str:
        """greedy or select."""
        ...

    @property
    def candidates(self) -> int:
        """n."""
        ...

    @property
    def selector(self) -> str | None:
        """The method's name, where somebody says."""
        ...

    @property
    def memory_tokens(self) -> int | None:
        """Tokens of memories in a prompt."""
        ...

    @property
    def store(self) -> Path | None:
        """Where memories may be."""
        ...


def drafting_of(order: Wanted) -> Drafting:
    """How candidates are drawn and chosen from. Raises MeritoError for a method that is not there.
    Where nobody says how, memories are shown if the store has any."""
    from core.selection.method import method_named

    method = order.selector
    if method is None:
        method = WITH_MEMORIES if _remembers(order.store) else WITHOUT
    return Drafting(
        candidates=order.candidates,
        method=method_named(method).name,
        memory_tokens=order.memory_tokens,
        takes=order.initial == "select",
    )


def _remembers(store: Path | None) -> bool:
    from stores.specs import Specs, specs_path

    path = specs_path(settings.store_path(None if store is None else str(store)))
    if not path.exists():
        return False
    with closing(Specs(path, create=False)) as specs:
        return bool(specs.ids())


async def drafter_for(
    wanted: RunSettings,
    engines: Engines,
    dataset: DataSet,
    store: Path,
    sandbox: Sandbox,
    agreed: dict[str, str],
    stack: AsyncExitStack,
) -> Drafter | None:
    """What draws and chooses; None where the run has no candidates. Its calls are kept beside the
    store, so that an interruption repeats none. Raises MeritoError."""
    drafting = wanted.drafting
    if isinstance(drafting, msgspec.UnsetType):
        return None
    from core.selection.calls import Caller
    from core.selection.candidates import Executor
    from core.selection.drafting import Drafter
    from core.selection.method import METHODS, Terms
    from core.selection.pooling import Panel
    from core.selection.preparing import Preparer

    specs = stack.enter_context(closing(open_specs(store, create=True)))
    method = METHODS[drafting.method]
    bank: Any = None
    if method.memory and drafting.memory_tokens != 0:
        bank = await stack.enter_async_context(memory_bank(specs, engines.encoder))
    caller = Caller(engines.choice.model, await engines.choice.model.describe(), specs)
    panel = Panel(
        executor=Executor(sandbox, dataset.folder, None, wanted.protocol, wanted.deadline),
        methods=(method,),
        terms=Terms(permutations=drafting.permutations, seed=wanted.seed),
        caller=caller,
        preparer=Preparer(dataset.folder, caller, bank, drafting.memory_tokens),
    )
    return Drafter(drafting, wanted.seed, caller, panel, agreed)
