"""What came back from the database: one execution of one statement."""

from __future__ import annotations

import hashlib
import math
from enum import StrEnum

import msgspec

Value = int | float | str | bytes | None
Row = tuple[Value, ...]
Cell = int | float | str | None


class Outcome(StrEnum):
    """How an execution ended, before anybody judges whether its rows are right."""

    OK = "ok"
    ERROR = "error"
    """The DBMS, or the sandbox's rules, refused the statement."""
    TIMEOUT = "timeout"
    """The deadline passed."""
    LIMIT = "limit"
    """A limit of the sandbox other than time stopped it: memory, rows, bytes, a dead worker."""


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """The result of running one statement in the sandbox.

    Text in `rows` is decoded with `surrogateescape`, so both readings of bad bytes are open:
    `published_rows` drops them as the benchmarks' evaluators do, `clipped` shows U+FFFD.
    """

    outcome: Outcome
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    truncated: bool = False
    """The rows were cut at a cap: what is here is a prefix."""
    error: str = ""
    seconds: float = 0.0


class ResultTable(msgspec.Struct, frozen=True, kw_only=True):
    """An execution as events and screens hold it: bounded, printable, JSON-safe."""

    outcome: Outcome
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    row_count: int = 0
    """Rows that the execution returned, of which `rows` holds the first."""
    digest: str = ""
    """Stands for the complete rows in their order: equal results have equal digests. Empty where the
    rows were cut: what lies beyond may differ."""
    truncated: bool = False
    error: str = ""
    seconds: float = 0.0


def execution_of(table: ResultTable) -> Execution:
    """What an event kept of an execution, as those read it who ask the database on."""
    return Execution(outcome=table.outcome, columns=table.columns, rows=table.rows, error=table.error)


def published_rows(execution: Execution) -> tuple[Row, ...]:
    """The rows as the benchmarks' evaluators decode them: bytes that are not UTF-8 are dropped."""
    return tuple(
        row if all(_is_clean(value) for value in row) else tuple(_published(value) for value in row)
        for row in execution.rows
    )


def _is_clean(value: Value) -> bool:
    return not isinstance(value, str) or value.isascii()


def _published(value: Value) -> Value:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "ignore")
    return value


_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_PICTURES_START = 0x2400
"""Where Unicode draws the control characters."""
_KEPT_CONTROLS = "\t\n"
_UNSEEN = {
    **{code: chr(_PICTURES_START + code) for code in range(1, 0x20) if chr(code) not in _KEPT_CONTROLS},
    **dict.fromkeys([0x00, *range(0x7F, 0xA0), *range(0xD800, 0xE000)], _REPLACEMENT),
    # Marks that turn or break the line they stand in.
    **dict.fromkeys([0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)], _REPLACEMENT),
}
_MESSAGE_CHARACTERS = 2_000
_NARROWEST_CELL = 24


def printable(text: str) -> str:
    """`text` with nothing in it that a terminal obeys or UTF-8 cannot hold; tabs and line breaks
    stay."""
    return text if text.isprintable() else text.translate(_UNSEEN)


def clipped(
    execution: Execution, rows: int = 50, cell: int = 400, characters: int = 200_000
) -> ResultTable:
    """The execution as events and screens hold it: at most `rows` rows, `cell` characters a cell
    and about `characters` in all, of which wide results give each cell less."""
    cell = min(cell, max(_NARROWEST_CELL, characters // max(1, len(execution.columns))))
    return ResultTable(
        outcome=execution.outcome,
        columns=tuple(_shortened(printable(name[: cell + 1]), cell) for name in execution.columns),
        rows=_fitting(execution.rows[:rows], cell, characters),
        row_count=len(execution.rows),
        digest="" if execution.truncated else rows_digest(execution),
        truncated=execution.truncated,
        error=_shortened(printable(execution.error[: _MESSAGE_CHARACTERS + 1]), _MESSAGE_CHARACTERS),
        seconds=execution.seconds,
    )


def rows_digest(execution: Execution) -> str:
    """Equal for equal results, their order included; empty where there is no result. Column names
    do not count: an alias changes no answer."""
    if execution.outcome is not Outcome.OK:
        return ""
    digest = hashlib.sha256(f"{len(execution.columns)}".encode())
    for row in execution.rows:
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def _fitting(rows: tuple[Row, ...], cell: int, characters: int) -> tuple[tuple[Cell, ...], ...]:
    fitting: list[tuple[Cell, ...]] = []
    for row in rows:
        shown = tuple(_shown(value, cell) for value in row)
        characters -= sum(len(value) if isinstance(value, str) else 8 for value in shown)
        if characters < 0 and fitting:
            break
        fitting.append(shown)
    return tuple(fitting)


def _shown(value: Value, most: int) -> Cell:
    if isinstance(value, str):
        return _shortened(printable(value[: most + 1]), most)
    if isinstance(value, bytes):
        return _shortened(f"x'{value[:most].hex().upper()}'", most)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
