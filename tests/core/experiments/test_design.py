"""An experiment's identity: the same settings mean the same runs, and nothing else does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.experiments.design import Experiment, Pace, sample, unfinished
from core.models.chat import ModelDescription
from core.question import Stream
from core.repair.strategy import strategy_named
from core.run.events import Drafting
from tests.streams import MODEL, question, settings

QUESTIONS = tuple(question(n) for n in range(9))
GOLDS = {each.id: f"SELECT {n}" for n, each in enumerate(QUESTIONS)}


def experiment(**changes: Any) -> Experiment:
    fields: dict[str, Any] = {
        "common": settings(),
        "layout": None,
        "model": MODEL,
        "prompts": "p1",
        "questions": QUESTIONS,
        "golds": GOLDS,
        "strategies": tuple(map(strategy_named, ("none", "merit"))),
        "orders": (0, 1),
    }
    return Experiment(**(fields | changes))


def test_cells_are_every_strategy_in_every_order_of_the_same_questions() -> None:
    cells = experiment().cells()
    assert [(cell.strategy.name, cell.order) for cell in cells] == [
        ("none", 0), ("merit", 0), ("none", 1), ("merit", 1),
    ]  # fmt: skip
    assert all(set(cell.questions) == set(QUESTIONS) for cell in cells)
    assert cells[0].questions == cells[1].questions != cells[2].questions
    assert len({cell.run for cell in cells}) == 4


def test_cells_have_the_experiments_settings_but_for_strategy_order_and_layout() -> None:
    drafting = Drafting(method="majority")
    made = experiment(common=settings(drafting=drafting, limit=9))
    none, merit, *_ = (made.settings(cell) for cell in made.cells())
    assert (none.strategy, none.order_seed, none.layout) == ("none", 0, strategy_named("none").layout)
    assert merit.strategy_fields == msgspec.to_builtins(strategy_named("merit"))
    assert none.drafting == merit.drafting == drafting
    assert (none.limit, none.budget) == (9, made.common.budget)
    asked = experiment(layout="conversation")
    assert {asked.settings(cell).layout for cell in asked.cells()} == {"conversation"}


def test_repeats_are_the_same_cells_with_other_seeds_after_all_others() -> None:
    once, twice = experiment().cells(), experiment(repeats=2).cells()
    assert twice[:4] == once
    assert [(each.strategy, each.order, each.questions) for each in twice[4:]] == [
        (each.strategy, each.order, each.questions) for each in once
    ]
    assert len({each.run for each in twice}) == 8
    assert [experiment().settings(cell).seed for cell in twice] == [0] * 4 + [1] * 4
    assert [each.label for each in twice[3:5]] == ["merit, order 1", "none, order 0, again 1"]


def test_the_same_settings_name_the_same_runs() -> None:
    assert [cell.run for cell in experiment().cells()] == [cell.run for cell in experiment().cells()]


def test_a_wider_experiment_keeps_the_cells_it_had() -> None:
    narrow = {cell.run for cell in experiment().cells()}
    wide = experiment(
        strategies=tuple(map(strategy_named, ("iterative", "none", "merit"))), orders=(2, 1, 0, None)
    )
    assert narrow < {cell.run for cell in wide.cells()}


OTHER: dict[str, dict[str, Any]] = {
    "budget": {"common": settings(budget=4)},
    "seed": {"common": settings(seed=1)},
    "repair loop": {"common": settings(loop=2)},
    "layout": {"layout": "conversation"},
    "model": {"model": ModelDescription(engine="scripted", name="other", context_tokens=8192)},
    "prompts": {"prompts": "p2"},
    "questions": {"questions": QUESTIONS[:-1]},
    "gold": {"golds": GOLDS | {"q0": "SELECT 99"}},
}


@pytest.mark.parametrize("what", OTHER)
def test_what_decides_the_outcome_makes_another_experiment(what: str) -> None:
    assert experiment(**OTHER[what]).id != experiment().id


def test_a_strategy_whose_row_changed_is_another_cell() -> None:
    changed = msgspec.structs.replace(strategy_named("merit"), temperature=0.3)
    one, other = experiment(), experiment(strategies=(strategy_named("none"), changed))
    assert one.id == other.id
    assert one.cells()[0].run == other.cells()[0].run
    assert one.cells()[1].run != other.cells()[1].run


@given(st.integers(1, 12), st.integers(0, 3))
def test_a_sample_keeps_the_files_order_and_takes_no_question_twice(limit: int, seed: int) -> None:
    drawn = sample(Stream(QUESTIONS), limit, seed)
    assert len(drawn) == min(limit, len(QUESTIONS))
    places = [QUESTIONS.index(each) for each in drawn]
    assert places == sorted(set(places))
    assert sample(Stream(QUESTIONS), limit, seed) == drawn


def test_the_rest_is_estimated_by_each_strategys_own_pace() -> None:
    pace = Pace()
    assert pace.left({"merit": 3}) is None
    pace.finished("none", 1.0)
    pace.finished("merit", 5.0)
    pace.finished("merit", 7.0)
    assert pace.left({"none": 2, "merit": 1}) == pytest.approx(2 * 1.0 + 6.0)
    assert pace.left({"iterative": 1}) == pytest.approx(13 / 3)


def test_what_is_left_counts_all_cells_of_a_strategy() -> None:
    cells = experiment().cells()
    assert unfinished(cells, {cells[1].run: 9, cells[3].run: 4}) == {"none": 18, "merit": 5}


def test_what_was_finished_earlier_counts_at_once() -> None:
    pace = Pace()
    pace.finished("merit", 30.0, questions=10)
    pace.finished("none", 0.0, questions=0)
    assert pace.left({"merit": 5, "none": 2}) == pytest.approx(7 * 3.0)
