"""Lines for people at a terminal, broken between words: a terminal left alone breaks inside them."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TextIO

import click
from rich.cells import cell_len

INDENT = "  "
"""Added to a line's own indentation where it goes on."""


def wrapped(line: str, width: int) -> list[str]:
    """`line` in pieces of at most `width` cells, broken at spaces; a word that is longer stays whole,
    so that ids and paths can be copied."""
    if cell_len(line) <= width:
        return [line]
    body = line.lstrip(" ")
    indent = line[: len(line) - len(body)]
    pieces, piece = [], indent
    for word in re.findall(r"\S+\s*", body):
        begun = bool(piece.strip())
        if begun and cell_len(piece + word.rstrip()) > width:
            pieces.append(piece.rstrip())
            piece = indent + INDENT
        piece += word
    return [*pieces, piece.rstrip()]


def width_of(out: TextIO | None) -> int | None:
    """The cells of a line of the terminal that `out` writes to; None where it is none."""
    try:
        return shutil.get_terminal_size().columns if out is not None and out.isatty() else None
    except ValueError:  # closed
        return None


def lines_for(line: str, out: TextIO) -> list[str]:
    """The line as `out` shows it best: whole in a pipe, wrapped on a terminal."""
    width = width_of(out)
    return [line] if width is None else wrapped(line, width)


def say(line: str, *, command: str = "", err: bool = False) -> None:
    """Print a line, or several, and a command at the end: never broken, for it is to be copied."""
    out = sys.stderr if err else sys.stdout
    width = width_of(out)
    whole = f"{line} {command}".rstrip() if command else line
    if width is None or cell_len(whole) <= width:
        click.echo(whole, err=err)
        return
    pieces = [piece for part in line.rstrip().split("\n") for piece in wrapped(part, width)]
    for piece in (*pieces, *([INDENT + command] if command else [])):
        click.echo(piece, err=err)
