"""Near-duplicates: the same lesson, whatever literals, spelling and question it came with."""

from __future__ import annotations

import pytest

from core.memory.duplicates import ALIKE, Grouping, Transition, groups

FAILED = (
    "SELECT T1.name, COUNT(*) FROM visit AS T1 JOIN clinic AS T2 ON T1.clinic = T2.id"
    " WHERE T2.city = 'Oslo' AND T1.cost > 10 GROUP BY T1.name ORDER BY COUNT(*) DESC LIMIT 3"
)
REVISED = FAILED.replace("COUNT(*) DESC", "COUNT(*) ASC")


def lesson(
    name: str, failed: str = FAILED, revised: str = REVISED, polarity: str = "positive", kind: str = "x"
) -> Transition:
    return Transition(name, polarity, kind, failed, revised)


@pytest.mark.parametrize(
    ("failed", "revised"),
    [
        (FAILED.replace("'Oslo'", "'O''Hara -- no comment'"), REVISED.replace("'Oslo'", "''")),
        (FAILED.replace("10", "2.5e3"), REVISED.replace("LIMIT 3", "LIMIT 900")),
        (FAILED.lower().replace("'oslo'", "'x'"), REVISED + ";  -- done"),
        (FAILED.replace("T1.name", '"T1"."name"'), REVISED.replace("name", "`name`")),
        (FAILED.replace(" FROM", "\n\t/* why */ FROM"), REVISED),
    ],
)
def test_literals_case_quotes_comments_and_spacing_are_set_aside(failed: str, revised: str) -> None:
    assert groups([lesson("a"), lesson("b", failed, revised)]) == {"a": "a", "b": "a"}


def test_nearly_the_same_transition_joins_the_oldest() -> None:
    longer = [sql.replace("T1.cost > 10", "T1.cost >= 10") for sql in (FAILED, REVISED)]
    assert groups([lesson("a"), lesson("b", *longer)]) == {"a": "a", "b": "a"}


@pytest.mark.parametrize(
    "other",
    [
        lesson("b", polarity="negative"),
        lesson("b", kind="y"),
        lesson("b", REVISED, FAILED),
        lesson("b", "SELECT 1", "SELECT 2 FROM t"),
        lesson("b", "", ""),
    ],
)
def test_other_lessons_stand_alone(other: Transition) -> None:
    assert groups([lesson("a"), other]) == {"a": "a", "b": "b"}


def test_every_member_is_near_the_centre_and_not_only_near_a_neighbour() -> None:
    words = [f"column_{number}" for number in range(40)]
    chain = [[f"new_{number}" for number in range(step)] + words[step:] for step in range(0, 40, 2)]
    found = groups(
        lesson(
            f"m{number}",
            f"SELECT {', '.join(each)} FROM t ORDER BY x DESC",
            f"SELECT {', '.join(each)} FROM t ORDER BY x ASC",
        )
        for number, each in enumerate(chain)
    )
    assert found["m1"] == "m0"
    assert found["m19"] != "m0", f"its texts share far less than {ALIKE:.0%} with the first"


def test_what_comes_later_joins_and_nothing_moves() -> None:
    grouping = Grouping()
    grouping.add([lesson("a"), lesson("b", "SELECT 1", "SELECT 2")])
    grouping.add([lesson("c"), lesson("a", "SELECT 3", "SELECT 4")])
    assert grouping.centres == {"a": "a", "b": "b", "c": "a"}


@pytest.mark.parametrize("text", ["\x00", "'" * 3, "[[[", "\ud800", "--", ";;;", "é" * 30_000])
def test_hostile_text_is_only_text(text: str) -> None:
    assert groups([lesson("a", text, text), lesson("b", text, text)]) == {"a": "a", "b": "a"}
