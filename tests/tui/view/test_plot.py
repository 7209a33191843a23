"""Curves in characters: where they go, and how they are told apart without colour."""

from __future__ import annotations

from tui.view.plot import SIGNS, Points, draw, sign


def text(curves: list[Points], width: int = 20, height: int = 5, front: int | None = None) -> list[str]:
    return ["".join(cell.character for cell in row) for row in draw(curves, width, height, front)]


def line(start: float, end: float, n: int = 40) -> Points:
    return [(i / (n - 1), start + (end - start) * i / (n - 1)) for i in range(n)]


def test_a_rising_curve_goes_from_the_lower_left_to_the_upper_right() -> None:
    rows = text([line(0, 1)])
    assert rows[-1].startswith(SIGNS[0])
    assert rows[0].endswith(SIGNS[0])
    assert all(row.strip() for row in rows), "a curve has no gap"


def test_every_curve_ends_with_its_own_sign() -> None:
    rows = text([line(0, 1), line(1, 0), line(0.5, 0.5)])
    assert [rows[0][-1], rows[-1][-1], rows[2][-1]] == [SIGNS[0], SIGNS[1], SIGNS[2]]


def test_signs_of_curves_that_lie_on_each_other_stand_in_different_places() -> None:
    (middle,) = (row for row in text([line(0.5, 0.5)] * 3, width=60) if row.strip())
    assert {SIGNS[0], SIGNS[1], SIGNS[2]} <= set(middle)


def test_where_curves_meet_the_one_in_front_is_seen() -> None:
    cells = draw([line(0.5, 0.5), line(0.5, 0.5)], 20, 5, front=0)
    assert {cell.curve for row in cells for cell in row if cell.curve is not None} == {0, 1}
    assert cells[2][-1].curve == 0


def test_what_lies_outside_is_drawn_at_the_edge() -> None:
    rows = text([[(0.0, -3.0), (1.0, 9.0)]])
    assert rows[-1].strip()
    assert rows[0].strip()


def test_one_point_is_its_sign_and_no_point_is_nothing() -> None:
    assert [row.strip() for row in text([[(0.0, 1.0)], []])] == [SIGNS[0], "", "", "", ""]


def test_there_are_signs_for_any_number_of_curves() -> None:
    assert len({sign(number) for number in range(20)}) == 20
