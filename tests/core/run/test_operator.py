"""A person is the oracle: what their word does to an episode."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.feedback.verdict import Status
from core.repair.strategy import STRATEGIES
from core.run.control import Judgement
from core.run.events import (
    AnyEvent,
    AttemptJudged,
    EpisodeEnded,
    EpisodeOutcome,
    JudgementAwaited,
    PromptSent,
    SqlExecuted,
)
from tests.core.run.stage import (
    BROKEN,
    RIGHT,
    WRONG,
    of,
    questions,
    staged,
    wrapped,
)
from tests.scripted import ScriptedModel


class TestOperator:
    """A person is the oracle."""

    @staticmethod
    async def judged(folder: Path, answers: list[str], words: list[Judgement]) -> list[AnyEvent]:
        model = ScriptedModel([wrapped(answer) for answer in answers])
        events: list[AnyEvent] = []
        async with staged(folder, model, questions(1), regime="operator") as run:
            async for event in run.events():
                events.append(event)
                if isinstance(event, JudgementAwaited):
                    assert run.equipment.control.judge(0, event.attempt, words.pop(0))
        return events

    async def test_wrong_with_a_remark_goes_into_the_next_prompt(self, tmp_path: Path) -> None:
        events = await self.judged(
            tmp_path,
            [WRONG, RIGHT],
            [Judgement(remark="I want the names, not the crews.", who="ana"), Judgement(right=True)],
        )
        repair = of(PromptSent, events)[1]
        assert "I want the names, not the crews." in repair.messages[-1].content
        (ended,) = of(EpisodeEnded, events)
        assert ended.outcome is EpisodeOutcome.REPAIRED
        assert ended.memory.confirmed

    @pytest.mark.parametrize("strategy", STRATEGIES)
    async def test_a_person_who_only_says_what_gold_says_gets_the_run_that_gold_gets(
        self, strategy: str, tmp_path: Path
    ) -> None:
        """So a study judged by gold tells what an operator gains who writes no remark."""
        drafts = [WRONG, BROKEN, "SELECT id FROM boat", "SELECT name FROM boat", RIGHT]
        told: list[list[tuple[object, ...]]] = []
        for regime in ("denotation", "operator"):
            events: list[AnyEvent] = []
            model = ScriptedModel([wrapped(draft) for draft in drafts * 12])
            async with staged(tmp_path, model, questions(6), strategy=strategy, regime=regime) as run:
                async for event in run.events():
                    events.append(event)
                    if isinstance(event, JudgementAwaited):
                        shown = of(SqlExecuted, events)[-1].sql
                        run.equipment.control.judge(
                            event.position, event.attempt, Judgement(right=shown == RIGHT, who="ana")
                        )
            told.append(
                [(e.position, e.attempt, e.sql, e.status, e.failure) for e in of(AttemptJudged, events)]
            )
        assert told[0] == told[1]
        assert {status for *_, status, _ in told[0]} >= {Status.CORRECT, Status.DENOTATION_MISMATCH}

    async def test_what_does_not_run_is_not_asked_about(self, tmp_path: Path) -> None:
        events = await self.judged(tmp_path, [BROKEN, RIGHT], [Judgement(right=True, who="ana")])
        assert [event.attempt for event in of(JudgementAwaited, events)] == [1]
        assert of(AttemptJudged, events)[1].judge == "ana"

    async def test_skip_ends_the_episode_and_teaches_nothing(self, tmp_path: Path) -> None:
        events = await self.judged(tmp_path, [WRONG], [Judgement(skip=True)])
        (ended,) = of(EpisodeEnded, events)
        assert (ended.outcome, ended.memory) == (EpisodeOutcome.SKIPPED, None)

    async def test_a_correction_is_the_y_plus_of_the_last_attempt(self, tmp_path: Path) -> None:
        events = await self.judged(
            tmp_path, [WRONG], [Judgement(corrected_sql=RIGHT, who="ana", remark="order too")]
        )
        (ended,) = of(EpisodeEnded, events)
        assert ended.outcome is EpisodeOutcome.CORRECTED
        assert (ended.memory.context.failed_sql, ended.memory.revised_sql) == (WRONG, RIGHT)
        assert ended.memory.provenance.judge == "ana"
