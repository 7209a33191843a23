"""Questions that are put from the console: each is a run of one with the library of the store, so
that what the question before taught is used at once (merit.md, "The loop")."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.errors import MeritoError, UsageMistake
from core.question import Question
from tui.console.session import Opened

if TYPE_CHECKING:
    from stores.store import Store
    from tui.engines import Engines
    from tui.order import Order
    from tui.workbench import Workbench


@dataclass(frozen=True)
class Source:
    """A database that can be asked."""

    name: str
    root: Path
    about: str = ""
    """Where it comes from, in a word or two."""

    @cached_property
    def file(self) -> Path:
        """The file itself, by whichever way one came to it."""
        from core.database.files import DatabaseFolder

        return DatabaseFolder(self.root).path(self.name).resolve()


def folders_of(root: Path | None) -> list[tuple[Path, str]]:
    """Where databases are looked for: below `root`, and among the samples."""
    import sample_dbs

    named = [] if root is None else [(root, "")]
    return [*named, (sample_dbs.folder(), "sample")]


class Asker:
    """Puts questions, one after the other, on one engine that stays open between them."""

    def __init__(
        self,
        order: Callable[[], Order],
        *,
        store: Callable[[], Store] | None = None,
        folders: Sequence[tuple[Path, str]] = (),
        engines: Callable[[], Engines | None] = lambda: None,
        more: Callable[[], Sequence[tuple[Path, str]]] = tuple,
    ) -> None:
        """`order` says how questions are asked (model, strategy, store, ...). `store` gives a store
        that is open for writing already, `engines` a model that a run has started; without them
        the model is started with the first question, and the store is open while one is under way.
        `folders` hold databases, each with a word; `more` tells those that are known only later.
        The console makes an asker before its first paint: nothing is looked at, and nothing of a
        run imported, until somebody wants to ask."""
        self._order = order
        self._store_at_hand, self._engines_at_hand = store, engines
        self._stack = AsyncExitStack()
        self._writes = False
        self._engines: Engines | None = None
        self._benches: dict[Path, Workbench] = {}
        self._lock = asyncio.Lock()
        self._sources: list[Source] = []
        self._folders, self._more = folders, more

    @property
    def sources(self) -> tuple[Source, ...]:
        """The databases there are by now."""
        self._offer(self._folders)
        self._folders = ()
        self._offer(self._more())
        return tuple(self._sources)

    @property
    def writing(self) -> bool:
        """Whether a question that was put here is being recorded in a store opened for it."""
        return self._writes

    def _offer(self, folders: Sequence[tuple[Path, str]]) -> None:
        for root, about in folders:
            with suppress(MeritoError):
                self.add(root, about)

    def add(self, path: Path, about: str = "") -> Source | None:
        """Offer a database file, or all in a folder but Merito's own; the first of them. A file that
        is offered already is not offered again. Raises MeritoError where there is none, or where a
        file is no database."""
        from core.database.files import DatabaseFolder
        from tui.asking import located

        path = path.expanduser().absolute()
        if path.is_dir():
            found = [Source(name, path, about) for name in DatabaseFolder(path).users_databases()]
        else:
            name, root = located(str(path), None)
            found = [Source(name, root, about or "file")]
        if not found:
            raise UsageMistake(f"There is no database in {path}.", "Name a SQLite file, or its folder.")
        for each in found:
            self._sources += [] if self._known(each) else [each]
        return self._known(found[0])

    def _known(self, wanted: Source) -> Source | None:
        """The source by which the same file is offered already."""
        return next((each for each in self._sources if each.file == wanted.file), None)

    def workbench(self, source: Source) -> Workbench:
        """The database by hand."""
        from core.database.files import DatabaseFolder
        from tui.workbench import Workbench

        if source.root not in self._benches:
            self._benches[source.root] = Workbench(DatabaseFolder(source.root))
        return self._benches[source.root]

    @asynccontextmanager
    async def asked(self, source: Source, text: str) -> AsyncGenerator[Opened, None]:
        """A run of this one question. Raises MeritoError for whatever keeps it from beginning; what
        takes long is opened once."""
        from core.database.files import DatabaseFolder
        from core.run.progress import Progress
        from tui.asking import asked_text
        from tui.order import dataset_of, run_settings, strategy_of
        from tui.session import assembled

        question = Question(id="asked", database=source.name, text=asked_text(text))
        order = msgspec.structs.replace(
            self._order(),
            stream=str(DatabaseFolder(source.root).path(source.name)),
            root=source.root,
            questions=(question,),
            regime="operator",
            memory="library",
            waits_for_model=False,
        )
        strategy = strategy_of(order)
        dataset = dataset_of(order)
        wanted = run_settings(order, dataset, strategy)
        run = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        # One question at a time: the next waits until the one before has let go of the store.
        async with self._lock:
            with self._recording() as store:
                ready = await self._ready(wanted.model, order)
                async with assembled(
                    ready, order, dataset, strategy, wanted, store, run, Progress(), time.time()
                ) as session:
                    yield Opened(session.events(), session.control, None, None, session.workbench)

    @contextmanager
    def _recording(self) -> Iterator[Store]:
        """The store for one question. A console in which nothing is asked keeps no other writer out."""
        from stores.store import Store
        from tui import settings

        if self._store_at_hand is not None:
            yield self._store_at_hand()
            return
        path = self._order().store
        with Store.open(settings.store_path(str(path) if path else None), create=True) as store:
            self._writes = True
            try:
                yield store
            finally:
                self._writes = False

    async def _ready(self, model: str, order: Order) -> Engines:
        from tui.engines import embeds, engines

        if self._engines is None:
            from tui.order import strategy_of

            strategy = strategy_of(order)
            at_hand = self._engines_at_hand()
            if at_hand is None or (at_hand.encoder is None and embeds(strategy)):
                at_hand = await self._stack.enter_async_context(engines(model, strategy))
            self._engines = at_hand
        return self._engines

    async def close(self) -> None:
        """End what was opened here."""
        benches = [bench.close() for bench in self._benches.values()]
        await asyncio.gather(*benches, return_exceptions=True)
        await self._stack.aclose()
