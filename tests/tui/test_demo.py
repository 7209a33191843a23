"""The demonstration's order."""

from __future__ import annotations

from tui.demo import order
from tui.order import dataset_of


def test_every_question_of_the_demonstration_is_there_with_its_gold() -> None:
    wanted = order({})
    dataset = dataset_of(wanted)
    assert len(dataset.questions) >= 8
    assert all(question.id in dataset.golds for question in dataset.questions)
