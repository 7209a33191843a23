"""Text as the console draws it: always `Content` with styles of the theme, never markup."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from core.database.rows import ResultTable
from tui.view.difference import Change
from tui.view.legible import cell_text, legible, one_line
from tui.view.pieces import pieces
from tui.view.sql_tokens import Kind, tokens

QUIET = "$ink-quiet"
GOOD = "$ink-good"
BAD = "$ink-bad"
WARN = "$ink-warn"
ACCENT = "$ink-accent"
TITLE = "bold"
ADDED = "on $ink-added underline"
REMOVED = "on $ink-removed strike"

_TOKEN_STYLES: dict[Kind, str] = {
    "keyword": "$ink-keyword bold",
    "string": "$ink-string",
    "number": "$ink-number",
    "comment": "$ink-quiet italic",
}
LONGEST_SQL = 20_000
_CELL = 28


class Line(NamedTuple):
    """One logical line of a paper: wrapped to the width where `wrap`, else cut with a sign."""

    content: Content
    indent: int = 0
    wrap: bool = True


Part = str | Content | tuple[str, str]


def ink(*parts: Part) -> Content:
    """Content from texts and (text, style) pairs. Texts from outside come through `legible`."""
    return Content.assemble(*parts)


def line(*parts: Part, indent: int = 0, wrap: bool = True) -> Line:
    """A line from parts."""
    return Line(ink(*parts), indent, wrap)


BLANK = Line(Content(""))


def rule(*parts: Part, style: str = QUIET, width: int, tail: Part = "") -> Line:
    """A heading that runs across the paper, with `tail` at its right end."""
    left, right = ink(*parts), ink(tail)
    room = width - left.cell_length - right.cell_length - 2
    if room < 1:
        return Line(ink(left, " ", right), wrap=False)
    filler = ink(" ", ("─" * room, style), " ")
    return Line(ink(left, filler, right), wrap=False)


def sql_lines(
    sql: str,
    changes: tuple[Change, ...] = (),
    indent: int = 2,
    limit: int = 4_000,
    mark: str = ADDED,
) -> list[Line]:
    """SQL in colour; what is new against the attempt before is underlined on a tint, or has the
    style `mark`."""
    shown = sql[:limit]
    spans = [(t.start, t.end, _TOKEN_STYLES.get(t.kind, "")) for t in tokens(shown)]
    spans += [(c.start, min(c.end, limit), mark) for c in changes if c.new and c.start < limit]
    parts = pieces(shown, spans)
    if len(sql) > len(shown):
        parts.append((f"... ({len(sql) - len(shown):,} more characters)", QUIET))
    content = ink(*((legible(text, limit), style) for text, style in parts))
    return [Line(part, indent) for part in content.split("\n", allow_blank=True)]


def change_parts(change: Change, limit: int = 160) -> Content:
    """A change with its signs: `- old` struck through, `+ new` underlined."""
    old, new = one_line(change.old, limit), one_line(change.new, limit)
    parts: list[Part] = []
    if old:
        parts += [("- ", BAD), (old, REMOVED)]
    if old and new:
        parts.append("  ")
    if new:
        parts += [("+ ", GOOD), (new, ADDED)]
    return ink(*parts)


def bar(share: float, width: int = 10) -> str:
    """A share from 0 to 1 as a bar of `width` cells."""
    halves = round(max(0.0, min(1.0, share)) * width * 2)
    full, rest = divmod(halves, 2)
    return ("━" * full + ("╸" if rest else "")).ljust(width, "╌")


def column(text: str, width: int, style: str = "", *, right: bool = False) -> Content:
    """Text cut or padded to exactly `width` cells; wide characters count as two."""
    shown = Content(text).truncate(width, ellipsis=True)
    pad = " " * (width - shown.cell_length)
    return Content.styled(pad + shown.plain if right else shown.plain + pad, style)


def table_fits(table: ResultTable, width: int) -> bool:
    """Whether every column stands side by side, with no cell cut."""
    if len(table.columns) > width // 4:
        return False
    longest = [
        max([len(name), *(len(str(row[index])) for row in table.rows if index < len(row))])
        for index, name in enumerate(table.columns)
    ]
    return max(longest, default=0) <= _CELL and sum(longest) + 3 * len(longest) <= width


def table_lines(table: ResultTable, width: int, most: int, indent: int = 2) -> list[Line]:
    """The first rows as a small table; what does not fit is counted, never dropped in silence."""
    rows = [[cell_text(cell, _CELL * 2) for cell in row[: width // 3]] for row in table.rows[:most]]
    names = [one_line(name, _CELL) or "(no name)" for name in table.columns[: width // 3]]
    widths = _fitting(names, rows, width - indent)
    left_out = len(table.columns) - len(widths)
    more = f" + {left_out} more column{'s' if left_out > 1 else ''}" if left_out > 0 else ""
    numeric = [_numeric(table, index) for index in range(len(widths))]
    heading = _cells_of(names, widths, numeric, f"bold {QUIET}")
    lines = [line(heading, (more, QUIET), indent=indent, wrap=False)]
    lines += [line(_cells_of(row, widths, numeric, ""), indent=indent, wrap=False) for row in rows]
    return lines


def _fitting(names: list[str], rows: list[list[str]], width: int) -> list[int]:
    """Widths of as many columns as fit, with room left to say how many do not."""
    widths: list[int] = []
    for index, name in enumerate(names):
        cells = [row[index] for row in rows if index < len(row)]
        need = min(_CELL, max(_cells(text) for text in [name, *cells]))
        last = index == len(names) - 1
        if widths and sum(widths) + 3 * len(widths) + need > width - (0 if last else 18):
            break
        widths.append(need)
    return widths


def row_count_words(table: ResultTable, shown: int) -> str:
    """How many rows there were, and how many of them are shown."""
    count = f"{table.row_count:,}{' or more' if table.truncated else ''}"
    plural = "" if table.row_count == 1 and not table.truncated else "s"
    first = f", first {shown}" if table.row_count > shown else ""
    return f"{count} row{plural}{first}"


def _cells(text: str) -> int:
    return Content(text).cell_length


def _numeric(table: ResultTable, index: int) -> bool:
    column = [row[index] for row in table.rows if index < len(row) and row[index] is not None]
    return bool(column) and all(isinstance(cell, int | float) for cell in column)


def _cells_of(texts: list[str], widths: list[int], numeric: list[bool], style: str) -> Content:
    parts: list[Part] = []
    for text, width, right in zip(texts, widths, numeric, strict=False):
        if parts:
            parts.append((" │ ", QUIET))
        parts.append(column(text, width, style or (QUIET if text == "NULL" else ""), right=right))
    return ink(*parts)
