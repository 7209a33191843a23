"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 question`, `1,200 questions`, `1 memory`, `2 memories`; a noun that is not made plural by an s
    alone comes with its plural."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
