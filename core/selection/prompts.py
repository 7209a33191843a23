"""The selector's prompts: text templates with named slots, the same front for every call about one
question, so that the engine's cache serves it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from core.database.rows import Cell, Outcome, ResultTable
from core.models.chat import Message
from core.prompts.memories import one_line
from core.prompts.template import Form, Template, plain, read_template
from core.question import Question
from core.selection.grouped import Executed

FOLDER = Path(__file__).parent / "templates"

_ASKED = frozenset({"schema", "question", "candidates"})
_AROUND = frozenset({"memories", "evidence", "count"})
FORMS: dict[str, Form] = {
    "select-list": Form(_ASKED | {"form"}, _AROUND),
    "select-choice": Form(_ASKED, _AROUND),
    "select-score": Form(_ASKED, _AROUND),
    "select-verdict": Form(_ASKED, _AROUND),
    "select-candidate": Form(frozenset({"letter", "sql", "result"}), frozenset({"note"})),
    "select-memory": Form(frozenset({"question", "specification"})),
    "specification": Form(
        frozenset({"schema", "question", "sql", "forms", "keys"}),
        frozenset({"evidence", "constructs"}),
    ),
}
"""Every template of `templates/`, by the name of its file without `.txt`."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The most of one candidate that a prompt shows: rows and columns of its result, characters of a
    cell, of the whole result, and of its SQL."""

    rows: int
    columns: int
    cell: int
    result: int
    sql: int


BOUNDS = (
    Bounds(rows=5, columns=24, cell=60, result=3_000, sql=4_000),
    Bounds(rows=3, columns=12, cell=40, result=1_000, sql=2_000),
    Bounds(rows=2, columns=8, cell=24, result=400, sql=1_000),
    Bounds(rows=1, columns=4, cell=16, result=160, sql=500),
    Bounds(rows=0, columns=2, cell=12, result=60, sql=250),
)
"""From what is shown where there is room to what every context in use has room for."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTER_TOKENS = 8
_SHORT_ANSWER = 16


@cache
def template(name: str) -> Template:
    """A template of this room. Raises MeritoError where its file is broken."""
    return read_template(name, FOLDER / f"{name}.txt", FORMS[name])


def letter(place: int) -> str:
    """The letter of a place in a list, from 0: A to Z, then AA, AB, ..."""
    rest, last = divmod(place, len(LETTERS))
    return (letter(rest - 1) if rest else "") + LETTERS[last]


def answer_tokens(count: int) -> int:
    """The longest answer about so many candidates, in tokens."""
    return _SHORT_ANSWER + _LETTER_TOKENS * count


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """What every prompt about one question begins with, and how much of candidates it shows."""

    question: Question
    schema: str
    memories: str = ""
    bounds: Bounds = BOUNDS[0]

    def prompt(
        self, name: str, shown: Sequence[Executed], notes: Sequence[str] = ()
    ) -> tuple[Message, ...]:
        """The chat that asks about the candidates `shown`, in that order. `notes` is one line a
        candidate for the paper's slot of scores; none where it is empty."""
        listed = "\n\n".join(
            shown_candidate(letter(place), each, self.bounds, notes[place] if notes else "")
            for place, each in enumerate(shown)
        )
        text = template(name).fill(
            {
                "memories": self.memories,
                "schema": self.schema.strip(),
                "evidence": self.question.evidence.strip(),
                "question": one_line(self.question.text),
                "candidates": listed,
                "count": str(len(shown)),
                "form": "[A] > [B] > ..." if len(shown) > 2 else "[A] > [B] or [B] > [A]",
            }
        )
        return (Message("user", plain(text)),)


def memory_block(entries: Sequence[tuple[str, str]]) -> str:
    """(question, specification as JSON) pairs as prompts show them, best first."""
    return "\n".join(
        template("select-memory").fill({"question": one_line(question), "specification": body})
        for question, body in entries
    )


def shown_candidate(name: str, each: Executed, bounds: Bounds, note: str = "") -> str:
    """One candidate as prompts show it. SQL that is too long loses its middle: queries for one
    question begin alike more often than they end alike."""
    sql = each.sql.strip()
    if len(sql) > bounds.sql:
        half = bounds.sql // 2
        sql = f"{sql[:half]} … {sql[-half:]}"
    slots = {"letter": name, "sql": sql, "result": shown_result(each.table, bounds), "note": note}
    return template("select-candidate").fill(slots)


def shown_result(table: ResultTable, bounds: Bounds = BOUNDS[0]) -> str:
    """A result as prompts show it: column names, first rows, number of rows; or that it is empty,
    or why there is none. What does not fit is counted."""
    if table.outcome is not Outcome.OK:
        return f"error: {_cut(one_line(table.error), bounds.result) or table.outcome}"
    if not table.row_count:
        return "empty (0 rows)"
    rows = "row" if table.row_count == 1 else "rows"
    lines = [f"{table.row_count} {rows}", _shown_row(table.columns, bounds, of="columns")]
    room = bounds.result - len(lines[1])
    for row in table.rows[: bounds.rows]:
        line = _shown_row(row, bounds)
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    if len(lines) - 2 < table.row_count:
        lines.append("…")
    return "\n".join(lines)


def _shown_row(cells: Sequence[Cell], bounds: Bounds, of: str = "") -> str:
    """The first cells of a row; the header (`of` columns) says how many there are beyond."""
    shown = ["NULL" if cell is None else _cut(one_line(str(cell)), bounds.cell) for cell in cells]
    beyond = len(shown) - bounds.columns
    if beyond > 0:
        shown[bounds.columns :] = [f"… {beyond} more {of}" if of else "…"]
    return " | ".join(shown)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
