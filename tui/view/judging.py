"""What a person can say about an answer: the same words for the console and the command line."""

from __future__ import annotations

from dataclasses import dataclass


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


def kind_of(typed: str) -> str:
    """The kind that a typed key or word means; empty where it means none."""
    word = typed.strip().casefold()
    for kind in KINDS:
        if word and (word in (kind.key, kind.also) or kind.label.startswith(word)):
            return kind.name
    return ""
