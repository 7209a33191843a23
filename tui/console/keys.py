"""The keys in force: the table of actions with what the settings' [keys] change about it.

    [keys]
    "run.pause" = "p"
    "all.palette" = ["ctrl+k", ":"]

A row that makes no sense is left aside and told; the action keeps the keys it came with.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from textual.keys import Keys as TextualKeys
from textual.keys import _character_to_key as key_of_character

from tui.console.actions import (
    ACTIONS,
    MOVE_KEYS,
    ROOM_ACTIONS,
    Action,
    actions_of,
    first_key,
    key_words,
)
from tui.console.rooms import ROOMS

EATEN: Mapping[str, str] = {
    "ctrl+b": "tmux takes it as its prefix",
    "ctrl+a": "screen takes it as its prefix",
    "ctrl+s": "the terminal may stop its output on it",
    "ctrl+q": "the terminal may start its output on it",
    "ctrl+z": "the shell may take it",
    "ctrl+k": "editors' terminals take it",
    "ctrl+w": "editors' terminals and browsers take it",
    "ctrl+j": "terminals send it for enter",
    "ctrl+m": "terminals send enter for it",
    "ctrl+i": "terminals send tab for it",
    "ctrl+h": "terminals send it for backspace",
    "ctrl+left_square_bracket": "terminals send escape for it",
}
"""Chords that do not arrive everywhere, and why."""

_MODIFIERS = ("ctrl", "shift", "alt", "super", "meta", "hyper")
_ALSO = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}
_KNOWN = frozenset(
    [*(key.value for key in TextualKeys), *(key_of_character(chr(code)) for code in range(32, 127))]
)
_EVERY = {action.name: action for action in (*ACTIONS, *ROOM_ACTIONS)}


class Row(NamedTuple):
    """One row of [keys] as it stands in a file."""

    keys: Any
    source: str


class Trouble(NamedTuple):
    """What is wrong with a row, and the way out."""

    problem: str
    mend: str


@dataclass(frozen=True)
class Keys:
    """Which keys do what."""

    changed: Mapping[str, str] = field(default_factory=dict)
    """Action name -> its keys as Textual names them, comma-separated, where not the table's."""
    troubles: tuple[Trouble, ...] = ()

    def of(self, action: Action) -> Action:
        """The action with the keys in force."""
        keys = self.changed.get(action.name)
        return action if keys is None else replace(action, keys=keys)

    def named(self, name: str) -> Action:
        """An action by its name, with the keys in force. Raises KeyError."""
        return self.of(_EVERY[name])

    def shown(self, name: str) -> str:
        """The key that words on the screen name for an action. Raises KeyError."""
        return first_key(self.named(name))

    def actions_of(self, room: str) -> list[Action]:
        """What can be done in a room, its own actions first."""
        return [self.of(action) for action in actions_of(room)]

    def room_actions(self) -> list[Action]:
        """The ways to the rooms, in their order."""
        return [self.of(action) for action in ROOM_ACTIONS]

    @property
    def words(self) -> str:
        """One line about everything that is wrong; empty where nothing is."""
        if not self.troubles:
            return ""
        first, more = self.troubles[0], len(self.troubles) - 1
        rest = f" And {more} more: 'merito doctor' lists them." if more else ""
        return f"{first.problem} {first.mend}{rest}"


def keys_from(table: Mapping[str, Row]) -> Keys:
    """The keys in force under these rows."""
    changed: dict[str, str] = {}
    troubles: list[Trouble] = []
    for name, row in table.items():
        read = _read(name, row)
        if isinstance(read, Trouble):
            troubles.append(read)
        else:
            changed[name] = ",".join(read)
            troubles += _eaten(name, row, read)
    while (clash := next(_clashes(changed), None)) is not None:
        key, rivals = clash
        mine = [name for name in rivals if name in changed]
        for name in mine:
            del changed[name]
            others = " and ".join(other for other in rivals if other != name)
            troubles.append(
                Trouble(
                    f"{table[name].source}, [keys]: {key_words(_keyed(key))} for {name} already does "
                    f"{others}.",
                    f"Choose another key for {name}; it keeps {key_words(_EVERY[name])}.",
                )
            )
    return Keys(changed, tuple(troubles))


def _read(name: str, row: Row) -> list[str] | Trouble:
    where = f"{row.source}, [keys]:"
    if name not in _EVERY:
        near = difflib.get_close_matches(name, _EVERY, 1)
        hint = f"Did you mean '{near[0]}'?" if near else "The help (?) and 'merito doctor' name them."
        return Trouble(f"{where} there is no action '{name}'.", hint)
    asked = row.keys if isinstance(row.keys, list) else [row.keys]
    if not asked or not all(isinstance(key, str) and key.strip() for key in asked):
        return Trouble(f"{where} {name} = {row.keys!r} is no key.", f'Write: "{name}" = "ctrl+t"')
    read: list[str] = []
    for key in asked:
        known = _as_textual_names_it(key if key == " " else key.strip())
        if known is None:
            return Trouble(
                f"{where} {name}: there is no key '{key}'.", 'Keys: "p", "ctrl+t", "f5", "?".'
            )
        if known in MOVE_KEYS:
            return Trouble(
                f"{where} {name}: '{key}' moves in every list and sheet.", "Choose another key."
            )
        read.append(known)
    return read


def _as_textual_names_it(key: str) -> str | None:
    """The key's name, or None where no keyboard has it."""
    if len(key) == 1:
        return key_of_character(key) if key.isprintable() else None
    *modifiers, base = re.split(r"\+(?=.)", key)
    base = _ALSO.get(base.lower(), base if len(base) == 1 and not modifiers else base.lower())
    if any(modifier.lower() not in _MODIFIERS for modifier in modifiers):
        return None
    name = key_of_character(base) if len(base) == 1 else base
    if name not in _KNOWN:
        return None
    return "+".join([*(modifier.lower() for modifier in modifiers), name])


def _eaten(name: str, row: Row, keys: list[str]) -> Iterator[Trouble]:
    for key in keys:
        if key in EATEN:
            yield Trouble(
                f"{row.source}, [keys]: {key} for {name} may not arrive: {EATEN[key]}.",
                "Choose another key.",
            )


def _clashes(changed: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Keys that would do two things in one room, and the actions they would do."""
    keys = Keys(changed)
    for room in ROOMS:
        does: defaultdict[str, list[str]] = defaultdict(list)
        for action in (*keys.actions_of(room.name), *keys.room_actions()):
            for key in action.keys.split(","):
                does[key].append(action.name)
        for key, names in does.items():
            if len(names) > 1 and any(name in changed for name in names):
                yield key, names


def _keyed(key: str) -> Action:
    return Action("", key, "", "", (), 0, "")
