"""Text from databases, models and people, made safe to look at.

Nothing from outside reaches a terminal raw: control characters, escape sequences, bidirectional
overrides and broken bytes become visible signs. Nothing vanishes either: whatever is cut says so.
"""

from __future__ import annotations

import re

from core.database.rows import Cell

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CONTROL_PICTURES = 0x2400
_INVISIBLE = (
    *range(0x80, 0xA0),
    0x061C,
    0x180E,
    0x200B,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
_SIGNS: dict[int, str] = {code: f"<U+{code:04X}>" for code in _INVISIBLE}
_SIGNS |= {code: chr(_CONTROL_PICTURES + code) for code in range(0x20) if chr(code) not in "\n\t"}
_SIGNS |= {0x7F: "\N{SYMBOL FOR DELETE}", 0x09: "    "}
_PLACES: dict[int, str] = dict.fromkeys(_INVISIBLE, REPLACEMENT) | {
    code: sign for code, sign in _SIGNS.items() if len(sign) == 1
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\s*[\r\n]+\s*")


def legible(text: str, limit: int = 4_000) -> str:
    """`text` with line breaks kept and everything invisible made visible, cut after `limit`
    characters; the cut names how many are missing."""
    missing = len(text) - limit
    if missing > 0:
        text = text[:limit]
    if not text.isprintable():
        text = _SURROGATE.sub(REPLACEMENT, text.replace("\r\n", "\n").translate(_SIGNS))
    return f"{text}... ({missing:,} more characters)" if missing > 0 else text


def legible_in_place(text: str) -> str:
    """`text` with a sign of one character for each that is invisible, tabs left as they are: where
    something is edited, every place must stay what it was."""
    return text if text.isprintable() else _SURROGATE.sub(REPLACEMENT, text.translate(_PLACES))


def one_line(text: str, limit: int = 1_000) -> str:
    """The same on one line: a line break with the spaces around it becomes one space."""
    return _flat(text.strip(), limit)


def cell_text(cell: Cell, limit: int = 200) -> str:
    """A value of a result on one line; NULL is a word, and no text can be mistaken for it."""
    if cell is None:
        return "NULL"
    if not isinstance(cell, str):
        return str(cell)
    doubtful = not cell or cell.upper() == "NULL" or cell[0].isspace() or cell[-1].isspace()
    return f"'{_flat(cell, limit)}'" if doubtful else _flat(cell, limit)


def _flat(text: str, limit: int) -> str:
    head = _LINE_BREAK.sub(" ", text[: limit * 2])[:limit]
    missing = len(text) - limit
    return legible(head, limit) + (f"... ({missing:,} more characters)" if missing > 0 else "")
