"""The published comparisons once more: slow, literal, and written for the tests alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from core.database.rows import Row, Value


def spider_equal(predicted: Sequence[Row], gold: Sequence[Row], order_matters: bool) -> bool:
    """Every permutation of the predicted columns is tried, and nothing is clever."""
    if len(predicted) == 0 and len(gold) == 0:
        return True
    if len(predicted) != len(gold) or len(predicted[0]) != len(gold[0]):
        return False
    sorted_predicted = [_sorted(row) for row in predicted]
    sorted_gold = [_sorted(row) for row in gold]
    if order_matters and sorted_predicted != sorted_gold:
        return False
    if not order_matters and not _same_elements(sorted_predicted, sorted_gold):
        return False
    for order in permutations(range(len(gold[0]))):
        arranged = [tuple(row[place] for place in order) for row in predicted]
        if order_matters and arranged == list(gold):
            return True
        if not order_matters and _same_multiset(arranged, list(gold)):
            return True
    return False


def _sorted(row: Row) -> list[Value]:
    return sorted(row, key=lambda value: str(value) + str(type(value)))


def _same_elements(some: list[list[Value]], others: list[list[Value]]) -> bool:
    return all(one in others for one in some) and all(one in some for one in others)


def _same_multiset(some: list[Row], others: list[Row]) -> bool:
    left = list(others)
    for row in some:
        if row not in left:
            return False
        left.remove(row)
    return not left


def spider_text(sql: str) -> str:
    """Preparation of a text (DISTINCT dropped), one character after the other."""
    for operator in "><!":
        sql = sql.replace(f"{operator} =", f"{operator}=")
    kept, place = "", 0
    while place < len(sql):
        end = _token_end(sql, place)
        token = sql[place:end]
        if token.lower() != "distinct":
            kept += token
        place = end
        if token == ";":
            break
    return kept


_CLOSING = {"'": "'", '"': '"', "`": "`", "[": "]"}


def _token_end(sql: str, place: int) -> int:
    first = sql[place]
    if sql.startswith("--", place):
        return len(sql) if "\n" not in sql[place:] else sql.index("\n", place) + 1
    if sql.startswith("/*", place):
        return sql.index("*/", place + 2) + 2 if "*/" in sql[place + 2 :] else len(sql)
    if first in _CLOSING and _CLOSING[first] in sql[place + 1 :]:
        end = sql.index(_CLOSING[first], place + 1) + 1
        if first != "[" or _is_bracketed_name(sql, place, end):
            return end
    end = place + 1
    if first.isalnum() or first == "_":
        while end < len(sql) and (sql[end].isalnum() or sql[end] == "_"):
            end += 1
    return end


def _is_bracketed_name(sql: str, place: int, end: int) -> bool:
    """After a word or a bracket it is an index; a name is not empty and holds no bracket."""
    before, inside = sql[:place][-1:], sql[place + 1 : end - 1]
    return not (before.isalnum() or before in ("_", "]", ")") or inside == "" or "[" in inside)


def bird_equal(predicted: Sequence[Row], gold: Sequence[Row]) -> bool:
    """Every row of one side is somewhere on the other."""
    return all(row in gold for row in predicted) and all(row in predicted for row in gold)


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """mini-dev's figure from its three sums over positions."""
    if not predicted and not gold:
        return 1.0
    predicted, gold = _without_repeats(predicted), _without_repeats(gold)
    both = only_predicted = only_gold = 0.0
    for place in range(max(len(predicted), len(gold))):
        if place >= len(predicted):
            only_gold += 1
        elif place >= len(gold):
            only_predicted += 1
        else:
            width = len(gold[place])
            both += sum(1 for value in predicted[place] if value in gold[place]) / width
            only_predicted += sum(1 for v in predicted[place] if v not in gold[place]) / width
            only_gold += sum(1 for v in gold[place] if v not in predicted[place]) / width
    if both == 0:
        return 0.0
    precision, recall = both / (both + only_predicted), both / (both + only_gold)
    return 2 * precision * recall / (precision + recall)


def _without_repeats(rows: Sequence[Row]) -> list[Row]:
    kept: list[Row] = []
    for row in rows:
        if row not in kept:
            kept.append(row)
    return kept
