"""`merito sql`: the sandbox by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.wording import counted
from tui import options

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table
    from rich.text import Text

    from core.database.rows import Cell, Execution, ResultTable

_DRAWN_CELL = 2_000
_PIPE_WIDTH = 100_000
_TOO_WIDE = 2
"""A table this many times wider than the terminal is drawn value by value."""
_JSON_CELL = 130_000
"""Room for all that the sandbox's own cap on a cell lets through, a blob's hexadecimals too."""


@click.command(
    epilog="""\b
Examples:
  merito sql shop.sqlite "SELECT count(*) FROM orders"
  merito sql --root data/spider pets_1 "SELECT * FROM Pets" --json
  echo "SELECT 1" | merito sql shop.sqlite -"""
)
@click.argument("database", metavar="DB")
@click.argument("statement")
@click.option(
    "--root", type=click.Path(path_type=Path), help="Folder of databases that DB is an id in."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--deadline",
    type=options.SECONDS,
    default=10.0,
    show_default=True,
    help="Seconds that the statement may run.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=0, max=100_000),
    default=1_000,
    show_default=True,
    help="Most rows to print.",
)
def command(
    database: str, statement: str, root: Path | None, as_json: bool, deadline: float, rows: int
) -> None:
    """Run one reading STATEMENT on a database, in the sandbox.

    DB is a file, or with --root a database's id. The STATEMENT `-` is read from standard input.
    Nothing is ever written: a statement that tries is refused. Exits with 1 where the statement
    failed.
    """
    import asyncio

    path = _database(database, root)
    sql = _standard_input() if statement == "-" else statement
    execution = asyncio.run(_execute(path, sql, deadline, rows))
    if as_json:
        click.echo(_as_json(_printable(execution, rows, _JSON_CELL)))
    else:
        _print(_printable(execution, rows, _DRAWN_CELL))
    if execution.error:
        raise click.exceptions.Exit(1)


def _database(database: str, root: Path | None) -> Path:
    from core.database.files import DatabaseFolder, check_database

    path = Path(database) if root is None else DatabaseFolder(root).path(database)
    check_database(path)
    return path


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


async def _execute(path: Path, sql: str, deadline: float, rows: int) -> Execution:
    import msgspec

    from core.database.sandbox import DISPLAY, Sandbox

    async with Sandbox() as sandbox:
        caps = msgspec.structs.replace(DISPLAY, rows=rows)
        return await sandbox.execute(path, sql, deadline=deadline, caps=caps)


def _printable(execution: Execution, rows: int, cell: int) -> ResultTable:
    import msgspec

    from core.database.rows import clipped

    table = clipped(execution, rows=rows, cell=cell, characters=sys.maxsize)
    cut = table.truncated or len(table.rows) < table.row_count
    return msgspec.structs.replace(table, truncated=cut)


def _as_json(table: ResultTable) -> str:
    return json.dumps(
        {
            "status": table.outcome.value,
            "columns": table.columns,
            "rows": table.rows,
            "truncated": table.truncated,
            "error": table.error,
            "seconds": round(table.seconds, 6),
        },
        ensure_ascii=False,
    )


def _print(table: ResultTable) -> None:
    from rich.console import Console
    from rich.measure import Measurement
    from rich.text import Text

    if table.error:
        Console(stderr=True).print(Text(f"{table.outcome.value}: {table.error}"), soft_wrap=True)
        return
    # A pipe has no width: rows stay whole for whoever reads on.
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    drawn = _across(table)
    if Measurement.get(console, _unbounded(console), drawn).maximum > _TOO_WIDE * console.width:
        drawn = _down(table)
    console.print(drawn)
    rows = counted(table.row_count, "row")
    cut = " (cut: there is more)" if table.truncated else ""
    console.print(Text(f"{rows}{cut}, {table.seconds * 1000:.1f} ms", style="dim"))


def _unbounded(console: Console) -> ConsoleOptions:
    return console.options.update(max_width=_PIPE_WIDTH)


def _across(table: ResultTable) -> Table:
    """One column a column."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table()
    for name in table.columns:
        drawn.add_column(Text(name), overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_cell(value) for value in row))
    return drawn


def _down(table: ResultTable) -> Table:
    """One line a value, for results much wider than the terminal."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(show_header=False)
    drawn.add_column(no_wrap=True)
    drawn.add_column(overflow="fold")
    for row in table.rows:
        for name, value in zip(table.columns, row, strict=True):
            drawn.add_row(Text(name), _cell(value))
        drawn.add_section()
    return drawn


def _cell(value: Cell) -> Text:
    from rich.text import Text

    return Text("NULL", style="dim") if value is None else Text(str(value))
