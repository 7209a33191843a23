"""Everything about one attempt on one sheet: SQL, rows, prompt, answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from core.database.rows import ResultTable
from tui.console.ink import (
    ACCENT,
    BLANK,
    LONGEST_SQL,
    QUIET,
    Line,
    line,
    row_count_words,
    rule,
    sql_lines,
    table_fits,
    table_lines,
)
from tui.console.screens.dialogs import Sheet
from tui.console.widgets.paper import Block
from tui.view.episode_view import AttemptView, EpisodeView
from tui.view.legible import cell_text, legible, one_line

_ROWS = 200
_CELL = 2_000
_TEXT = 200_000


def detail(title: str, episode: EpisodeView, attempt: AttemptView) -> Sheet:
    """The sheet for an attempt."""
    parts = [
        ("SQL", partial(_sql, episode, attempt)),
        ("Result", partial(_result, attempt.result)),
        ("Prompt", partial(_prompt, attempt)),
        ("Answer as written", partial(_answer, attempt)),
        ("What memory was asked", partial(_asked, attempt)),
    ]
    blocks = [Block(name, 0, partial(_part, name, lines)) for name, lines in parts]
    return Sheet(title, blocks, copied=attempt.sql)


def _part(name: str, lines: partial[list[Line]], width: int) -> Sequence[Line]:
    body = lines(width)
    return [rule((name, f"{ACCENT} bold"), width=width), *body, BLANK] if body else []


def _sql(episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    return sql_lines(attempt.sql, episode.changes(attempt.number), indent=0, limit=LONGEST_SQL)


def _result(result: ResultTable | None, width: int) -> list[Line]:
    if result is None:
        return []
    if result.error:
        return [line(legible(result.error, _TEXT))]
    shown = min(_ROWS, len(result.rows))
    words = line((row_count_words(result, shown), QUIET))
    if table_fits(result, width):
        return [words, *table_lines(result, width, _ROWS, indent=0)]
    return [words, *_records(result)]


def _records(result: ResultTable) -> list[Line]:
    """Wide rows, one column a line."""
    lines: list[Line] = []
    for number, row in enumerate(result.rows[:_ROWS], start=1):
        lines.append(line((f"row {number}", QUIET)))
        for name, cell in zip(result.columns, row, strict=False):
            lines.append(line((one_line(name, 60), ACCENT), " ", cell_text(cell, _CELL), indent=2))
    return lines


def _prompt(attempt: AttemptView, _width: int) -> list[Line]:
    lines: list[Line] = []
    for message in attempt.prompt:
        lines.append(line((f"{message.role} ({one_line(attempt.template, 60)})", QUIET)))
        lines += [line(each) for each in legible(message.content, _TEXT).split("\n")]
    return lines


def _answer(attempt: AttemptView, _width: int) -> list[Line]:
    return [line(each) for each in legible(attempt.answer, _TEXT).split("\n")] if attempt.answer else []


def _asked(attempt: AttemptView, _width: int) -> list[Line]:
    if attempt.retrieval is None:
        return []
    return [
        line(("meaning  ", QUIET), one_line(attempt.retrieval.dense_text, _CELL)),
        line(("words  ", QUIET), one_line(attempt.retrieval.lexical_text, _CELL)),
    ]
