"""From a command's options to everything that choosing works with."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from core.errors import MeritoError
from core.selection.method import Method, Terms
from core.selection.pool import Pool, PooledQuestion
from core.selection.pooling import FILE_ORDER, Chosen, Panel
from tui.selection.kept import memory_bank, open_specs

if TYPE_CHECKING:
    from core.database.files import DatabaseFolder
    from core.database.sandbox import Sandbox
    from core.models.chat import ChatModel
    from core.selection.candidates import Executor
    from core.selection.retrieval import MemoryBank
    from stores.specs import Specs

SHUFFLED = (1, 2)
"""Two presentations of one pool, neither of them its file's."""
WITHOUT_MODEL = 2
"""Questions at once where nobody is asked: as many as the sandbox has workers."""


class PanelOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    pool: Path
    root: Path
    methods: tuple[Method, ...]
    dataset: str = "auto"
    permutations: int = 4
    memory_tokens: int | None = None
    seed: int = 0
    limit: int | None = None
    deadline: float = 30.0
    presentations: tuple[int, ...] = (FILE_ORDER,)
    all_runs: bool = False
    model: str | None = None
    judge: str | None = None
    store: Path | None = None
    bank: Path | None = None

    @property
    def protocol(self) -> str:
        """The rule of equality: Spider's in its layout, BIRD's everywhere else."""
        if self.dataset != "auto":
            return self.dataset
        root = self.root.resolve()
        spider = root.name == "database" or (root / "database").is_dir()
        return "spider" if spider or (root / "tables.json").is_file() else "bird"

    @property
    def asks(self) -> bool:
        """Whether any method asks a model."""
        return any(method.compares not in ("nothing", "groups") for method in self.methods)

    @property
    def remembers(self) -> bool:
        """Whether any method shows memories."""
        return self.memory_tokens != 0 and any(method.memory for method in self.methods)


@dataclass(frozen=True)
class Ready:
    """A panel that can choose, and where its choices are kept."""

    panel: Panel
    specs: Specs
    at_once: int
    """Questions under way at once."""
    order: PanelOrder
    places: dict[str, int]
    sandbox: Sandbox
    folder: DatabaseFolder

    def turned_to(self, path: Path, pool: Pool) -> Ready:
        """The same for another pool over the same databases."""
        order = msgspec.structs.replace(self.order, pool=path)
        executor = _executor(order, pool, self.sandbox, self.folder)
        panel = replace(self.panel, executor=executor, executed={})
        return replace(self, order=order, panel=panel, places=_places(pool))

    def keep(self, chosen: Sequence[Chosen]) -> None:
        """Keep one question's choices for whoever looks at them later."""
        from stores.specs import KeptSelection

        self.specs.keep_selections(
            KeptSelection(
                pool=_pool_name(self.order.pool),
                place=self.places[each.pooled.question.id],
                at=time.time(),
                question=each.pooled.question,
                candidates=each.candidates,
                selection=each.selection,
                consistent=each.consistent,
            )
            for each in chosen
        )


@asynccontextmanager
async def panel_for(order: PanelOrder, pool: Pool) -> AsyncIterator[Ready]:
    """The panel, with a model and memories only where a method uses them. Raises MeritoError."""
    from core.database.files import DatabaseFolder
    from core.database.sandbox import Sandbox

    async with AsyncExitStack() as stack:
        folder = DatabaseFolder(order.root)
        specs = stack.enter_context(closing(open_specs(order.store, create=True)))
        parts = await _asking(order, folder, specs, stack) if order.asks else {}
        sandbox = await stack.enter_async_context(Sandbox(2))
        panel = Panel(
            executor=_executor(order, pool, sandbox, folder),
            methods=order.methods,
            terms=Terms(
                permutations=order.permutations, seed=order.seed, early_stop=not order.all_runs
            ),
            presentations=order.presentations,
            **parts,
        )
        yield Ready(
            panel=panel,
            specs=specs,
            at_once=panel.caller.at_once if panel.caller else WITHOUT_MODEL,
            order=order,
            places=_places(pool),
            sandbox=sandbox,
            folder=folder,
        )


def questions_of(order: PanelOrder, pool: Pool) -> Sequence[PooledQuestion]:
    """Those that are chosen for."""
    return pool.questions[: order.limit]


def _executor(order: PanelOrder, pool: Pool, sandbox: Sandbox, folder: DatabaseFolder) -> Executor:
    from core.selection.candidates import Executor

    golds = {each.question.id: each.gold for each in pool.questions if each.gold.strip()}
    return Executor(sandbox, folder, golds or None, order.protocol, order.deadline)


def _pool_name(path: Path) -> str:
    """What a pool is kept under: its path, readable where its bytes are no text."""
    return os.fsencode(path.resolve()).decode("utf-8", "replace")


def _places(pool: Pool) -> dict[str, int]:
    return {each.question.id: place for place, each in enumerate(pool.questions)}


async def _asking(
    order: PanelOrder, folder: Any, specs: Specs, stack: AsyncExitStack
) -> dict[str, Any]:
    from core.selection.calls import Caller
    from core.selection.preparing import Preparer
    from tui.selection.telling import stumbled

    bank = await _bank(order, specs, stack) if order.remembers else None
    model = await _model(order.model, stack)
    caller = Caller(model, await model.describe(), specs, stumbled=stumbled)
    judge = None
    if order.judge:
        other = await _model(order.judge, stack)
        judge = Caller(other, await other.describe(), specs, stumbled=stumbled)
    preparer = Preparer(folder, caller, bank, order.memory_tokens, judge)
    return {"caller": caller, "judge": judge, "preparer": preparer}


async def _bank(order: PanelOrder, specs: Specs, stack: AsyncExitStack) -> MemoryBank:
    source = specs if order.bank is None else stack.enter_context(closing(_named(order.bank)))
    if not source.ids():
        raise MeritoError(
            f"There are no specification memories at {source.path}, and a method shows them.",
            "Make them with: merito specs build TRAIN; or go without: --memory-tokens 0.",
        )
    return await stack.enter_async_context(memory_bank(source))


def _named(bank: Path) -> Specs:
    """The specifications at a path, which is their own file's or their store's."""
    from stores.specs import Specs, specs_path

    own = bank.exists() and not specs_path(bank).exists()
    return Specs(bank if own else specs_path(bank), create=False, read_only=True)


async def _model(name: str | None, stack: AsyncExitStack) -> ChatModel:
    from tui import settings
    from tui.engines import engines

    ready = await stack.enter_async_context(engines(settings.value("model", name)))
    for line in ready.choice.why:
        click.echo(line, err=True)
    return ready.choice.model
