"""The sandbox's worker: a process that runs one statement at a time and can be killed.

Standard library only: it is started with `-I -S`. It reads requests from standard input and
writes frames to standard output, each a length (4 bytes, little-endian) and a marshalled tuple.
A request is (path, sql, deadline, rows, bytes, cell, complete); its answer is ACCEPTED, any
number of (ROWS, [row, ...]), then one DONE.
"""

# ruff: noqa: PTH110, PTH116
# Paths stay strings here, as in `opening.py`.

from __future__ import annotations

import marshal
import os
import re
import signal
import sqlite3
import sys
import time
from typing import Any

from core.database import guard, opening

ACCEPTED, ROWS, DONE, READY = "accepted", "rows", "done", "ready"
LENGTH_BYTES = 4
GRACE_SECONDS = 0.5
"""How long after its deadline a statement that does not listen is killed."""

_OPCODES_BETWEEN_LOOKS = 2_000
_BATCH_BYTES = 256 * 1024
_KEPT_CONNECTIONS = 8
_ADDRESS_SPACE_BYTES = 1536 * guard.MIB
_FILE_BYTES = 16 * guard.MIB
"""More than the index of a write-ahead log needs, the one thing that reading may create."""
_MOST_BUSY_SECONDS = 2.0
_PRIMARY_CODE = 0xFF
"""Masks what SQLite's extended error codes add."""
_MESSAGE_CHARACTERS = 2_000
_ROW_BYTES, _CELL_BYTES = 56, 40
"""What Python spends on a row and on a cell beside the cell's text."""

_TOKENS = re.compile(
    r"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)|;""",
    re.DOTALL,
)
"""Where a semicolon may hide, and the semicolon; a doubled quote reads as two strings, which end
at the same place."""
_NOTHING = re.compile(r"(?:\s|;|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.DOTALL)

_REFUSALS = ("not authorized", "authorization denied", "vtable constructor failed")
"""How SQLite words a denial by the authorizer that names no function."""

Answer = tuple[str, tuple[str, ...], bool, str, float, bool, str]
"""Outcome, columns, truncated, message, seconds, whether the worker should be replaced, and
SQLite's name of the error."""


class Opened:
    """A connection kept for the next statement, with what proves that it is still the file's."""

    def __init__(self, path: str) -> None:
        self.identity = _identity(path)
        self.connection = opening.connect_read_only(path)
        self.connection.text_factory = _decode
        self.authorizer = guard.install(self.connection)
        # While it is open, a reader of a write-ahead log keeps other programs from folding it up.
        self.lasts = not os.path.exists(path + "-wal")


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _identity(path: str) -> tuple[object, ...]:
    """Changes with every change of the file: neither an immutable connection nor the virtual
    tables that were set up would notice."""
    return tuple(_stamp(path + end) for end in ("", "-wal", "-journal"))


def _stamp(path: str) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


class Connections:
    """The last few databases, kept open: opening one costs more than most statements."""

    def __init__(self) -> None:
        self._opened: dict[str, Opened] = {}

    def get(self, path: str) -> Opened:
        """The database's connection, made anew where the file has changed."""
        path = os.path.realpath(path)
        opened = self._opened.pop(path, None)
        if opened is not None and opened.identity != _identity(path):
            opened.connection.close()
            opened = None
        if opened is None:
            opened = Opened(path)
        if not opened.lasts:
            return opened
        self._opened[path] = opened
        if len(self._opened) > _KEPT_CONNECTIONS:
            self._opened.pop(next(iter(self._opened))).connection.close()
        return opened


class Statement:
    """One statement on its way: the clock, the caps, and what has been sent already."""

    def __init__(
        self, sql: str, deadline: float, rows: int, most_bytes: int, cell: int, complete: bool
    ) -> None:
        self._sql = sql
        self._rows, self._bytes, self._cell, self._complete = rows, most_bytes, cell, complete
        self._parent = os.getppid()
        self.started = time.monotonic()
        self._until = self.started + deadline
        self.late = False
        self.columns: tuple[str, ...] = ()
        self.truncated = False

    def look(self) -> int:
        """Progress handler: non-zero stops the statement (deadline, or nobody left to answer)."""
        self.late = self.late or time.monotonic() >= self._until
        return self.late or os.getppid() != self._parent

    def run(self, opened: Opened) -> None:
        """Execute and send rows. Raises what sqlite3 raises, LimitHit, or TimeoutError."""
        opened.authorizer.refused = ""
        opened.connection.set_progress_handler(self.look, _OPCODES_BETWEEN_LOOKS)
        cursor = opened.connection.cursor()
        try:
            self._execute(cursor)
            self.columns = tuple(column[0] for column in cursor.description or ())
            self._send_rows(cursor)
        finally:
            cursor.close()
            if not opened.lasts:
                opened.connection.close()

    def _execute(self, cursor: sqlite3.Cursor) -> None:
        sql = only_statement(self._sql)
        while True:
            try:
                cursor.execute(sql)
                return
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - self.started
                patience = min(_MOST_BUSY_SECONDS, (self._until - self.started) / 2)
                code = getattr(error, "sqlite_errorcode", 0)
                if code & _PRIMARY_CODE != sqlite3.SQLITE_BUSY or waited > patience:
                    raise

    def _send_rows(self, cursor: sqlite3.Cursor) -> None:
        batch: list[tuple[object, ...]] = []
        count = total = waiting = 0
        for row in cursor:
            if time.monotonic() >= self._until:
                self.late = True
                raise TimeoutError
            weight, longest = _measure(row)
            if longest > self._cell:
                row = self._cut(row)
                weight, _ = _measure(row)
            count, total, waiting = count + 1, total + weight, waiting + weight
            if count > self._rows or total > self._bytes:
                self._stop_at_cap(count)
                break
            batch.append(row)
            if waiting >= _BATCH_BYTES:
                send((ROWS, batch))
                batch, waiting = [], 0
        if batch:
            send((ROWS, batch))

    def _cut(self, row: tuple[object, ...]) -> tuple[object, ...]:
        if self._complete:
            raise LimitHit(f"a value is longer than {self._cell:,} characters")
        self.truncated = True
        return tuple(_cut_value(value, self._cell) for value in row)

    def _stop_at_cap(self, count: int) -> None:
        self.truncated = True
        if self._complete:
            cap = f"{self._rows:,} rows" if count > self._rows else f"{self._bytes:,} bytes"
            raise LimitHit(f"the result has more than {cap}")


class LimitHit(Exception):
    """A complete result was asked for, and it is larger than its cap."""


def _measure(row: tuple[object, ...]) -> tuple[int, int]:
    lengths = [len(value) for value in row if isinstance(value, (str, bytes))]
    weight = _ROW_BYTES + _CELL_BYTES * len(row) + sum(lengths)
    return weight, max(lengths, default=0)


def _cut_value(value: object, most: int) -> object:
    if isinstance(value, str) and len(value) > most:
        return value[:most] + "…"
    return value[:most] if isinstance(value, bytes) else value


def only_statement(sql: str) -> str:
    """`sql` without empty statements around its one statement.

    SQLite itself decides what a statement is; this only spares it lone semicolons, which it
    would count as more statements.
    """
    sql = _without_leading(sql)
    for token in _TOKENS.finditer(sql):
        if token.group() == ";":
            return sql[: token.start()] if _blank_to(sql, token.end()) == len(sql) else sql
    return sql


def _without_leading(sql: str) -> str:
    blank = _blank_to(sql, 0)
    return sql[blank:] if ";" in sql[:blank] else sql


def _blank_to(sql: str, start: int) -> int:
    """Where the spaces, comments and lone semicolons from `start` on end."""
    blank = _NOTHING.match(sql, start)
    return blank.end() if blank else start


def answer(connections: Connections, request: tuple[str, str, float, int, int, int, bool]) -> Answer:
    """Run one request, sending its rows on the way, and say how it ended."""
    path, sql, deadline, rows, most_bytes, cell, complete = request
    statement = Statement(sql, deadline, rows, most_bytes, cell, complete)
    outcome, message, name, retire, opened = "ok", "", "", False, None
    try:
        _check_text(sql)
        opened = connections.get(path)
        statement.run(opened)
    except MemoryError:
        outcome, message, retire = "limit", "out of memory", True
    except LimitHit as limit:
        outcome, message = "limit", str(limit)
    except TimeoutError:
        outcome = "timeout"
    except (sqlite3.Error, sqlite3.Warning, OSError, ValueError) as error:
        unopened = "SQLITE_CANTOPEN" if isinstance(error, OSError) else ""
        name = getattr(error, "sqlite_errorname", unopened)
        message = _worded(error, name, opened)
        outcome = "limit" if message.startswith(guard.LIMIT_MESSAGES) else "error"
    if statement.late:
        outcome, message = "timeout", f"stopped at the deadline of {deadline:g} s"
    seconds = time.monotonic() - statement.started
    kept = statement.columns if outcome == "ok" else ()
    return outcome, kept, statement.truncated, message[:_MESSAGE_CHARACTERS], seconds, retire, name


def _check_text(sql: str) -> None:
    if "\x00" in sql:
        raise ValueError('unrecognized token: "\\x00"')
    if len(sql) > guard.LIMITS[sqlite3.SQLITE_LIMIT_SQL_LENGTH]:
        raise ValueError("query string is too large")
    if _blank_to(sql, 0) == len(sql):
        raise ValueError("no SQL found: the statement is empty")
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f'unrecognized token: "\\u{ord(sql[error.start]):04x}"') from None


def _worded(error: Exception, name: str, opened: Opened | None) -> str:
    text = str(error)
    if "one statement at a time" in text:
        return "more than one statement"
    if name == opening.HOT_JOURNAL:
        return "the database has a hot journal: an interrupted write waits to be rolled back"
    if isinstance(error, UnicodeDecodeError):
        return "the name of a column is not valid UTF-8"
    if isinstance(error, OSError):
        return "unable to open database file"
    if text.startswith(_REFUSALS) and opened is not None and opened.authorizer.refused:
        return f"not authorized: {opened.authorizer.refused}"
    return text


def send(frame: tuple[Any, ...]) -> None:
    """Write one frame to the parent."""
    body = marshal.dumps(frame)
    sys.stdout.buffer.write(len(body).to_bytes(LENGTH_BYTES, "little") + body)
    sys.stdout.buffer.flush()


def _bound_process() -> None:
    """Limits of the process itself, where the platform has them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        import resource
    except ImportError:
        return
    wanted = {"RLIMIT_AS": _ADDRESS_SPACE_BYTES, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": _FILE_BYTES}
    for name, most in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (allowed, allowed))
        except (ValueError, OSError):
            continue


def _set_alarm(seconds: float) -> None:
    """Let the system end this process where even the parent is gone or too busy to do it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def serve() -> None:
    """Answer requests until the parent closes standard input."""
    _bound_process()
    connections = Connections()
    send((READY,))
    requests = sys.stdin.buffer
    while len(head := requests.read(LENGTH_BYTES)) == LENGTH_BYTES:
        body = requests.read(int.from_bytes(head, "little"))
        request = marshal.loads(body)
        _set_alarm(request[2] + GRACE_SECONDS)
        send((ACCEPTED,))
        ended = answer(connections, request)
        _set_alarm(0)
        send((DONE, *ended))


if __name__ == "__main__":
    serve()
