"""Every key of a room on one sheet, made from the table of actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.content import Content

from tui.console.actions import MOVES, ON_SHEETS, Action, key_words
from tui.console.ink import ACCENT, BLANK, Line, column, line, rule
from tui.console.keys import Keys
from tui.console.rooms import title_of
from tui.console.screens.dialogs import Sheet
from tui.console.widgets.paper import Block

_KEYS = 20


def help_sheet(room: str, keys: Keys) -> Sheet:
    """The sheet for a room with the keys in force: its own first, then those of every screen."""
    actions = keys.actions_of(room)
    own = [action for action in actions if action.rooms]
    everywhere = [*(action for action in actions if not action.rooms), *keys.room_actions()]
    blocks = [
        Block("own", room, partial(_section, f"On {title_of(room)}", _rows(own))),
        Block("everywhere", 0, partial(_section, "On every screen", _rows(everywhere))),
        Block("moves", 0, partial(_section, "In every list and sheet", list(MOVES))),
        Block("sheets", 0, partial(_section, "On a sheet like this one", list(ON_SHEETS))),
    ]
    return Sheet("Keys", blocks)


def _rows(actions: Sequence[Action]) -> list[tuple[str, str]]:
    return [(key_words(action), action.about) for action in actions]


def _section(title: str, rows: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lines = [rule((title, f"{ACCENT} bold"), width=width)]
    for keys, about in rows:
        wrapped = Content(about).wrap(max(20, width - _KEYS))
        lines.append(line(column(keys, _KEYS, "bold"), wrapped[0], wrap=False))
        lines += [line(more, indent=_KEYS, wrap=False) for more in wrapped[1:]]
    return [*lines, BLANK]
