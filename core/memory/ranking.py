"""Placing the candidates of one pool (MERIT, section 3.2 and appendix D, equation 7)."""

from __future__ import annotations

from heapq import nsmallest
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates C of one channel; all arrays have one value a candidate."""

    rows: Rows
    """Their numbers in the index."""
    dense: Scores
    dense_norm: Scores
    bm25: Scores
    bm25_norm: Scores
    match: NDArray[np.bool_]
    """Same failure type as asked for."""
    first: NDArray[np.bool_]
    """Placed before all others whatever their score (the same database's, where that is wished)."""
    score: Scores


def min_max(scores: Scores) -> Scores:
    """Each score's place between the pool's least (0) and greatest (1); all 0 where these agree."""
    if not len(scores):
        return scores
    least, greatest = scores.min(), scores.max()
    if not greatest > least:
        return np.zeros_like(scores)
    normed: Scores = (scores - least) / (greatest - least)
    return normed


def best(pool: Pool, ids: list[str], wanted: int) -> list[int]:
    """Indices into the pool of the `wanted` best, best first.

    By score, then higher dense, higher BM25, type match, and ascending id. `ids` are the ids of
    all entries of the index, by row.
    """
    order: list[int] = []
    for group in (np.flatnonzero(pool.first), np.flatnonzero(~pool.first)):
        room = wanted - len(order)
        if room > 0 and len(group):
            contenders = _contenders(pool, ids, group, room)
            order += sorted(contenders, key=lambda item: _key(pool, ids, item))[:room]
    return order


def _contenders(pool: Pool, ids: list[str], group: Rows, room: int) -> list[int]:
    """At least the first `room` of the group, and few more: whoever is above the last place by one
    number is in, and only those who tie with it are compared by the next."""
    chosen: list[int] = []
    for numbers in (pool.score, pool.dense, pool.bm25, pool.match):
        if len(group) <= room:
            return [*chosen, *group.tolist()]
        values = numbers[group]
        last = np.partition(values, len(values) - room)[len(values) - room]
        above = group[values > last]
        chosen += above.tolist()
        room -= len(above)
        group = group[values == last]
    tied = nsmallest(room, group.tolist(), key=lambda item: ids[pool.rows[item]])
    return [*chosen, *tied]


def _key(pool: Pool, ids: list[str], item: int) -> tuple[Any, ...]:
    return (
        -pool.score[item],
        -pool.dense[item],
        -pool.bm25[item],
        not pool.match[item],
        ids[pool.rows[item]],
    )
