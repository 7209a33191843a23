"""Making specification memories from training pairs with the selector model (MAP-SQL, step 1)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection

import msgspec

from core.models.chat import ConstrainedSampling, Message, ModelTrouble
from core.prompts.memories import one_line
from core.prompts.template import plain
from core.selection.anatomy import Anatomy
from core.selection.calls import Caller
from core.selection.fitting import fitting_schema
from core.selection.prompts import template
from core.selection.specification import (
    FORMS,
    Invalid,
    Specification,
    SpecificationMemory,
    asked_keys,
    json_schema,
    read_specification,
)
from core.selection.training import Training, TrainingPair
from core.selection.turns import as_they_end

TRIES = 2
ANSWER_TOKENS = 512
"""About twice what a long query's specification takes; an answer that goes on and on is cut."""
_RETRY_TEMPERATURE = 0.5
"""A second answer at temperature 0 would be the first one again."""
_SCHEMA_SHARE = 0.5


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """One memory, and what it took."""

    memory: SpecificationMemory
    calls: int
    rejected: tuple[str, ...] = ()
    """Why each answer that did not hold was rejected, or why none could be asked for."""


async def build(
    training: Training, caller: Caller, known: Collection[str], at_once: int
) -> AsyncGenerator[Built, None]:
    """A memory for every pair whose id is not `known`, as it is done, `at_once` under way.
    Raises ModelTrouble where the engine fails for good; what was yielded can be kept."""

    async def made(pair: TrainingPair) -> Built:
        return await distil(pair, caller)

    missing = [pair for pair in training.pairs if pair.id not in known]
    async for built in as_they_end(missing, made, at_once):
        yield built


async def distil(pair: TrainingPair, caller: Caller) -> Built:
    """One memory. An answer that is not valid is asked for again, then the syntax tree has to do."""
    anatomy = Anatomy(pair.gold, pair.question, pair.schema)
    messages = await _prompt(pair, anatomy, caller)
    constraint = msgspec.json.encode(json_schema(anatomy.rebuilt(), pair.question)).decode()
    rejected: list[str] = []
    calls = 0
    for attempt in range(TRIES):
        sampling = ConstrainedSampling(
            temperature=_RETRY_TEMPERATURE if attempt else 0.0,
            seed=attempt,
            max_tokens=ANSWER_TOKENS,
            answer_schema=constraint,
        )
        try:
            answer = await caller.ask(messages, sampling)
            calls += 1
            found = read_specification(answer.text, anatomy.keys, anatomy.constructs)
        except Invalid as why:
            rejected.append(str(why))
        except ModelTrouble as trouble:
            if not trouble.concerns_prompt:
                raise
            rejected.append(trouble.problem)
            break
        else:
            memory = _memory(pair, found, caller.described.fingerprint)
            return Built(memory=memory, calls=calls, rejected=tuple(rejected))
    memory = _memory(pair, anatomy.rebuilt(), caller.described.fingerprint, rebuilt=True)
    return Built(memory=memory, calls=calls, rejected=tuple(rejected))


def _memory(
    pair: TrainingPair, specification: Specification, maker: str, *, rebuilt: bool = False
) -> SpecificationMemory:
    return SpecificationMemory(
        id=pair.id,
        database=pair.database,
        question=pair.question,
        specification=specification,
        maker=maker,
        rebuilt=rebuilt,
        repair=pair.repair,
    )


async def _prompt(pair: TrainingPair, anatomy: Anatomy, caller: Caller) -> tuple[Message, ...]:
    schema = await fitting_schema(
        pair.schema,
        f"{pair.question} {pair.gold}",
        int(caller.described.context_tokens * _SCHEMA_SHARE) - ANSWER_TOKENS,
        caller.model.count_tokens,
    )
    text = template("specification").fill(
        {
            "schema": schema,
            "question": one_line(pair.question),
            "evidence": pair.evidence.strip(),
            "sql": pair.gold.strip(),
            "constructs": ", ".join(anatomy.constructs),
            "forms": FORMS,
            "keys": asked_keys(anatomy.rebuilt()),
        }
    )
    return (Message("user", plain(text)),)
