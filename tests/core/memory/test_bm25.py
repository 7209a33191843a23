"""What counts as a word, and an example of the score worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.memory.bm25 import Bm25, ascii_tokens, unicode_tokens


def test_the_paper_s_words_are_ascii() -> None:
    assert ascii_tokens("SELECT t1.Song_Name, 2014 FROM Café") == [
        "select", "t1", "song_name", "2014", "from", "caf",
    ]  # fmt: skip


def test_unicode_words_keep_every_script_and_fold_its_case() -> None:
    assert unicode_tokens("CAFÉ STRASSE straße 東京_1 e\u0301") == [
        "café",
        "strasse",
        "strasse",
        "東京_1",
        "é",
    ]


def test_a_score_by_hand() -> None:
    """Three documents of 2, 1 and 3 words, of which the first and the third are the pool: N = 2,
    mean 2.5, df(a) = 1, df(b) = 2."""
    bm25 = Bm25()
    for text in ("a b", "a", "b b c"):
        bm25.append(text)
    scores = bm25.scores("b a a", np.array([0, 2]))
    idf_a, idf_b = math.log(1 + 1.5 / 1.5), math.log(1 + 0.5 / 2.5)
    first = 1.5 * (0.25 + 0.75 * 2 / 2.5)
    third = 1.5 * (0.25 + 0.75 * 3 / 2.5)
    assert scores == pytest.approx(
        [idf_a * 2.5 / (1 + first) + idf_b * 2.5 / (1 + first), idf_b * 5 / (2 + third)]
    )


def test_nothing_in_common_scores_nothing() -> None:
    bm25 = Bm25()
    bm25.append("")
    bm25.append("a")
    assert list(bm25.scores("z", np.array([0, 1]))) == [0, 0]
    assert list(bm25.scores("a", np.array([0]))) == [0]
    assert list(bm25.scores("a", np.array([], dtype=int))) == []
