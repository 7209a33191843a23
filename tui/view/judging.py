"""What a person can say about an answer: the same words for the console and the command line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.database.rows import ResultTable


@dataclass(frozen=True)
class Kind:
    """One kind of judgement."""

    name: str
    key: str
    label: str
    also: str = ""
    """Another key for it on the command line, where the question can be read as yes or no."""


KINDS = (
    Kind("right", "r", "right", "y"),
    Kind("wrong", "w", "wrong", "n"),
    Kind("edit", "e", "correct it"),
    Kind("skip", "x", "skip", "s"),
)

KIND_WORDS = ", ".join(kind.label for kind in KINDS[:-1]) + f" or {KINDS[-1].label}"
ASKED = "does it answer the question?"
REMARK = "A remark is shown to the model with its next try; none is fine."
UNCHANGED = "That is the SQL as it stands. If it is right, say right."


BY_LUCK = "Both queries give the same rows; the answer's is right only by luck."
"""The remark where a person corrects an answer although its rows are those of the correction."""


@dataclass(frozen=True)
class Choice:
    """One way to go on."""

    key: str
    label: str


AS_IT_IS = Choice("y", "right as it is")
ALL_THE_SAME = Choice("w", "wrong all the same, learn from mine")
EDIT_ON = Choice("n", "edit on")


def agreement(answer: ResultTable | None, corrected: ResultTable) -> str:
    """That a correction gives the rows of the answer which it corrects, in a sentence; empty where
    it gives others, or where it cannot be told from what is kept of them."""
    if answer is None or answer.error or corrected.error:
        return ""
    if answer.digest and answer.digest == corrected.digest:
        return "Both give the same rows." if corrected.row_count else "Neither gives a row."
    if _whole(answer) and _whole(corrected) and Counter(answer.rows) == Counter(corrected.rows):
        return "Both give the same rows, in another order."
    return ""


def _whole(table: ResultTable) -> bool:
    """Whether nothing was cut off the rows, or off a text in them."""
    cut = any(isinstance(cell, str) and cell.endswith("…") for row in table.rows for cell in row)
    return not table.truncated and not cut and len(table.rows) == table.row_count


def kind_of(typed: str) -> str:
    """The kind that a typed key or word means; empty where it means none."""
    word = typed.strip().casefold()
    for kind in KINDS:
        if word and (word in (kind.key, kind.also) or kind.label.startswith(word)):
            return kind.name
    return ""
