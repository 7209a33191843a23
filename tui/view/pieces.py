"""A text in pieces of one style each, for faces that draw it: a terminal, a page."""

from __future__ import annotations

from itertools import pairwise


def pieces(text: str, spans: list[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """The text cut where a style begins or ends. A later span adds to an earlier one: its styles are
    joined by spaces, grounds (`on ...`) last."""
    edges = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    styles: dict[int, list[str]] = {}
    at = {edge: index for index, edge in enumerate(edges)}
    for start, end, style in spans:
        if style:
            for index in range(at[start], at[end]):
                styles.setdefault(index, []).append(style)
    return [
        (text[start:end], _joined(styles.get(index, [])))
        for index, (start, end) in enumerate(pairwise(edges))
    ]


def _joined(styles: list[str]) -> str:
    return " ".join(sorted(styles, key=lambda style: style.startswith("on ")))
