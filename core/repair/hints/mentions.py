"""Hints about the question's own words: which of them are stored values, and where."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

from core.database.rows import Outcome
from core.database.schema import Column, Schema, Table
from core.repair.hints.failed import Fact
from core.repair.hints.naming import shown
from core.repair.hints.values import (
    COLUMNS_SEARCHED,
    SCANNED_ROWS,
    Lookup,
    literal,
    quoted_name,
    text_column,
    written,
)

MOST_MENTIONS = 4
MOST_PLACES = 3
"""A word that is stored in more columns than this tells nothing about which one is meant."""
LONGEST_PHRASE = 4
"""In words."""
_WORD = re.compile(r"[^\W_][\w.&'/-]*")
_QUOTED = re.compile(r"\"([^\"]+)\"|``\s*(.+?)\s*''|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
_PLAIN = frozenset(
    word
    for line in (
        "a about above after all also an and any are as at average be been before below between both",
        "but by can count did different distinct do does each either every find for from give greater",
        "had has have how id ids in is it its large largest last least less list lowest many maximum",
        "me minimum more most much name names no not number of older on one only or order other out",
        "over per return show smallest some than that the their them there these they this those to",
        "total two under up was we were what when where which who whose with without year years",
    )
    for word in line.split()
)


async def mentioned_values(question: str, schema: Schema, look_up: Lookup) -> AsyncIterator[Fact]:
    """For words of the question that are stored values, in any case: the value as it is stored, and
    its column. At most MOST_MENTIONS, the longest phrases first."""
    phrases = list(_phrases(question))
    places = [
        (table, column)
        for table in schema.tables
        if not table.is_view
        for column in table.columns
        if text_column(column)
    ][:COLUMNS_SEARCHED]
    if not phrases or not places:
        return
    found = await look_up(_search(places, phrases))
    if found.outcome is not Outcome.OK:
        return
    stored: dict[str, dict[str, str]] = {}
    for number, value in found.rows:
        if isinstance(number, int) and isinstance(value, str):
            place = shown(places[number][0].name, places[number][1].name)
            stored.setdefault(value.casefold(), {})[place] = value
    told: list[str] = []
    for phrase in phrases:
        held = stored.get(phrase.casefold(), {})
        if not 0 < len(held) <= MOST_PLACES or any(phrase.casefold() in each for each in told):
            continue
        told.append(phrase.casefold())
        where = " and ".join(f"{place} as {written(value)}" for place, value in held.items())
        yield "mention", f"“{phrase}” of the question is stored in {where}."
        if len(told) == MOST_MENTIONS:
            return


def _phrases(question: str) -> Iterator[str]:
    """What is quoted, then runs of up to LONGEST_PHRASE words, longer ones first; never a run of
    plain words alone."""
    seen: set[str] = set()
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(question)]
    words = [word.rstrip(".'/-&") for word in _WORD.findall(question)]
    runs = [
        " ".join(words[start : start + length])
        for length in range(LONGEST_PHRASE, 0, -1)
        for start in range(len(words) - length + 1)
        if not all(word.casefold() in _PLAIN for word in words[start : start + length])
    ]
    for phrase in (*quoted, *runs):
        if len(phrase) > 1 and phrase.casefold() not in seen:
            seen.add(phrase.casefold())
            yield phrase


def _search(places: list[tuple[Table, Column]], phrases: list[str]) -> str:
    """The phrases stand there once: each column's copy of them would pass the length of a statement."""
    wanted = ", ".join(f"({literal(phrase)})" for phrase in phrases)
    searches = " UNION ALL ".join(
        f"SELECT {number}, v FROM (SELECT DISTINCT v FROM (SELECT {quoted_name(column.name)} AS v"
        f" FROM {quoted_name(table.name)} LIMIT {SCANNED_ROWS})"
        " WHERE v COLLATE NOCASE IN (SELECT phrase FROM wanted))"
        for number, (table, column) in enumerate(places)
    )
    return f"WITH wanted (phrase) AS (VALUES {wanted}) {searches}"
