"""The first SQL as the choice among candidates, and the regime that judges by their agreement."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.database.files import DatabaseFolder
from core.feedback.consensus import ANOTHER, NOT_AGREED, ConsensusRegime
from core.feedback.verdict import Status
from core.models.chat import Answer, Message, ModelTrouble, Sampling
from core.run.engine import Run
from core.run.events import (
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    Drafting,
    EpisodeEnded,
    EpisodeOutcome,
    PromptSent,
    SelectorAnswered,
    SqlExecuted,
    from_json,
    to_json,
)
from core.run.figures import figures_of
from core.run.progress import Progress
from core.selection.calls import Caller
from core.selection.candidates import Executor
from core.selection.drafting import Drafter, candidate_seed
from core.selection.method import METHODS, Terms
from core.selection.pooling import Panel
from core.selection.preparing import Preparer
from tests.core.run.stage import BROKEN, RIGHT, WRONG, all_of, questions, staged, wrapped
from tests.scripted import Reply, Script, ScriptedModel


class Kept:
    """Answers in memory."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}

    def answer(self, key: str) -> Answer | None:
        return self.answers.get(key)

    def keep_answer(self, key: str, answer: Answer) -> None:
        self.answers[key] = answer


def drawing(*sqls: str, prefers: str = RIGHT) -> Script:
    """A model whose greedy answer and samples are these, in order; as a selector it puts the SQL that
    it prefers first."""
    samples = iter(sqls[1:])

    def script(messages: Sequence[Message], sampling: Sampling) -> Reply:
        text = messages[-1].content
        if "You compare SQL queries" in text:
            listed = re.findall(r"^\[([A-Z])\]\n(.+)$", text, re.MULTILINE)
            order = sorted(listed, key=lambda each: each[1] != prefers)
            return "50" if "whole number" in text else " > ".join(f"[{name}]" for name, _ in order)
        if "failed" in text.casefold() or sampling.temperature == 0.0:
            return wrapped(sqls[0])
        return wrapped(next(samples))

    return script


@dataclass
class Drawn:
    run: Run
    model: ScriptedModel
    kept: Kept


@asynccontextmanager
async def drafted(
    folder: Path,
    script: Script,
    *,
    kept: Kept | None = None,
    method: str = "map-sql-no-memory",
    candidates: int = 4,
    takes: bool = True,
    **changes: Any,
) -> AsyncIterator[Drawn]:
    """A run over one question whose candidates are drawn."""
    model, kept = ScriptedModel(script), kept or Kept()
    drafting = Drafting(candidates=candidates, method=method, takes=takes)
    asked = questions(1)
    async with staged(folder, model, asked, strategy="iterative", drafting=drafting, **changes) as run:
        equipment, agreed = run.equipment, {}
        databases: DatabaseFolder = equipment.folder
        caller = Caller(model, equipment.described, kept)
        panel = Panel(
            executor=Executor(equipment.sandbox, databases, None, "spider", 5.0),
            methods=(METHODS[method],),
            terms=Terms(),
            caller=caller,
            preparer=Preparer(databases, caller, None),
        )
        drafter = Drafter(drafting, 0, caller, panel, agreed)
        regime = equipment.regime
        if changes.get("regime") == "consensus":
            regime = ConsensusRegime(equipment.sandbox, databases, agreed, "spider", 5.0)
        run.equipment = replace(equipment, drafter=drafter, regime=regime)
        yield Drawn(run, model, kept)


def only(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def test_the_first_sql_is_the_choice_and_everything_about_it_is_an_event(tmp_path: Path) -> None:
    async with drafted(tmp_path, drawing(WRONG, RIGHT, BROKEN, WRONG, prefers=WRONG)) as drawn:
        events = await all_of(drawn.run)
    samples = only(events, CandidateDrawn)
    assert [each.sql for each in samples] == [RIGHT, BROKEN, WRONG]
    assert [each.number for each in samples] == [1, 2, 3]
    assert [each.sampling.seed for each in samples] == [candidate_seed(0, "q0", n) for n in (1, 2, 3)]
    assert len(only(events, PromptSent)) == 1 + drawn.run.equipment.settings.budget
    (selected,) = only(events, CandidatesSelected)
    assert [each.sql for each in selected.candidates.executed] == [WRONG, RIGHT, BROKEN, WRONG]
    assert selected.candidates.groups == ((0, 3), (1,), (2,))
    assert {each.correct for each in selected.candidates.executed} == {None}
    assert only(events, SqlExecuted)[0].sql == WRONG
    assert from_json(to_json(selected)) == selected


async def test_the_selector_may_find_what_the_greedy_answer_missed(tmp_path: Path) -> None:
    async with drafted(tmp_path, drawing(WRONG, WRONG, WRONG, RIGHT)) as drawn:
        events = await all_of(drawn.run)
    assert only(events, EpisodeEnded)[0].outcome is EpisodeOutcome.RIGHT_AT_ONCE
    spent = only(events, CandidatesSelected)[0].selection.spent
    assert figures_of(events).cost.calls == 4 + spent.calls == len(drawn.model.calls)


async def test_each_call_of_the_selector_is_told_with_its_cost(tmp_path: Path) -> None:
    async with drafted(tmp_path, drawing(WRONG, WRONG, RIGHT, BROKEN)) as drawn:
        events = await all_of(drawn.run)
    told, (selected,) = only(events, SelectorAnswered), only(events, CandidatesSelected)
    spent = selected.selection.spent
    assert 0 < spent.calls == len(told)
    assert {each.template for each in told} == {"select-list"}
    assert sum(each.usage.prompt_tokens for each in told) == spent.tokens_sent
    assert sum(each.usage.output_tokens for each in told) == spent.tokens_written
    assert events.index(told[-1]) == events.index(selected) - 1


async def test_an_interruption_repeats_no_finished_call(tmp_path: Path) -> None:
    """Cut after each of the events that are committed; what is taken up has nothing twice."""
    sqls = (WRONG, RIGHT, BROKEN, WRONG)
    async with drafted(tmp_path, drawing(*sqls)) as drawn:
        whole, asked = await all_of(drawn.run), len(drawn.model.calls)
    cuts = [n + 1 for n, e in enumerate(whole) if isinstance(e, CandidateDrawn | CandidatesSelected)]
    for cut in cuts:
        kept, answered = Kept(), 0
        script = drawing(*sqls)
        async with drafted(tmp_path, script, kept=kept) as first:
            before = []
            async for event in first.run.events():
                before.append(event)
                if len(before) == cut:
                    break
            answered = len(first.model.calls)
        progress = Progress(unfinished={0: tuple(before[1:])}, next_seq=cut + 1)
        async with drafted(tmp_path, script, kept=kept, progress=progress) as second:
            after = await all_of(second.run)
        assert answered + len(second.model.calls) == asked
        assert len(only([*before, *after], CandidateDrawn)) == 3
        judged = [each.sql for each in only(after, AttemptJudged)]
        assert judged == [each.sql for each in only(whole, AttemptJudged)]


async def test_a_model_that_fails_while_drawing_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    def script(messages: Sequence[Message], sampling: Sampling) -> Reply:
        return ModelTrouble("gone") if sampling.temperature else wrapped(WRONG)

    async with drafted(tmp_path, script) as drawn:
        with pytest.raises(ModelTrouble):
            await all_of(drawn.run)


CONSENSUS = {
    "most agree": ((RIGHT, RIGHT, RIGHT, WRONG), "majority", Status.CORRECT, ""),
    "all agree": ((RIGHT, RIGHT), "majority", Status.CORRECT, ""),
    "others agree": ((WRONG, RIGHT, RIGHT, RIGHT), "majority", Status.DENOTATION_MISMATCH, ANOTHER),
    "nobody agrees": ((RIGHT, WRONG), "majority", Status.DENOTATION_MISMATCH, NOT_AGREED),
    "the selector is sure": (
        (WRONG, RIGHT, f"{RIGHT} LIMIT 99", BROKEN),
        "map-sql-no-memory",
        Status.DENOTATION_MISMATCH,
        ANOTHER,
    ),
    "the selector saw one order alone": (
        (WRONG, RIGHT),
        "map-sql-no-memory",
        Status.DENOTATION_MISMATCH,
        NOT_AGREED,
    ),
    "the selector saw the same texts in another order": (
        (WRONG, RIGHT, WRONG, RIGHT),
        "map-sql-no-memory",
        Status.DENOTATION_MISMATCH,
        NOT_AGREED,
    ),
    "it does not run": ((BROKEN, RIGHT, RIGHT), "majority", Status.EXECUTION_ERROR, ""),
}


@pytest.mark.parametrize("case", CONSENSUS)
async def test_consensus_decides_without_gold(tmp_path: Path, case: str) -> None:
    sqls, method, status, remark = CONSENSUS[case]
    async with drafted(
        tmp_path,
        drawing(*sqls),
        method=method,
        candidates=len(sqls),
        takes=False,
        budget=0,
        regime="consensus",
    ) as drawn:
        events = await all_of(drawn.run)
    (judged,) = only(events, AttemptJudged)
    assert (judged.sql, judged.status, judged.remark) == (sqls[0], status, remark)
    assert not judged.confirmed


async def test_a_prompt_does_not_claim_a_person_where_candidates_judged(tmp_path: Path) -> None:
    async with drafted(
        tmp_path,
        drawing(WRONG, RIGHT, RIGHT),
        method="majority",
        candidates=3,
        takes=False,
        budget=1,
        regime="consensus",
    ) as drawn:
        events = await all_of(drawn.run)
    repair = [event for event in events if isinstance(event, PromptSent)][-1]
    assert repair.attempt == 1
    assert "A person" not in "".join(message.content for message in repair.messages)
