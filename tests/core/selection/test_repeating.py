"""Repeats of one choice: which of them figures are made of."""

from __future__ import annotations

from contextlib import aclosing
from typing import cast

import pytest

from core.errors import UsageMistake
from core.question import Question
from core.selection.candidates import Executor
from core.selection.figures import oracle, repeated_figures
from core.selection.grouped import Candidates
from core.selection.method import METHODS, Terms
from core.selection.pool import PooledQuestion
from core.selection.pooling import Panel
from core.selection.repeating import Study, Unfinished, refuse_other_questions
from tests.core.selection.pools import pool

NAMES = ("a", "b", "c")
RIGHT, WRONG, UNJUDGED = pool(2, 1, right=0), pool(2, 1, right=7), pool(2, 1)


def asked(*names: str, database: str = "shop", gold: str = "SELECT 1") -> list[PooledQuestion]:
    return [
        PooledQuestion(
            question=Question(id=name, database=database, text=name), candidates=(), id=name, gold=gold
        )
        for name in names
    ]


def panel(*executed: Candidates) -> Panel:
    """A panel to which every question's candidates are known, so that nothing is executed."""
    return Panel(
        executor=cast("Executor", None),
        methods=[METHODS["majority"]],
        terms=Terms(),
        executed=dict(zip(NAMES, executed, strict=True)),
    )


async def choose(study: Study, number: int, chooser: Panel, questions: int = len(NAMES)) -> None:
    """Choose for so many questions of a pool, then stop."""
    async with aclosing(study.choose_all(chooser, number, 1)) as choices:
        for _ in range(questions):
            await anext(choices)


async def test_only_complete_repeats_enter_the_figures() -> None:
    study = Study([asked(*NAMES)] * 4, (5,), 4)
    await choose(study, 0, panel(RIGHT, RIGHT, WRONG))
    await choose(study, 1, panel(RIGHT, WRONG, WRONG))
    await choose(study, 2, panel(WRONG, WRONG, WRONG), 1)
    (majority,) = study.repeats(4)
    figures = repeated_figures(majority, 4)
    assert (figures.repeats, figures.questions) == (2, 6)
    assert figures.accuracy is not None
    assert figures.accuracy.mean == pytest.approx(1 / 2)
    assert study.unfinished(4) == [
        Unfinished(repeat=2, chosen=1, questions=3, left_out=True),
        Unfinished(repeat=3, chosen=0, questions=3, left_out=True),
    ]


async def test_where_none_is_complete_the_first_stands_alone() -> None:
    study = Study([asked(*NAMES)], (5, 6), 4)
    assert study.repeats(4) == []
    await choose(study, 0, panel(RIGHT, RIGHT, WRONG), 2)
    (majority,) = study.repeats(4)
    assert [[each.pooled.id for each in repeat] for repeat in majority] == [["a", "b"]]
    assert [(each.repeat, each.left_out) for each in study.unfinished(4)] == [(0, False), (1, True)]


@pytest.mark.parametrize("unjudged", [0, 1, 2, 3])
async def test_the_ceiling_is_taken_over_repeats_as_accuracy_is(unjudged: int) -> None:
    study = Study([asked(*NAMES)] * 2, (5,), 4)
    await choose(study, 0, panel(RIGHT, WRONG, WRONG))
    await choose(study, 1, panel(*[UNJUDGED] * unjudged, *[RIGHT] * (3 - unjudged)))
    (majority,) = study.repeats(4)
    # The majority is right wherever a candidate is.
    ceiling = oracle(majority)
    assert ceiling == repeated_figures(majority, 4).accuracy
    assert (None if ceiling is None else ceiling.mean) == (
        None if unjudged == 3 else pytest.approx(2 / 3)
    )


def test_pools_in_another_order_and_with_other_candidates_are_repeats() -> None:
    refuse_other_questions({"one": asked("a", "b"), "two": asked("b", "a")})
    refuse_other_questions({"one": asked("a", gold=""), "two": asked("a", gold=" ")})


@pytest.mark.parametrize(
    ("third", "said"),
    [
        (asked("a"), "three has no question b of the database 'shop', and one has"),
        (asked("a", "b", "c", "d"), "one has no question c of the database 'shop', and three has"),
        (asked("a", "b", database="yard"), "three has no question a of the database 'shop'"),
        (asked("a", "b", gold=""), "three has no gold SQL for question a of the database 'shop'"),
    ],
)
def test_the_first_pool_and_question_that_differ_are_named(
    third: list[PooledQuestion], said: str
) -> None:
    with pytest.raises(UsageMistake) as refused:
        refuse_other_questions({"one": asked("a", "b"), "two": asked("a", "b"), "three": third})
    assert refused.value.problem.startswith(said)
    assert refused.value.mend
