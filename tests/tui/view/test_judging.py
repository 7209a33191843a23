"""What a person says about an answer: when a correction gives the answer's own rows."""

from __future__ import annotations

import pytest

from core.database.rows import Execution, Outcome, ResultTable, Row, clipped
from tui.view.judging import agreement


def table(*rows: Row, **fields: object) -> ResultTable:
    return clipped(Execution(outcome=Outcome.OK, columns=("a",), rows=rows, **fields))  # type: ignore[arg-type]


BROKEN = clipped(Execution(outcome=Outcome.ERROR, error="no such table"))
MANY = [(n,) for n in range(999)]
LONG = "x" * 10_000


@pytest.mark.parametrize(
    ("answer", "corrected", "said"),
    [
        (table((1,), (2,)), table((1,), (2,)), "Both give the same rows."),
        (table((1,), (2,)), table((2,), (1,)), "Both give the same rows, in another order."),
        (table(), table(), "Neither gives a row."),
        (table((1,), (1,)), table((1,)), ""),
        (table((1,)), table(("1",)), ""),
        (table((1,)), table(), ""),
        (table(*MANY), table(*MANY), "Both give the same rows."),
        (table(*MANY), table(*reversed(MANY)), ""),
        (table((1,), truncated=True), table((1,), truncated=True), ""),
        (table((1,), (LONG + "a",)), table((LONG + "b",), (1,)), ""),
        (BROKEN, BROKEN, ""),
        (None, table((1,)), ""),
    ],
)  # fmt: skip
def test_a_correction_agrees_with_the_answer_where_all_rows_are_known_to_be_the_same(
    answer: ResultTable | None, corrected: ResultTable, said: str
) -> None:
    assert agreement(answer, corrected) == said
