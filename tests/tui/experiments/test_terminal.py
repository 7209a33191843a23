"""Tables on a terminal and in a pipe: upright, turned, or in pieces."""

from __future__ import annotations

import msgspec
import pytest

from core.experiments.table import Table, count, words
from tui.experiments.terminal import LONGEST, laid_out, show_tables


def table(rows: int, columns: int) -> Table:
    """Runs with figures."""
    return Table(
        name="t",
        title="Figures",
        columns=("run", *(f"a figure, number {n}" for n in range(1, columns))),
        rows=tuple((words(f"run-{row}"), *map(count, range(1, columns))) for row in range(rows)),
    )


def test_what_fits_stands_upright() -> None:
    assert laid_out(table(2, 3), 80).pieces == [table(2, 3)]


def test_a_long_text_is_broken_before_its_table_is_turned_or_taken_apart() -> None:
    told = "what is counted here is told in quite a number of words, which may be broken"
    long = Table(
        name="t",
        title="T",
        columns=("what", *("a figure", "another figure")),
        rows=tuple((words(f"{told} {n}"), count(n), count(n)) for n in range(3)),
    )
    assert laid_out(long, 80) == ([long], 45)
    one = msgspec.structs.replace(long, rows=((words("x" * 50 + " y" * 9), count(1), count(1)),))
    assert laid_out(one, 60).longest == LONGEST, "a word stays whole"


def test_few_wide_rows_are_turned() -> None:
    (turned,) = laid_out(table(2, 12), 80).pieces
    assert turned.columns == ("run", "run-0", "run-1")
    assert [cell.text for cell in turned.rows[10]] == ["a figure, number 11", "11", "11"]


def test_many_wide_rows_come_in_pieces_that_repeat_the_first_column() -> None:
    upright = laid_out(table(60, 12), 80).pieces
    assert len(upright) > 1
    assert {each.columns[0] for each in upright} == {"run"}
    assert {len(each.rows) for each in upright} == {60}


def test_in_a_pipe_a_long_text_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    note = "its gold query fails " * 30
    show_tables(
        [Table(name="t", title="T", columns=("run", "note"), rows=((words("r"), words(note)),))]
    )
    assert any(line.strip().endswith(note.strip()) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("rows", [1, 60])
def test_in_a_pipe_every_table_is_whole(rows: int, capsys: pytest.CaptureFixture[str]) -> None:
    show_tables([table(rows, 12)])
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert sum(line[:1] == ["run"] for line in lines) == 1
    assert (max(map(len, out.splitlines())) <= 80) == (rows == 1)
    if rows == 60:
        assert [line for line in lines if line[:1] == ["run-59"]] == [
            ["run-59", *map(str, range(1, 12))]
        ]
