"""Puts a run together for whoever shows it: data set, store, model, sandbox, memory, and the
recorder between the engine and the face; takes it all apart again, whatever happens."""

from __future__ import annotations

import secrets
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from core.database.sandbox import Sandbox
from core.datasets.dataset import DataSet
from core.errors import MeritoError
from core.feedback.regimes import RegimeParts, build_regime
from core.memory.entry import MemoryEntry, ReviewDecision
from core.models.chat import ModelDescription
from core.models.choosing import Choice
from core.prompts.layout import Prompts
from core.prompts.template import Templates
from core.question import Question
from core.repair.equipment import Equipment
from core.repair.experience import Experience
from core.repair.strategy import Strategy
from core.repair.version import LOOP
from core.run.control import Control
from core.run.engine import Run
from core.run.events import AnyEvent, EpisodeOutcome, RunSettings
from core.run.figures import Figures
from core.run.progress import Progress
from core.run.stamp import Stamp
from stores.errors import StoreTrouble
from stores.recorder import Recorder
from stores.store import Store
from tui import settings
from tui.engines import Engines, embeds, engines
from tui.kept_vectors import KeptVectors
from tui.order import Order, dataset_of, run_settings, strategy_of
from tui.selection.drafts import drafter_for
from tui.unfinished import check_meaning, run_to_go_on_with
from tui.workbench import Workbench

SCHEMA_SHARE = 0.45
"""The most of the context that a schema may take; the rest is for memories, history and answer."""


@dataclass
class Session:
    """A run that is ready to go."""

    run: str
    settings: RunSettings
    control: Control
    store: Store
    choice: Choice
    finished_before: int
    workbench: Workbench
    """The run's databases, by hand."""
    engines: Engines
    """What the run's model and encoder may be shared by."""
    _engine: Run

    @property
    def questions(self) -> Sequence[Question]:
        """The run's stream."""
        return self._engine.questions

    def events(self) -> AsyncIterator[AnyEvent]:
        """The run's events; a closing event is passed on once it is committed."""
        return Recorder(self.store).record(self._engine.events())

    def earlier(self) -> Iterator[AnyEvent]:
        """What the run did before it was interrupted; nothing of a new run."""
        return self.store.events(self.run)

    def satisfied(self, figures: Figures) -> bool:
        """Whether there is nothing that the user should look at: every question could be judged,
        and where only one was asked, it was answered."""
        broken = figures.outcomes[EpisodeOutcome.BROKEN]
        unanswered = figures.questions == 1 and figures.outcomes[EpisodeOutcome.FAILED]
        return not broken and not unanswered


@asynccontextmanager
async def new_session(order: Order) -> AsyncIterator[Session]:
    """Start a run. Raises MeritoError for anything that would keep it from starting, the cheap
    checks first, before the model is loaded."""
    dataset = dataset_of(order)
    strategy = strategy_of(order)
    wanted = run_settings(order, dataset, strategy)
    with closing(Store.open(settings.store_path(_text(order.store)), create=True)) as store:
        run = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        async with (
            engines(wanted.model, strategy) as ready,
            assembled(
                ready, order, dataset, strategy, wanted, store, run, Progress(), time.time()
            ) as session,
        ):
            yield session


def unfinished(order: Order) -> str | None:
    """The newest run that `order` would have started, with the same questions, and that was left
    unfinished; None where there is none. Raises MeritoError where the order makes no sense."""
    path = settings.store_path(_text(order.store))
    if not path.is_file():
        return None
    dataset = dataset_of(order)
    wanted = run_settings(order, dataset, strategy_of(order))
    try:
        with closing(Store.open(path, mode="read")) as store:
            record = store.find_run(wanted)
            if record is None or store.opening(record.id).questions != tuple(dataset.questions):
                return None
            return record.id
    except StoreTrouble:
        return None  # What is wrong with it is said, or mended, when a run begins in it.


@asynccontextmanager
async def resumed_session(name: str | None, order: Order) -> AsyncIterator[Session]:
    """Go on with run `name`, or with the newest unfinished one that `order` means (`unfinished.py`).
    Raises MeritoError, for what cannot be meant before the store is locked."""
    path = settings.store_path(_text(order.store))
    check_meaning(path, name, order)
    with closing(Store.open(path)) as store:
        state = store.resume_state(run_to_go_on_with(store, name, order))
        same_loop(state.run, state.settings)
        same_prompts(state.run, state.versions.get("prompts", ""), state.settings)
        again = msgspec.structs.replace(
            order,
            stream=state.settings.dataset,
            root=Path(state.settings.root) if state.settings.root else None,
            questions=state.questions,
        )
        dataset = dataset_of(again)
        begun = store.run(state.run).started
        strategy = msgspec.convert(state.settings.strategy_fields, Strategy)
        async with (
            engines(order.model or state.settings.model, strategy) as ready,
            assembled(
                ready, again, dataset, strategy, state.settings, store, state.run, state.progress, begun
            ) as session,
        ):
            same_model(state.model, await session.choice.model.describe())
            yield session


class CannotGoOn(MeritoError):
    """A run was begun with another model, other rules of repair, or other prompts."""


def same_model(then: ModelDescription, now: ModelDescription) -> None:
    """Raises CannotGoOn where a run would go on with another model than it began with."""
    if then.fingerprint != now.fingerprint:
        raise CannotGoOn(
            f"The run was made with {then.engine} {then.name}; {now.engine} {now.name} is not it.",
            "Start that model again, or begin a new run.",
        )


def same_loop(run: str, then: RunSettings) -> None:
    """Raises CannotGoOn where a run would go on with other rules of repair than it began with."""
    if then.loop != LOOP:
        began = "an older Merito" if then.loop is msgspec.UNSET else f"version {then.loop}"
        raise CannotGoOn(
            f"The run {run} was begun with the repair loop of {began}; this is version {LOOP}, so its"
            " figures would be of two programs.",
            "Begin a new run.",
        )


def same_prompts(run: str, digest: str, then: RunSettings) -> None:
    """Raises CannotGoOn where the templates of a run have another `digest` by now; a run of before
    that was kept has none."""
    if digest and digest != Templates.load(Path(then.prompts) if then.prompts else None).digest:
        raise CannotGoOn(
            f"The prompts have changed since the run {run} was begun, so its figures would be of two"
            " programs.",
            "Begin a new run.",
        )


@asynccontextmanager
async def assembled(
    engines: Engines,
    order: Order,
    dataset: DataSet,
    strategy: Strategy,
    wanted: RunSettings,
    store: Store,
    run: str,
    progress: Progress,
    begun: float,
    *,
    shares_repairs: bool = False,
) -> AsyncIterator[Session]:
    """A run from its parts. `engines` outlive it. With `shares_repairs`, a call that another run of
    the store has made is not made again."""
    templates = Templates.load(Path(wanted.prompts) if wanted.prompts else None)
    async with AsyncExitStack() as stack:
        described = await engines.choice.model.describe()
        sandbox = await stack.enter_async_context(Sandbox())
        control = Control()
        agreed: dict[str, str] = {}
        workbench = Workbench(dataset.folder, wanted.deadline)
        stack.push_async_callback(workbench.close)
        parts = RegimeParts(
            sandbox=sandbox,
            folder=dataset.folder,
            control=control,
            golds=dataset.golds,
            protocol=wanted.protocol,
            deadline=wanted.deadline,
            agreed=agreed,
        )
        reviews = ReviewWatch(store)
        experience = Experience(
            run,
            engines.encoder if embeds(strategy) else None,
            library=_library(store, wanted, run, begun),
            states=reviews.states,
            include_pending=wanted.include_pending,
            holds=wanted.holds,
            shelf=KeptVectors(store.vectors_file),
        )
        stack.push_async_callback(experience.close)
        equipment = Equipment(
            settings=wanted,
            strategy=strategy,
            model=engines.choice.model,
            described=described,
            sandbox=sandbox,
            folder=dataset.folder,
            regime=build_regime(wanted.regime, parts),
            prompts=Prompts(templates),
            experience=experience,
            control=control,
            stamp=Stamp(run, progress.next_seq),
            predictions=store,
            shares_repairs=shares_repairs,
            jobs=engines.jobs,
            drafter=await drafter_for(wanted, engines, dataset, store.path, sandbox, agreed, stack),
            schema_tokens=int(described.context_tokens * SCHEMA_SHARE),
        )
        engine = Run(
            equipment,
            dataset.questions,
            problems=dataset.problems,
            left_out=dataset.left_out,
            versions=versions(templates),
            progress=progress,
            new_reviews=reviews,
            waits_for_model=order.waits_for_model,
            parks=settings.value("parked", order.parks),
        )
        yield Session(
            run=run,
            settings=wanted,
            control=control,
            store=store,
            choice=engines.choice,
            finished_before=len(progress.finished),
            workbench=workbench,
            engines=engines,
            _engine=engine,
        )


def versions(templates: Templates) -> dict[str, str]:
    """What a run depends on beside its settings."""
    from importlib.metadata import version

    return {
        "merito": version("merito"),
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "prompts": templates.digest,
    }


def _library(store: Store, wanted: RunSettings, run: str, begun: float) -> list[MemoryEntry]:
    """Entries that were final or imported when this run began; none for a fresh memory."""
    if wanted.memory != "library":
        return []
    return [
        entry
        for entry in store.library(run)
        if entry.provenance.run != run and entry.provenance.at < begun
    ]


class ReviewWatch:
    """Tells which review decisions were taken since it was last asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.states = store.review_states()
        """The state of every entry as far as it was told: what a run begins with must be this, since
        others decide at the same time."""

    def __call__(self) -> tuple[ReviewDecision, ...]:
        """The newest decision about each entry whose state has changed."""
        before, self.states = self.states, self._store.review_states()
        changed = [each for each, state in self.states.items() if before.get(each, state) != state]
        return tuple(self._store.history(each)[-1] for each in changed)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
