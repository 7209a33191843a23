"""BIRD's comparison of two results, and mini-dev's soft F1 (Li et al., 2024); both pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from core.database.rows import Row


def bird_equal(predicted_rows: Sequence[Row], gold_rows: Sequence[Row]) -> bool:
    """Whether both are the same set of rows: column order counts, row order and number do not."""
    return set(predicted_rows) == set(gold_rows)


def soft_f1(predicted_rows: Sequence[Row], gold_rows: Sequence[Row]) -> float:
    """mini-dev's soft F1 between 0 and 1.

    Rows are paired by position after repeated rows are removed. Within a pair, values found on
    both sides are hits and the others misses, whatever their columns, each as a share of the gold
    row's width; a row without a partner is one miss.
    """
    if not predicted_rows and not gold_rows:
        return 1.0
    hits = extra = missing = 0.0
    for predicted, gold in zip_longest(dict.fromkeys(predicted_rows), dict.fromkeys(gold_rows)):
        if predicted is None:
            missing += 1
        elif gold is None:
            extra += 1
        else:
            found = sum(value in gold for value in predicted)
            hits += found / len(gold)
            extra += (len(predicted) - found) / len(gold)
            missing += sum(value not in predicted for value in gold) / len(gold)
    precision = hits / (hits + extra) if hits + extra > 0 else 0.0
    recall = hits / (hits + missing) if hits + missing > 0 else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
