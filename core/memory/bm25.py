"""BM25 over changing pools (MERIT, appendix D, equations 4 to 6).

Terms are counted once, when a document is appended. A query touches the counts of its own terms
alone, and of them those inside the pool, so that N, df and the mean length are the pool's and
nothing is rebuilt.
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.memory.columns import Column

K1 = 1.5
B = 0.75

SHARE = 8
FEW = 64
"""A term in more than `FEW` documents and more than one in `SHARE` keeps a column instead of
postings: as small, and read in a third of the time."""

Tokenizer = Callable[[str], list[str]]
Rows = NDArray[np.intp]

_ASCII = re.compile(r"[a-z0-9_]+")
_UNICODE = re.compile(r"\w+")


def ascii_tokens(text: str) -> list[str]:
    """The paper's tokens: runs of `[a-z0-9_]` in the lower-cased text. Accented letters are lost."""
    return _ASCII.findall(text.lower())


def unicode_tokens(text: str) -> list[str]:
    """Runs of letters, digits and underscores of any script, composed and case-folded."""
    return _UNICODE.findall(unicodedata.normalize("NFC", text).casefold())


TOKENIZERS: dict[str, Tokenizer] = {"ascii": ascii_tokens, "unicode": unicode_tokens}


class Bm25:
    """Documents numbered 0, 1, 2, ... in the order of `append`."""

    def __init__(self, tokenize: Tokenizer = ascii_tokens) -> None:
        self._tokenize = tokenize
        self._terms: dict[str, _Rare | _Common] = {}
        self._lengths = Column(np.int64)

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, text: str) -> None:
        """Count the terms of the next document."""
        document = len(self)
        found = self._tokenize(text)
        for term, count in Counter(found).items():
            counts = self._terms.get(term)
            if counts is None:
                counts = self._terms[term] = _Rare()
            counts.append(document, count)
            if isinstance(counts, _Rare) and len(counts.documents) > max(FEW, document // SHARE):
                self._terms[term] = _Common(counts)
        self._lengths.append(len(found))

    def scores(self, query: str, pool: Rows) -> NDArray[np.float64]:
        """The score of each document of the pool; shape (len(pool),).

        `pool` are the candidates' numbers, ascending: N, df and the mean length are theirs. A score
        is summed over the query's distinct tokens in ascending order, so that it depends on the
        pool and never on the order in which documents came.
        """
        size = len(pool)
        scores = np.zeros(size)
        if not size:
            return scores
        lengths = self._lengths.values[pool]
        mean = int(lengths.sum()) / size or 1.0
        slack = K1 * (1 - B + B * lengths / mean)
        place = np.full(len(self), -1, dtype=np.int32)
        place[pool] = np.arange(size, dtype=np.int32)
        for term in sorted(set(self._tokenize(query))):
            counts = self._terms.get(term)
            if isinstance(counts, _Common):
                found = counts.of(pool, len(self))
                idf = _idf(size, int(np.count_nonzero(found)))
                scores += idf * (found * (K1 + 1) / (found + slack))
            elif counts is not None:
                where, found = counts.inside(place)
                idf = _idf(size, len(where))
                scores[where] += idf * (found * (K1 + 1) / (found + slack[where]))
        return scores


def _idf(size: int, frequency: int) -> float:
    """Equation 6, for `frequency` of `size` documents."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


class _Rare:
    """A term of few documents: its postings."""

    def __init__(self) -> None:
        self.documents = array("i")
        self.counts = array("i")

    def append(self, document: int, count: int) -> None:
        self.documents.append(document)
        self.counts.append(count)

    def inside(self, place: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where in the pool the term occurs, and how often; `place` is -1 outside the pool."""
        where = place[np.frombuffer(self.documents, dtype=np.int32)]
        inside = where >= 0
        return where[inside], np.frombuffer(self.counts, dtype=np.int32)[inside]


class _Common:
    """A term of many documents: a column of counts, 0 where it does not occur."""

    def __init__(self, rare: _Rare) -> None:
        documents = np.frombuffer(rare.documents, dtype=np.int32)
        self._column = np.zeros(2 * (int(documents[-1]) + 1), dtype=np.int32)
        self._column[documents] = np.frombuffer(rare.counts, dtype=np.int32)

    def append(self, document: int, count: int) -> None:
        self._reach(document + 1)
        self._column[document] = count

    def of(self, pool: Rows, documents: int) -> NDArray[np.int32]:
        """The count in each document of the pool."""
        self._reach(documents)
        return self._column[pool]

    def _reach(self, documents: int) -> None:
        if documents > len(self._column):
            self._column = np.concatenate([self._column, np.zeros(documents, dtype=np.int32)])
