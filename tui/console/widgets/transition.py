"""What a memory changed: both SQL texts side by side where there is room, else one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from core.memory.entry import MemoryEntry, Polarity
from tui.console.ink import (
    ADDED,
    BAD,
    BLANK,
    GOOD,
    QUIET,
    REMOVED,
    Line,
    ink,
    line,
    rule,
    sql_lines,
)
from tui.view.alignment import Pair, aligned
from tui.view.difference import Change, changes
from tui.view.legible import one_line
from tui.view.polarity import POLARITY_WORDS

SIDE_BY_SIDE = 92
"""The least width in cells at which two columns can be read."""

_BETWEEN = " │ "
_DELTA = 20


def transition_lines(entry: MemoryEntry, width: int) -> Sequence[Line]:
    """The change as a block: heading, both texts, and the delta in words."""
    ink_of_it = BAD if entry.polarity is Polarity.NEGATIVE else GOOD
    became = (POLARITY_WORDS[entry.polarity].became, ink_of_it)
    if entry.polarity is Polarity.EXAMPLE:
        return [rule((became[0], f"{GOOD} bold"), width=width), *sql_lines(entry.revised_sql), BLANK]
    pairs = aligned(entry.context.failed_sql, entry.revised_sql)
    wide = width >= SIDE_BY_SIDE
    drawn = _columns(pairs, width, became) if wide else _unified(pairs, width, became)
    delta = [line((one_line(change, 300), QUIET), indent=2) for change in entry.delta[:_DELTA]]
    if len(entry.delta) > _DELTA:
        delta.append(line((f"... and {len(entry.delta) - _DELTA} more", QUIET), indent=2))
    return [*drawn, *delta, BLANK]


def _columns(pairs: Sequence[Pair], width: int, became: tuple[str, str]) -> Iterator[Line]:
    room = (width - len(_BETWEEN)) // 2
    heading = ink(("failed", f"{BAD} bold"), (" before", QUIET))
    yield Line(
        ink(_padded(heading, room), (_BETWEEN, QUIET), (became[0], f"{became[1]} bold")), wrap=False
    )
    for pair in pairs:
        left, right = _old(pair).wrap(room), _new(pair).wrap(room)
        for index in range(max(len(left), len(right))):
            one = left[index] if index < len(left) else Content("")
            other = right[index] if index < len(right) else Content("")
            yield Line(ink(_padded(one, room), (_BETWEEN, QUIET), other), wrap=False)
    yield BLANK


def _unified(pairs: Sequence[Pair], width: int, became: tuple[str, str]) -> Iterator[Line]:
    yield rule(("- failed", f"{BAD} bold"), (f"  + {became[0]}", f"{became[1]} bold"), width=width)
    waiting: list[Line] = []
    for pair in pairs:
        if pair.same:
            yield from waiting
            waiting = []
            yield line(("  ", QUIET), _new(pair))
            continue
        if pair.old:
            yield line(("- ", BAD), _old(pair))
        if pair.new:
            waiting.append(line(("+ ", GOOD), _new(pair)))
    yield from waiting
    yield BLANK


def _old(pair: Pair) -> Content:
    found = () if pair.same else changes(pair.new, pair.old)
    whole = not pair.same and not pair.new
    return _sql(pair.old, found, REMOVED, whole)


def _new(pair: Pair) -> Content:
    found = () if pair.same else changes(pair.old, pair.new)
    whole = not pair.same and not pair.old
    return _sql(pair.new, found, ADDED, whole)


def _sql(text: str, found: tuple[Change, ...], style: str, whole: bool) -> Content:
    drawn = sql_lines(text, found, 0, mark=style)
    content = ink(*(part for each in drawn for part in (each.content, " ")))
    content = content.rstrip()
    return content.stylize(style) if whole else content


def _padded(content: Content, room: int) -> Content:
    return ink(content, " " * max(0, room - content.cell_length))
