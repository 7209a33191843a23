"""Placing the candidates of one pool (MERIT, section 3.2 and appendix D, equation 7)."""

from __future__ import annotations

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
        if room > 0:
            contenders = _contenders(pool.score, group, room)
            order += sorted(contenders.tolist(), key=lambda item: _key(pool, ids, item))[:room]
    return order


def _contenders(score: Scores, group: Rows, room: int) -> Rows:
    """Those of the group that may be among the first `room`: all that reach the last's score."""
    if len(group) <= room:
        return group
    scores = score[group]
    last = np.partition(scores, len(scores) - room)[len(scores) - room]
    within: Rows = group[scores >= last]
    return within


def _key(pool: Pool, ids: list[str], item: int) -> tuple[Any, ...]:
    return (
        -pool.score[item],
        -pool.dense[item],
        -pool.bm25[item],
        not pool.match[item],
        ids[pool.rows[item]],
    )
