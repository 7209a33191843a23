"""Strategies: how failures are repaired, as rows of data that the one loop reads (merit.md,
"Strategies"). A new ablation is a new row."""

from __future__ import annotations

import difflib
from typing import Literal

import msgspec

from core.errors import UsageMistake
from core.memory.policy import RetrievalPolicy
from core.prompts.layout import Layout, Shown


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What one fresh draft is told beside question, schema and the facts of earlier failures."""

    greedy: bool = False
    """The most likely draft, worth its call where the prompt says more than the one before did."""
    values: bool = False
    """Some stored values of each column of text."""
    examples: bool = False
    """Right answers to other questions about the database."""
    lessons: bool = False
    """Changes that worked or failed elsewhere."""


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """One way of repairing; every field is a choice that an ablation may switch."""

    name: str
    about: str
    repairs: bool = True
    """False stops after the initial SQL."""
    asks: Literal["revise", "afresh"] = "revise"
    """revise: the model is shown the failed attempts. afresh: it drafts anew from the initial
    prompt, and what the failures taught goes in as notes."""
    layout: Layout = "paper"
    """How a revision's prompt is ordered where the run does not say."""
    temperature: float = 0.0
    """Of a repair; the initial SQL is always greedy."""
    top_p: float = 1.0
    retrieval: RetrievalPolicy | None = None
    """None: no memory across episodes, neither read nor written."""
    shows: Shown = "dual"
    """How memories stand in a repair prompt."""
    reflects: bool = False
    """One reflection after every failed attempt, the last included."""
    drafts: tuple[Draft, ...] = (Draft(),)
    """What fresh drafts are told, taken in turn. A small model leans on whatever it is shown: drafts
    that are shown different things fail in different ways."""
    mends: bool = False
    """A failed query is rewritten by rule where it can be, before the model is asked again."""
    hints: bool = False
    """Schema hints worked out from each failure."""
    refuses_same_rows: bool = False
    """A revision with the rows of an earlier mismatch is not put before the judge again."""
    warmer_after_repeat: bool = False
    """Each refused repeat raises the temperature of the next draft by 0.1, up to 1.2."""

    @property
    def learns(self) -> bool:
        """Whether finished episodes become memories."""
        return self.retrieval is not None

    def draft(self, number: int) -> Draft:
        """What the model's repair of this number (from 1) is told."""
        return self.drafts[(number - 1) % len(self.drafts)]

    def recalls(self, number: int) -> RetrievalPolicy | None:
        """What the model's repair of this number takes from memory; None: nothing."""
        if self.retrieval is None:
            return None
        if self.asks == "revise":  # Its prompt has no place for examples.
            return msgspec.structs.replace(self.retrieval, examples=0)
        draft = self.draft(number)
        policy = self.retrieval
        if not draft.lessons:
            policy = msgspec.structs.replace(policy, positives=0, negatives=0)
        if not draft.examples:
            policy = msgspec.structs.replace(policy, examples=0)
        return policy if policy.channels else None


def _but(base: Strategy, name: str, about: str, **changes: object) -> Strategy:
    """A row that differs from another in what is named."""
    return msgspec.structs.replace(base, name=name, about=about, **changes)


def _merit_but(name: str, about: str, **retrieval: object) -> Strategy:
    """MERIT with another retrieval."""
    assert MERIT.retrieval is not None
    return _but(MERIT, name, about, retrieval=msgspec.structs.replace(MERIT.retrieval, **retrieval))


NONE = Strategy(name="none", about="The initial SQL only.", repairs=False)
ITERATIVE = Strategy(name="iterative", about="Feedback and this episode's history, no memory.")
RESAMPLE = Strategy(
    name="resample",
    about="A fresh draft from the initial prompt each time: the control.",
    asks="afresh",
    temperature=0.8,
    top_p=0.95,
)
MERIT = Strategy(
    name="merit",
    about="The paper's: confirmed repairs and failed directions of the same failure type.",
    retrieval=RetrievalPolicy(),
)
MERITO = Strategy(
    name="merito",
    about="Mends by rule, then fresh drafts with schema hints and the lessons of memory; no step is"
    " wasted on repeats.",
    asks="afresh",
    temperature=0.8,
    top_p=0.95,
    retrieval=RetrievalPolicy(databases="same-first", examples=3),
    drafts=(
        Draft(greedy=True, values=True),
        Draft(examples=True),
        Draft(),
        Draft(values=True, lessons=True),
    ),
    mends=True,
    hints=True,
    refuses_same_rows=True,
    warmer_after_repeat=True,
)


def _drafts_but(name: str, about: str, **changes: bool) -> Strategy:
    """merito with drafts that are told something less."""
    told = tuple(msgspec.structs.replace(draft, **changes) for draft in MERITO.drafts)
    policy = MERITO.retrieval
    if policy is not None and not any(draft.examples for draft in told):
        policy = msgspec.structs.replace(policy, examples=0)
    return _but(MERITO, name, about, drafts=told, retrieval=policy)


STRATEGIES: dict[str, Strategy] = {
    row.name: row
    for row in (
        MERITO,
        _but(MERITO, "merito-no-mends", "merito without mends by rule.", mends=False),
        _but(MERITO, "merito-no-hints", "merito without schema hints.", hints=False),
        _drafts_but("merito-no-examples", "merito without right answers to others.", examples=False),
        _drafts_but(
            "merito-no-lessons", "merito without changes that worked or failed.", lessons=False
        ),
        _drafts_but("merito-no-values", "merito without stored values.", values=False),
        _drafts_but("merito-no-greedy", "merito whose drafts are all sampled.", greedy=False),
        _but(
            MERITO,
            "merito-one-view",
            "merito whose drafts are all told everything.",
            drafts=(Draft(values=True, examples=True, lessons=True),),
        ),
        _but(MERITO, "merito-no-memory", "merito without memory.", retrieval=None),
        _but(
            MERITO,
            "merito-no-fresh",
            "merito that revises the failed SQL instead of drafting anew.",
            asks="revise",
            layout="conversation",
        ),
        _but(
            MERITO,
            "merito-no-refusal",
            "merito that judges repeated rows again and never warms up.",
            refuses_same_rows=False,
            warmer_after_repeat=False,
        ),
        MERIT,
        _merit_but(
            "merit-reliability",
            "Filters by type only where the DBMS supports it; else a bonus.",
            reliability=True,
        ),
        _merit_but("merit-no-negative", "merit without failed directions.", negatives=0),
        _merit_but("merit-no-type", "merit without the type filter.", type_filter=False),
        _merit_but(
            "merit-random-same-type",
            "merit that draws from the pool instead of ranking it.",
            random_same_type=True,
        ),
        _merit_but("merit-no-dense", "merit ranked by BM25 alone.", dense=False),
        _merit_but("merit-no-bm25", "merit ranked by embeddings alone.", lexical=False),
        _merit_but(
            "merit-other-databases", "merit with memories of other databases only.", databases="other"
        ),
        _merit_but(
            "merit-same-database", "merit with memories of the same database only.", databases="same"
        ),
        ITERATIVE,
        Strategy(
            name="dynamic-rag",
            about="One pool of memories, without polarity or type.",
            retrieval=RetrievalPolicy(mixed=True, mixed_quota=4, type_filter=False),
            shows="mixed",
        ),
        Strategy(
            name="reflexion",
            about="Verbal reflections of this and earlier episodes.",
            retrieval=RetrievalPolicy(
                mixed=True, mixed_quota=3, type_filter=False, lexical=False, with_reflections=True
            ),
            shows="reflections",
            reflects=True,
        ),
        RESAMPLE,
        NONE,
    )
}


def strategy_named(name: str) -> Strategy:
    """The row of that name. Raises MeritoError that names the nearest."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    near = difflib.get_close_matches(name, STRATEGIES, 1)
    meant = f"Did you mean '{near[0]}'?" if near else ""
    raise UsageMistake(
        f"There is no strategy '{name}'. {meant}".strip(), f"Strategies: {', '.join(STRATEGIES)}."
    )
