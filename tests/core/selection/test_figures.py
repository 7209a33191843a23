"""What methods came to, of which questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from core.models.call import PromptTooLong
from core.models.chat import Message, Sampling
from core.question import Question
from core.selection.calls import Caller
from core.selection.candidates import Executor
from core.selection.figures import MethodFigures, method_figures
from core.selection.grouped import Candidates
from core.selection.method import METHODS, Terms
from core.selection.pool import PooledQuestion
from core.selection.pooling import Chosen, Panel
from core.selection.preparing import Preparer
from core.selection.selecting import Prepared
from tests.core.selection.pools import FRONT, pool, preferring
from tests.scripted import Reply, Script, ScriptedModel

SPLIT, NONE = pool(3, 2, right=0, greedy=0), Candidates(executed=(), groups=())


class Ready:
    """A preparer that has nothing to do."""

    async def prepare(self, *_asked: object) -> Prepared:
        return Prepared(front=FRONT)


async def chosen(candidates: Candidates, method: str, script: Script) -> Chosen:
    """The choice from two presentations of a pool that is executed already."""
    model = ScriptedModel(script)
    question = Question(id="q", database="shop", text="Which?")
    panel = Panel(
        executor=cast("Executor", None),
        methods=[METHODS[method]],
        terms=Terms(),
        caller=Caller(model, await model.describe()),
        preparer=cast("Preparer", Ready()),
        presentations=(1, 2),
        executed={"q": candidates},
    )
    (found,) = await panel.choose(PooledQuestion(question=question, candidates=(), id="q"))
    return found


def failing_from(call: int) -> Script:
    """A selector that has no room for a prompt from that call on."""
    numbers = iter(range(100))

    def script(messages: Sequence[Message], sampling: Sampling) -> Reply:
        if next(numbers) >= call:
            return PromptTooLong(9_000, 4_096)
        return preferring(float)(messages, sampling)

    return script


@pytest.mark.parametrize(
    ("candidates", "method", "failing", "consistent"),
    [
        (SPLIT, "majority", 0, True),
        (SPLIT, "greedy", 0, True),
        (SPLIT, "listwise", 99, True),
        (SPLIT, "listwise", 1, False),
        (SPLIT, "listwise", 0, False),
        (pool(3, 2), "greedy", 0, None),
        (NONE, "majority", 0, None),
    ],
)
async def test_a_method_that_fails_is_not_consistent(
    candidates: Candidates, method: str, failing: int, consistent: bool | None
) -> None:
    """One call a presentation."""
    found = await chosen(candidates, method, failing_from(failing))
    assert found.consistent is consistent


async def test_all_methods_are_consistent_over_the_same_questions() -> None:
    async def figures(method: str, *failing: int) -> MethodFigures:
        made = [await chosen(SPLIT, method, failing_from(number)) for number in failing]
        return method_figures([*made, await chosen(NONE, method, failing_from(0))])

    assert (await figures("majority", 99, 99, 99, 99)).consistency == 1.0
    assert (await figures("listwise", 99, 99, 99, 1)).consistency == 0.75
