"""BM25 over changing pools (MERIT, appendix D, equations 4 to 6).

Terms are counted once, when a document is appended. A query touches the postings of its own terms
alone, masked by the pool, so that N, df and the mean length are the pool's and nothing is rebuilt.
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

Tokenizer = Callable[[str], list[str]]
Mask = NDArray[np.bool_]

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
        self._documents: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._lengths = Column(np.int64)

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, text: str) -> None:
        """Count the terms of the next document."""
        document = len(self)
        found = self._tokenize(text)
        for term, count in Counter(found).items():
            if term not in self._documents:
                self._documents[term], self._counts[term] = array("i"), array("i")
            self._documents[term].append(document)
            self._counts[term].append(count)
        self._lengths.append(len(found))

    def scores(self, query: str, pool: Mask) -> NDArray[np.float64]:
        """The score of every document, 0 outside the pool; shape (len(self),).

        `pool` marks the candidate documents: N, df and the mean length are theirs. Each score is
        summed over the query's distinct tokens in ascending order, so that a document's score
        depends on the pool and never on the order in which documents came.
        """
        terms = [term for term in sorted(set(self._tokenize(query))) if term in self._documents]
        size = int(np.count_nonzero(pool))
        if not terms or not size:
            return np.zeros(len(self))
        documents, counts, which = self._postings(terms, pool)
        frequency = np.bincount(which, minlength=len(terms))
        idf = np.array([math.log(1 + (size - df + 0.5) / (df + 0.5)) for df in frequency.tolist()])
        lengths = self._lengths.values
        mean = int(lengths[pool].sum()) / size or 1.0
        slack = K1 * (1 - B + B * lengths / mean)
        saturation = counts * (K1 + 1) / (counts + slack[documents])
        scores: NDArray[np.float64] = np.bincount(
            documents, weights=idf[which] * saturation, minlength=len(self)
        ).astype(np.float64, copy=False)
        return scores

    def _postings(
        self, terms: list[str], pool: Mask
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.intp]]:
        """Documents, counts and term numbers of every posting inside the pool, term by term."""
        columns = [np.frombuffer(self._documents[term], dtype=np.int32) for term in terms]
        documents = np.concatenate(columns)
        counts = np.concatenate([np.frombuffer(self._counts[term], dtype=np.int32) for term in terms])
        which = np.repeat(np.arange(len(terms)), [len(column) for column in columns])
        inside = pool[documents]
        return documents[inside], counts[inside], which[inside]
