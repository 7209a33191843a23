"""An order with every choice made, or why it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import UsageMistake
from tests.core.run.stage import RIGHT, harbour
from tui.order import Order, dataset_of, run_settings, strategy_of


@pytest.mark.parametrize(
    ("golds", "says"),
    [
        ((RIGHT, ""), "1 question has no gold SQL ({file}, record 2), so nothing"),
        (("", ""), "2 questions have no gold SQL (the first: {file}, record 1), so nothing"),
    ],
)
def test_questions_without_gold_are_counted_and_named_by_their_record(
    golds: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    harbour(tmp_path)
    file = tmp_path / "questions.jsonl"
    records = [{"database": "harbour", "question": "How many?", "gold": gold} for gold in golds]
    file.write_text("\n".join(map(json.dumps, records)), "utf-8")
    order = Order(stream=str(file), regime="denotation")
    with pytest.raises(UsageMistake) as caught:
        run_settings(order, dataset_of(order), strategy_of(order))
    assert caught.value.problem.startswith(says.format(file=file))
