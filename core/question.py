"""Questions, and the ordered stream that a run reads."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import overload

import msgspec

_SPACES = re.compile(r"\s+")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question about one database. Its gold SQL is never here: the evaluator keeps that."""

    id: str
    database: str
    text: str
    evidence: str = ""
    difficulty: str = ""

    @property
    def source_key(self) -> str:
        """What makes two questions the same for causal legality: database and normalised text."""
        return source_key(self.database, self.text)


def source_key(database: str, text: str) -> str:
    """The identity of a source question: its database and its text, case and spacing folded."""
    return f"{database.casefold()}\x1f{_SPACES.sub(' ', text).strip().casefold()}"


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a data set that no run asks."""

    question: str
    """Its id; empty where its record does not tell."""
    database: str
    why: str
    note: str = ""
    """Where it stands and what is wrong, in one line."""


class Stream(Sequence[Question]):
    """An ordered list of questions; a question's index is its position in the run."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._questions = tuple(questions)

    def __len__(self) -> int:
        return len(self._questions)

    @overload
    def __getitem__(self, position: int) -> Question: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Question, ...]: ...
    def __getitem__(self, position: int | slice) -> Question | tuple[Question, ...]:
        return self._questions[position]

    def in_order(self, seed: int | None) -> Stream:
        """The same questions in the order that `seed` stands for; None keeps the file's order."""
        if seed is None:
            return self
        questions = list(self._questions)
        random.Random(seed).shuffle(questions)
        return Stream(questions)

    def first(self, limit: int | None) -> Stream:
        """The stream cut after `limit` questions; None cuts nothing."""
        return self if limit is None else Stream(self._questions[:limit])
