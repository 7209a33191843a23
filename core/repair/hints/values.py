"""Hints about values: what is stored where a failed query looked for something else.

Every look-up is a reading statement that runs in the sandbox, bounded in rows and time. It reads
the database alone, never the gold.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import islice
from pathlib import Path

from core.database.rows import Execution, Outcome
from core.database.sandbox import Caps, Sandbox
from core.database.schema import Column, Schema, Table
from core.database.schema_text import Samples
from core.repair.hints.failed import Comparison, Fact, Failed
from core.repair.hints.naming import shown
from core.sql import fold

Lookup = Callable[[str], Awaitable[Execution]]
"""Runs one reading statement against the question's database."""

MOST_COMPARISONS = 4
DISTINCT_VALUES = 2_000
SAMPLED_VALUES = 50
SCANNED_ROWS = 100_000
COLUMNS_SEARCHED = 40
COLUMNS_TOLD = 40
TOLD_CHARACTERS = 30
VALUE_CHARACTERS = 60
NEAR_VALUE = 70.0
SECONDS = 1.0

_CAPS = Caps(rows=DISTINCT_VALUES, bytes=1 << 20, cell=200)
_EQUALITIES = frozenset({"=", "<>", "IN", "LIKE"})
_ORDERS = frozenset({"<", "<=", ">", ">="})
_DATE = re.compile(
    r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}|\d{1,2} ?[A-Za-z]{3,9},? \d{2,4}|[A-Za-z]{3,9} \d{1,2}, \d{4}"
)
_NUMBER = re.compile(r"\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)\s*\Z")
_TEXT_TYPE = re.compile(r"char|text|clob|date|time|^$", re.I)
_NUMBER_TYPE = re.compile(r"int|real|floa|doub|num|dec", re.I)


def lookup_in(sandbox: Sandbox, database: Path, *, seconds: float = SECONDS) -> Lookup:
    """A look-up whose statements take at most `seconds` together; later ones find the time gone."""
    left = seconds

    async def look_up(sql: str) -> Execution:
        nonlocal left
        if left <= 0.01:
            return Execution(outcome=Outcome.TIMEOUT, error="the time for look-ups is used up")
        started = time.monotonic()
        try:
            return await sandbox.execute(database, sql, deadline=left, caps=_CAPS)
        finally:
            left -= time.monotonic() - started

    return look_up


async def compared_values(failed: Failed, look_up: Lookup) -> AsyncIterator[Fact]:
    """For each text that a column was compared with: whether the column holds it, else what it
    holds that is nearest, else where it is."""
    stored: list[Comparison] = []
    missed = False
    for comparison in list(dict.fromkeys(failed.comparisons()))[:MOST_COMPARISONS]:
        if comparison.operator in _EQUALITIES and isinstance(comparison.value, str):
            if await _holds(comparison, look_up):
                stored.append(comparison)
                continue
            facts = _absent(comparison, failed, look_up)
        else:
            facts = _other_kind(comparison, look_up)
        async for fact in facts:
            missed = True
            yield fact
    if failed.found_nothing and not missed:
        yield "empty-result", _empty(stored)


def _empty(stored: Sequence[Comparison]) -> str:
    if not stored:
        return "A query tried before found no rows."
    values = " and ".join(f"{_place(each)} does hold {written(each.value)}" for each in stored)
    return f"A query tried before found no rows, although {values}."


async def _holds(comparison: Comparison, look_up: Lookup) -> bool:
    """Whether some row satisfies the comparison by itself; True also where that cannot be told."""
    operator = "LIKE" if comparison.operator == "LIKE" else "="
    return await holds_value(
        comparison.table, comparison.column, comparison.value, look_up, operator=operator
    )


async def holds_value(
    table: Table, column: Column, value: object, look_up: Lookup, *, operator: str = "="
) -> bool:
    """Whether some row's column equals the value (or is LIKE it); True also where that cannot be
    told."""
    found = await look_up(
        f"SELECT 1 FROM {quoted_name(table.name)}"
        f" WHERE {quoted_name(column.name)} {operator} {literal(value)} LIMIT 1"
    )
    return bool(found.rows) or found.outcome is not Outcome.OK


async def _absent(comparison: Comparison, failed: Failed, look_up: Lookup) -> AsyncIterator[Fact]:
    """What the column holds instead of the value, and which column holds it."""
    value = str(comparison.value)
    value = value.strip("%") if comparison.operator == "LIKE" else value
    held = await _distinct(comparison, look_up)
    place, text = _place(comparison), written(value)
    elsewhere = await _elsewhere(value, comparison, failed, look_up)
    for target in _referred(comparison):
        yield "reference", f"{place} refers to {target}."
    near = _near(value, [each for each in held if isinstance(each, str)])
    if near:
        yield "value", f"{place} has no {text}; nearest in it: {_list(near)}."
    elif misfit := _misfit(comparison, value, held):
        yield misfit
    elif held and not elsewhere:
        yield "value", f"{place} has no {text}; it holds {_list(held[:4])}."
    if elsewhere:
        yield "value-elsewhere", f"{text} is not in {place} but in {', '.join(elsewhere)}."


async def _other_kind(comparison: Comparison, look_up: Lookup) -> AsyncIterator[Fact]:
    """A constant of another kind than the column's values, where order or a number is asked."""
    held = await _distinct(comparison, look_up, SAMPLED_VALUES)
    if isinstance(comparison.value, str):
        if misfit := _misfit(comparison, comparison.value, held):
            yield misfit
        return
    texts = [each for each in held if isinstance(each, str) and each.strip()]
    if not texts or any(isinstance(each, int | float) for each in held):
        return
    if not any(_NUMBER.match(each) for each in texts):
        yield "type", f"{_place(comparison)} holds texts such as {_list(texts[:3])}, not numbers."
    elif comparison.operator in _ORDERS and not _NUMBER_TYPE.search(comparison.column.type):
        place = _place(comparison)
        yield (
            "type",
            f"{place} holds texts such as {_list(texts[:2])}, which compare letter by letter;"
            f" CAST({place} AS REAL) compares numbers.",
        )


def _misfit(comparison: Comparison, value: str, held: Sequence[object]) -> Fact | None:
    """A text against numbers, or a date against dates that are written in another way."""
    place, text = _place(comparison), written(value)
    if held and not _NUMBER.match(value) and all(isinstance(each, int | float) for each in held):
        return "type", f"{place} holds numbers such as {_list(held[:3])}, not {text}."
    if held and _DATE.search(value) and _shape(value) not in {_shape(str(each)) for each in held}:
        return "date", f"{place} is written like {_list(held[:2])}, not like {text}."
    return None


async def _distinct(
    comparison: Comparison, look_up: Lookup, most: int = DISTINCT_VALUES
) -> list[object]:
    return await distinct_values(comparison.table, comparison.column, look_up, most)


async def distinct_values(
    table: Table, column: Column, look_up: Lookup, most: int = DISTINCT_VALUES
) -> list[object]:
    """Different values of a column, NULL left out."""
    name = quoted_name(column.name)
    found = await look_up(
        f"SELECT DISTINCT {name} FROM"
        f" (SELECT {name} FROM {quoted_name(table.name)} LIMIT {SCANNED_ROWS})"
        f" WHERE {name} IS NOT NULL LIMIT {most}"
    )
    return [row[0] for row in found.rows] if found.outcome is Outcome.OK else []


async def _elsewhere(value: str, comparison: Comparison, failed: Failed, look_up: Lookup) -> list[str]:
    """Other columns, those of the query's tables first, that hold the value in any case."""
    own = {table.name for table in failed.tables}
    tables = sorted(failed.schema.tables, key=lambda table: table.name not in own)
    found = await places_of_value(tables, value, look_up, but=_names(comparison))
    return [
        shown(table.name, name) + (f" as {written(stored)}" if stored != value else "")
        for table, name, stored in found[:3]
    ]


async def places_of_value(
    tables: Sequence[Table], value: str, look_up: Lookup, *, but: tuple[str, str] | None = None
) -> list[tuple[Table, str, str]]:
    """Columns of text, in the tables' order, that hold the value in any case: the table, the column,
    and the value as it is stored there. `but` is left out."""
    places = [
        (table, column.name)
        for table in tables
        if not table.is_view
        for column in table.columns
        if text_column(column) and (table.name, column.name) != but
    ][:COLUMNS_SEARCHED]
    if not places or not value.strip():
        return []
    searches = (
        f"SELECT {number}, (SELECT v FROM (SELECT {quoted_name(name)} AS v"
        f" FROM {quoted_name(table.name)} LIMIT {SCANNED_ROWS})"
        f" WHERE v = {literal(value)} COLLATE NOCASE LIMIT 1) AS held"
        for number, (table, name) in enumerate(places)
    )
    found = await look_up(f"SELECT * FROM ({' UNION ALL '.join(searches)}) WHERE held IS NOT NULL")
    rows = found.rows if found.outcome is Outcome.OK else ()
    return [(*places[row[0]], str(row[1])) for row in rows if isinstance(row[0], int)]


def _referred(comparison: Comparison) -> list[str]:
    """What a compared key stands for: names are then kept where it refers to."""
    return [
        shown(key.to_table, there)
        for key in comparison.table.foreign_keys
        for here, there in zip(key.columns, key.to_columns, strict=False)
        if fold(here) == fold(comparison.column.name)
    ]


def _near(value: str, held: list[str]) -> list[str]:
    """Stored texts like the value: the same but for case, spaces and punctuation before others."""
    wanted = _bare(value)
    same = [each for each in held if _bare(each) == wanted]
    if same or not wanted:
        return same[:3]
    containing = [each for each in held if len(wanted) > 2 and wanted in _bare(each)][:3]
    return list(dict.fromkeys([*like_stored(value, held, NEAR_VALUE), *containing]))[:3]


def like_stored(value: str, held: Sequence[str], least: float) -> list[str]:
    """At most three of the stored texts that are at least so similar, in percent and but for case,
    spaces and punctuation; best first."""
    from rapidfuzz import fuzz, process

    wanted = _bare(value)
    if not wanted:
        return []  # Signs alone: one is not like another.
    ranked = process.extract(
        wanted, [_bare(each) for each in held], scorer=fuzz.ratio, score_cutoff=least, limit=3
    )
    return [held[index] for _, _, index in ranked]


def _bare(text: str) -> str:
    """The letters and digits, and what parts two digits: 1.5 is not 15."""
    return re.sub(r"(?<!\d)[\W_]+|[\W_]+(?!\d)", "", text).casefold()


def _shape(text: str) -> str:
    """How a date is written: digits as 9, words as a."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text.strip()))


def sampled_values(schema: Schema, samples: Samples) -> tuple[str, ...]:
    """`table.column: 'a', 'b'` for each column whose sampled values are short texts, the first
    `COLUMNS_TOLD` of them: how a thing is spelled can only be seen."""
    told = (
        (table, column, samples.get(fold(table.name), {}).get(fold(column.name), ()))
        for table in schema.tables
        for column in table.columns
    )
    lines = (
        f"{shown(table.name, column.name)}: {_list(values)}"
        for table, column, values in told
        if values and all(isinstance(each, str) and len(each) <= TOLD_CHARACTERS for each in values)
    )
    return tuple(islice(lines, COLUMNS_TOLD))


def text_column(column: Column) -> bool:
    """Whether texts may be kept in it, by its declared type."""
    return bool(_TEXT_TYPE.search(column.type))


def _names(comparison: Comparison) -> tuple[str, str]:
    return comparison.table.name, comparison.column.name


def _place(comparison: Comparison) -> str:
    return shown(*_names(comparison))


def _list(values: Sequence[object]) -> str:
    return ", ".join(written(each) for each in values)


def written(value: object) -> str:
    """A value as SQL writes it, cut where it is long."""
    if isinstance(value, bytes):
        return "a blob"
    if not isinstance(value, str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    text = value if len(value) <= VALUE_CHARACTERS else f"{value[:VALUE_CHARACTERS]}…"
    return literal(text)


def literal(value: object) -> str:
    """A text constant."""
    return "'" + str(value).replace("\0", "").replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """A name in SQL, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'
