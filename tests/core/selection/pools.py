"""Pools whose groups and right answers a test decides, and selectors that answer by rule."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from core.database.rows import Outcome, ResultTable
from core.models.chat import Answer, Message, Sampling, Usage
from core.question import Question
from core.selection.calls import Caller
from core.selection.candidates import key_of
from core.selection.grouped import Candidates, Executed
from core.selection.method import METHODS, Terms
from core.selection.prompts import Front, letter
from core.selection.selecting import Prepared, select
from core.selection.selection import Selection
from tests.scripted import Reply, Script, ScriptedModel

QUESTION = Question(id="q", database="shop", text="Which items are red?")
FRONT = Front(question=QUESTION, schema="CREATE TABLE item (name TEXT);")


def pool(
    *sizes: int, right: int | None = None, errors: int = 0, greedy: int | None = None
) -> Candidates:
    """Groups of these sizes, in this order; group `right` holds the right answers. The text of
    candidate i is `SELECT <i>`."""
    groups: list[list[int]] = []
    executed: list[Executed] = []
    for place, size in enumerate([*sizes, errors] if errors else sizes):
        groups.append([])
        for _ in range(size):
            failed = place == len(sizes)
            index = len(executed)
            groups[-1].append(index)
            executed.append(
                Executed(
                    sql=f"SELECT {index}",
                    source="greedy" if index == greedy else f"sample-{index}",
                    key=key_of(f"SELECT {index}"),
                    table=ResultTable(
                        outcome=Outcome.ERROR if failed else Outcome.OK,
                        columns=("c",),
                        rows=((place,),),
                        row_count=1,
                    ),
                    correct=None if right is None else place == right,
                )
            )
    return Candidates(executed=tuple(executed), groups=tuple(map(tuple, groups)))


def shown(messages: Sequence[Message]) -> list[int]:
    """The candidates of a prompt, in its order."""
    return [int(found) for found in re.findall(r"^SELECT (\d+)$", messages[0].content, re.MULTILINE)]


def is_list(messages: Sequence[Message]) -> bool:
    return "Order all of them" in messages[0].content


def is_score(messages: Sequence[Message]) -> bool:
    return "whole number" in messages[0].content


def is_verdict(messages: Sequence[Message]) -> bool:
    return "yes or no alone" in messages[0].content


def verdict(percent: float) -> Answer:
    """What an engine that tells probabilities answers, with so much for yes."""
    yes = min(max(percent / 100, 1e-9), 1 - 1e-9)
    first = {"yes": math.log(yes), "no": math.log(1 - yes)}
    usage = Usage(prompt_tokens=50, cached_tokens=0, output_tokens=1)
    return Answer(text="yes" if yes > 0.5 else "no", first=first, usage=usage)


def preferring(value: Callable[[int], float]) -> Script:
    """A selector that always puts candidates with a higher value first."""

    def script(messages: Sequence[Message], _sampling: Sampling) -> Reply:
        candidates = shown(messages)
        if is_verdict(messages):
            return verdict(value(candidates[0]))
        if is_score(messages):
            return str(int(value(candidates[0])))
        places = sorted(range(len(candidates)), key=lambda place: -value(candidates[place]))
        names = [f"[{letter(place)}]" for place in places]
        return " > ".join(names) if is_list(messages) else names[0]

    return script


async def choose(
    candidates: Candidates,
    script: Script,
    method: str = "map-sql",
    *,
    at_once: int = 1,
    **terms: object,
) -> tuple[Selection, ScriptedModel]:
    """The selection, and the model that was asked."""
    model = ScriptedModel(script, context_tokens=1_000_000)
    caller = Caller(model, await model.describe(), jobs=at_once)

    async def prepare(_memory: bool, _shown: int) -> Prepared:
        return Prepared(front=FRONT)

    selection = await select(
        METHODS[method],
        candidates,
        question="q",
        prepare=prepare,
        caller=caller,
        terms=Terms(**terms),  # type: ignore[arg-type]
    )
    return selection, model
