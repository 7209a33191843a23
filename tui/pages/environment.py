"""How every page is made: one environment, one stylesheet, nothing loaded, all text escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.whole_file import whole_file
from tui.view.legible import cell_text, legible, one_line
from tui.view.summary import duration, percent

if TYPE_CHECKING:
    from jinja2 import Environment, Template

TEMPLATES = Path(__file__).parent / "templates"
"""The frame `page.html.jinja`, which other templates extend, and the stylesheet `page.css`."""

_PIECE = 64
"""Pieces of a template that are joined before they are passed on."""


def template(name: str, *folders: Path, **filters: Callable[..., Any]) -> Template:
    """A template by its file's name, looked for in `folders` and then among the pages' own.

    Autoescape is on and an undefined name is an error. Filters beside `filters`: legible, one_line,
    cell, percent, duration. A page has no script and loads nothing; its frame forbids both.
    """
    environment = _environment(folders)
    environment.filters |= filters
    return environment.get_template(name)


@cache
def _environment(folders: tuple[Path, ...]) -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "legible": legible,
        "one_line": one_line,
        "cell": cell_text,
        "percent": percent,
        "duration": duration,
    }
    return environment


def write_page(path: Path, made: Template, **shown: Any) -> None:
    """Fill the template and write it, piece by piece, so that a long page takes little memory.
    Raises MeritoError where the file cannot be written."""
    stream = made.stream(**shown)
    stream.enable_buffering(_PIECE)
    write_pieces(path, stream)


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write a text, whole or not at all. Raises MeritoError where the file cannot be written."""
    with whole_file(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))
