"""What the user asked for, and what it comes to: a data set, a strategy, the settings of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from core.database.files import DatabaseFolder
from core.datasets.dataset import DataSet
from core.datasets.loading import load
from core.datasets.records import STDIN
from core.errors import UsageMistake
from core.feedback.regimes import REGIMES
from core.prompts.template import Templates
from core.question import Question, Stream
from core.repair.strategy import Strategy, strategy_named
from core.repair.version import LOOP
from core.run.events import RunSettings
from core.wording import counted
from tui import settings
from tui.selection.drafts import drafting_of

DATABASE_ENDINGS = (".sqlite", ".sqlite3", ".db")


def is_a_database(stream: str) -> bool:
    """Whether a run was put about one database, as `ask` does, and not about a stream of questions."""
    return Path(stream).suffix in DATABASE_ENDINGS


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for; None means: as the settings say."""

    stream: str
    root: Path | None = None
    layout_of_stream: str = "auto"
    questions: tuple[Question, ...] | None = None
    """Given questions instead of a stream's (`ask`, `demo`)."""
    strategy: str | None = None
    regime: str | None = None
    review: str = "auto"
    """all: confirmed memories wait for a review too."""
    who: str | None = None
    """Who judges, where a person does."""
    initial: str = "greedy"
    """select: the first SQL is chosen among candidates."""
    candidates: int = 8
    selector: str | None = None
    """How candidates are chosen from; None: map-sql, with memories where there are any."""
    memory_tokens: int | None = None
    budget: int | None = None
    layout: str | None = None
    memory: str = "fresh"
    include_pending: bool = False
    order_seed: int | None = None
    seed: int = 0
    limit: int | None = None
    model: str | None = None
    deadline: float | None = None
    prompts: Path | None = None
    store: Path | None = None
    waits_for_model: bool = False
    parks: int | None = None
    """Questions that may wait for a person's word while the next begins."""


def strategy_of(order: Order) -> Strategy:
    """The strategy of an order, or the one that is set. Raises UsageMistake where there is none."""
    return strategy_named(settings.value("strategy", order.strategy))


def dataset_of(order: Order) -> DataSet:
    """The data set of an order, in the order's sequence and length."""
    path = Path(order.stream)
    if order.questions and (order.stream == STDIN or is_a_database(order.stream)):
        return DataSet(
            name=path.stem,
            protocol="spider",
            questions=Stream(order.questions),
            golds={},
            folder=DatabaseFolder(order.root or path.parent),
        )
    loaded = load(order.stream, root=order.root, dataset=order.layout_of_stream)
    questions: Stream = Stream(order.questions) if order.questions else loaded.questions
    if not order.questions:
        questions = questions.in_order(order.order_seed).first(order.limit)
    return replace(loaded, questions=questions)


def run_settings(order: Order, dataset: DataSet, strategy: Strategy) -> RunSettings:
    """An order with every choice made. Raises MeritoError where it asks for what is not there, so that
    it is said before a store is locked or a model loaded."""
    model, prompts = _at_hand(order)
    decides = order.regime or _fitting_regime(dataset)
    row = REGIMES.get(decides)
    if row is not None and row.needs_gold:
        _all_have_gold(dataset)
    live = decides != "denotation"
    drafts = order.initial == "select" or (row is not None and row.needs_candidates)
    return RunSettings(
        dataset=order.stream if order.stream == STDIN else str(Path(order.stream).resolve()),
        root=str(order.root.resolve()) if order.root else "",
        strategy=strategy.name,
        strategy_fields=msgspec.to_builtins(strategy),
        regime=decides,
        protocol=dataset.protocol,
        budget=settings.value("budget", order.budget),
        layout=order.layout or strategy.layout,
        memory=order.memory,
        include_pending=order.include_pending,
        order_seed=order.order_seed,
        seed=order.seed,
        limit=order.limit,
        deadline=settings.value("deadline", order.deadline) if live else (order.deadline or 30.0),
        prompts=prompts,
        model=model,
        review="all" if order.review == "all" else msgspec.UNSET,
        drafting=drafting_of(order) if drafts else msgspec.UNSET,
        loop=LOOP,
    )


def _at_hand(order: Order) -> tuple[str, str]:
    """The model's name, which can be one, and the folder of the templates, which are there."""
    from core.models.choosing import check_name

    model = settings.value("model", order.model)
    if model:
        check_name(model)
    folder = order.prompts or settings.value("prompts")
    if folder:
        Templates.load(Path(folder))
    return model, str(Path(folder).resolve()) if folder else ""


def _fitting_regime(dataset: DataSet) -> str:
    return "denotation" if dataset.golds else "execution"


def _all_have_gold(dataset: DataSet) -> None:
    without = [question.id for question in dataset.questions if question.id not in dataset.golds]
    if without:
        place = dataset.places.get(without[0], f"question {without[0]!r}")
        which = place if len(without) == 1 else f"the first: {place}"
        has = f"{counted(len(without), 'question')} {'has' if len(without) == 1 else 'have'}"
        raise UsageMistake(
            f"{has} no gold SQL ({which}), so nothing can be compared.",
            "Use --regime operator or execution.",
        )
