"""Rows as evaluators decode them, and as screens show them."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.database.rows import Execution, Outcome, Row, clipped, printable, published_rows

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=50),
    st.text(st.characters(exclude_categories=[]), max_size=50),
    st.binary(max_size=50).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)


def execution(*rows: Row, columns: tuple[str, ...] = ("a",)) -> Execution:
    return Execution(outcome=Outcome.OK, columns=columns, rows=rows)


@given(st.binary(max_size=100))
def test_published_text_is_what_dropping_bad_bytes_gives(raw: bytes) -> None:
    held = execution((raw.decode("utf-8", "surrogateescape"), raw, 1))
    assert published_rows(held) == ((raw.decode("utf-8", "ignore"), raw, 1),)


@given(st.lists(VALUES, min_size=1, max_size=5).map(tuple))
def test_whatever_a_cell_holds_it_can_be_shown_and_stored(row: Row) -> None:
    table = clipped(execution(row, columns=tuple("abcde"[: len(row)])), cell=40)
    assert msgspec.json.decode(msgspec.json.encode(table), type=type(table)) == table
    for cell in table.rows[0]:
        if isinstance(cell, str):
            assert len(cell) <= 40
            assert all(
                character.isprintable()
                or character in "\t\n\u00a0"
                or character.isspace()
                or ord(character) > 0xA0
                for character in cell
            )
            cell.encode()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\x1b[31mred", "␛[31mred"),
        ("bad\udcff", "bad\ufffd"),
        ("line\nbreak\ttab", "line\nbreak\ttab"),
        ("back\rward", "back␍ward"),
        ("\x9b31m", "\ufffd31m"),
        ("\u202eright to left", "\ufffdright to left"),
        ("[/red] {x}", "[/red] {x}"),
        ("日本語 é 😀", "日本語 é 😀"),
        (b"\x00\xff", "x'00FF'"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (2**63 - 1, 2**63 - 1),
        (None, None),
        ("", ""),
    ],
)
def test_what_a_cell_looks_like(value: str | bytes | float | None, shown: object) -> None:
    assert clipped(execution((value,))).rows == ((shown,),)


def test_only_the_first_rows_are_kept_and_all_are_counted() -> None:
    table = clipped(execution(*[(n,) for n in range(80)]), rows=50)
    assert (len(table.rows), table.row_count, table.truncated) == (50, 80, False)


def test_a_long_cell_ends_with_an_ellipsis() -> None:
    table = clipped(execution(("x" * 1_000, b"y" * 1_000)), cell=10)
    assert table.rows == (("x" * 9 + "…", "x'7979797…"),)


def test_a_wide_result_stays_bounded() -> None:
    columns = tuple(f"column {n}" for n in range(2_000))
    wide = execution(*[("x" * 10_000,) * 2_000 for _ in range(3)], columns=columns)
    table = clipped(wide, characters=100_000)
    assert len(msgspec.json.encode(table)) < 400_000
    assert len(table.rows) == 1
    assert table.row_count == 3


def test_names_and_messages_are_cleaned_too() -> None:
    failed = Execution(
        outcome=Outcome.ERROR, columns=("\x1b[2J",), error="no such column: \x07" + "x" * 5_000
    )
    table = clipped(failed)
    assert table.columns == ("␛[2J",)
    assert table.error.startswith("no such column: ␇")
    assert len(table.error) == 2_000


def test_printable_leaves_ordinary_text_alone() -> None:
    text = "SELECT 'é' -- \N{EM DASH}\n\tFROM t"
    assert printable(text) == text
