"""Where one statement ends, by SQLite's own rules for literals and comments."""

from __future__ import annotations

import re

_NOTHING = r"(?:[ \t\f\r\n]|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))"
_PIECES = r"""(?:'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|[^;'"`\[])"""
_ONE_STATEMENT = re.compile(
    rf"(?:{_NOTHING}|;)*+(?:{_NOTHING}|{_PIECES})*+(?:;{_NOTHING}*+)?+", re.DOTALL
)


def is_followed(sql: str) -> bool:
    """Whether anything but spaces and comments comes after the semicolon that ends the statement,
    another semicolon included: the published evaluators' driver refuses such a text."""
    return _ONE_STATEMENT.fullmatch(sql) is None
