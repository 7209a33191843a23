"""What came back from the database: one execution of one statement."""

from __future__ import annotations

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
    """Stands for the complete rows, their order ignored: equal rows have equal digests."""
    truncated: bool = False
    error: str = ""
    seconds: float = 0.0
