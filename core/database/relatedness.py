"""Which tables and columns a question is about, by their words alone."""

from __future__ import annotations

import math
import re
from collections import Counter

from core.database.schema import Column, Schema, Table
from core.sql import fold

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_SHORTEST_PLURAL = 4
_PLURALS = (
    ("ies", "y"),
    ("oes", "o"),
    ("xes", "x"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("ss", "ss"),
    ("s", ""),
)
"""Ending of a plural and of its singular; the first that fits."""
_SHORTEST_PART = 4
_TABLE_WEIGHT, _NEIGHBOUR_WEIGHT = 3.0, 0.5


def words(text: str) -> frozenset[str]:
    """Stems of the words in a text or a name: `petTypes`, `pet_type` and "pet type" meet."""
    return frozenset(_stem(word.casefold()) for word in _WORDS.findall(text))


def _stem(word: str) -> str:
    """Without a plural's ending; what this misses, `_nearness` finds as a part."""
    if len(word) < _SHORTEST_PLURAL:
        return word
    plural, singular = next((pair for pair in _PLURALS if word.endswith(pair[0])), ("", ""))
    return word.removesuffix(plural) + singular


def ranked_tables(schema: Schema, question: str) -> tuple[Table, ...]:
    """All tables, those that have most to do with the question first.

    A table scores by the words that its name and its columns share with the question, rare ones
    more, and by half of what its best neighbour scores, since joins need what lies between.
    """
    held = {table.name: _table_words(table) for table in schema.tables}
    frequency = Counter(word for own in held.values() for word in own)
    asked = words(question)
    worth = {
        word: _nearness(word, asked) * math.log(1 + len(held) / number)
        for word, number in frequency.items()
    }
    scores = {
        fold(table.name): _TABLE_WEIGHT * sum(worth[word] for word in words(table.name))
        + sum(worth[word] for word in held[table.name])
        for table in schema.tables
    }
    lifted = dict(scores)
    for key in schema.foreign_keys:
        one, other = fold(key.table), fold(key.to_table)
        for here, there in ((one, other), (other, one)):
            if here in scores and there in scores:
                lifted[here] = max(lifted[here], scores[here] + _NEIGHBOUR_WEIGHT * scores[there])
    return tuple(sorted(schema.tables, key=lambda table: -lifted[fold(table.name)]))


def _table_words(table: Table) -> frozenset[str]:
    return words(table.name).union(*(words(column.name) for column in table.columns))


def _nearness(word: str, asked: frozenset[str]) -> float:
    """1 where the question has the word, half where one holds the other (hero, superhero)."""
    if word in asked:
        return 1.0
    long_enough = (other for other in asked if min(len(other), len(word)) >= _SHORTEST_PART)
    return 0.5 if any(other in word or word in other for other in long_enough) else 0.0


def ranked_columns(table: Table, question: str) -> tuple[Column, ...]:
    """All columns: those that share words with the question first, then keys, then the rest."""
    asked = words(question)
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}

    def place(column: Column) -> tuple[float, int]:
        near = sum(_nearness(word, asked) for word in words(column.name))
        return -near, 0 if column.name in keys else 1

    return tuple(sorted(table.columns, key=place))
