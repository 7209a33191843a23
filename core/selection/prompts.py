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
    "select-candidate": Form(frozenset({"letter", "sql", "result"}), frozenset({"note"})),
    "select-memory": Form(frozenset({"question", "specification"})),
    "specification": Form(
        frozenset({"schema", "question", "sql", "forms", "keys"}),
        frozenset({"evidence", "constructs"}),
    ),
}
"""Every template of `templates/`, by the name of its file without `.txt`."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SQL_CHARACTERS = 4_000


@cache
def template(name: str) -> Template:
    """A template of this room. Raises MeritoError where its file is broken."""
    return read_template(name, FOLDER / f"{name}.txt", FORMS[name])


def letter(place: int) -> str:
    """The letter of a place in a list, from 0: A to Z, then AA, AB, ..."""
    rest, last = divmod(place, len(LETTERS))
    return (letter(rest - 1) if rest else "") + LETTERS[last]


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """What every prompt about one question begins with."""

    question: Question
    schema: str
    memories: str = ""

    def prompt(
        self, name: str, shown: Sequence[Executed], notes: Sequence[str] = ()
    ) -> tuple[Message, ...]:
        """The chat that asks about the candidates `shown`, in that order. `notes` is one line a
        candidate for the paper's slot of scores; none where it is empty."""
        listed = "\n\n".join(
            _candidate(letter(place), each, notes[place] if notes else "")
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


def _candidate(name: str, each: Executed, note: str) -> str:
    sql = each.sql.strip()
    if len(sql) > _SQL_CHARACTERS:
        sql = f"{sql[:_SQL_CHARACTERS]}…"
    slots = {"letter": name, "sql": sql, "result": shown_result(each.table), "note": note}
    return template("select-candidate").fill(slots)


def shown_result(table: ResultTable) -> str:
    """A result as prompts show it: column names, first rows, number of rows; or that it is empty,
    or why there is none."""
    if table.outcome is not Outcome.OK:
        return f"error: {one_line(table.error) or table.outcome}"
    if not table.row_count:
        return "empty (0 rows)"
    rows = "row" if table.row_count == 1 else "rows"
    lines = [f"{table.row_count} {rows}", " | ".join(map(one_line, table.columns))]
    lines += [" | ".join(map(_cell, row)) for row in table.rows]
    if len(table.rows) < table.row_count:
        lines.append("…")
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    return "NULL" if cell is None else one_line(str(cell))
