"""What a loader hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.database.files import DatabaseFolder
from core.question import LeftOut, Stream


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Questions, the databases they are about, and what only the evaluator may see."""

    name: str
    protocol: str
    """Whose rule decides equality (`core.feedback.denotation.PROTOCOLS`)."""
    questions: Stream
    golds: Mapping[str, str] = field(repr=False)
    """Gold SQL by question id. For the regime alone."""
    folder: DatabaseFolder
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    """File and record by question id, as a message about the question names it."""
    problems: tuple[str, ...] = ()
    """What had to be left out, one line for each reason."""
    left_out: tuple[LeftOut, ...] = ()
    """The same, question by question."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a kind of file names its fields; of several names the first one present counts."""

    name: str
    protocol: str
    id: tuple[str, ...] = ("question_id",)
    database: tuple[str, ...] = ("db_id",)
    question: tuple[str, ...] = ("question",)
    gold: tuple[str, ...]
    evidence: tuple[str, ...] = ("evidence",)
    difficulty: tuple[str, ...] = ("difficulty",)
    gold_is_all_or_none: bool = True
    """A record without gold is a mistake where another record has it."""
