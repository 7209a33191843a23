"""The loop: one question, its initial SQL, up to K repairs, and what it teaches (merit.md, "The
loop"; MERIT, algorithm 1). Every strategy runs through here; what differs is its row of data."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import nullcontext

import msgspec

from core.feedback.verdict import FailureType
from core.memory.texts import RetrievalQuery
from core.models.chat import Answer, Sampling
from core.prompts.extract import extract_reflection, extract_sql
from core.prompts.layout import Prompt
from core.repair import prompting
from core.repair.call import answer, draw_seed, prediction_key
from core.repair.equipment import Equipment
from core.repair.hinting import new_hints
from core.repair.history import History
from core.repair.lesson import entry_of
from core.repair.mending import mend_for_attempt
from core.repair.trial import asked_again, attempt_sql, corrected_by_hand
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    EpisodeEnded,
    EpisodeOutcome,
    MemoriesRetrieved,
    PromptSent,
    ReflectionWritten,
)

GREEDY = Sampling(temperature=0.0, top_p=1.0, seed=0)
REFLECTION = Sampling(temperature=0.0, top_p=1.0, seed=0, max_tokens=96)
"""Room for the two or three sentences that are asked for: a small model goes on and on, and every
later prompt would carry all of it."""


class Episode:
    """One question from its initial SQL to its end. `play` may be called on a history that already
    holds attempts: it goes on where they end."""

    def __init__(self, equipment: Equipment, history: History) -> None:
        self.equipment = equipment
        self.history = history
        self._began = time.monotonic()

    async def play(self) -> AsyncGenerator[AnyEvent, None]:
        """All events from here to EpisodeEnded, which is not yielded but left to `ending`. Where an
        interruption came while a person was asked, they are asked again about the same rows.

        Raises QuestionBroken, ModelTrouble, Stopped; the history then holds what was finished.
        """
        history = self.history
        if history.awaiting is not None:
            async for event in self._keep(asked_again(self.equipment, history, history.awaiting)):
                yield event
        if not history.attempts:
            await self.equipment.control.checkpoint()
            if self.equipment.control.skipped(history.position):
                return
            async for event in self._keep(self._initial()):
                yield event
        while not self.over:
            await self.equipment.control.checkpoint()
            if self.equipment.control.skipped(history.position):
                return
            async for event in self._keep(self._next_step()):
                yield event

    def _next_step(self) -> AsyncGenerator[AnyEvent, None]:
        """A person's correction first, then a reflection that is due, then the next repair."""
        if self.history.last.correction:
            return corrected_by_hand(self.equipment, self.history)
        if self._reflection_is_due:
            return self._reflect()
        return self._repair(self.history.last.attempt + 1)

    @property
    def _reflection_is_due(self) -> bool:
        return (
            self.equipment.strategy.reflects
            and self.history.last.attempt not in self.history.reflections
        )

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        history = self.history
        if history.solved or history.last.skipped or not self.equipment.strategy.repairs:
            return True
        spent = history.repairs >= self.equipment.settings.budget
        return spent and not self._reflection_is_due and not history.last.correction

    async def ending(self, note: str = "") -> EpisodeEnded:
        """The event that makes the episode final. With a `note`, what keeps it from going on, it
        teaches nothing: its last transition is none that K repairs ended in."""
        history = self.history
        outcome = self._outcome()
        memory = None
        if not note and self._teaches(outcome):
            memory = entry_of(self.equipment, history)
            if memory is not None:
                memory = await self.equipment.experience.encoded(memory)
        return self.equipment.stamp(
            EpisodeEnded,
            position=history.position,
            outcome=outcome,
            attempts=history.repairs,
            memory=memory,
            note=note,
            seconds=time.monotonic() - self._began,
        )

    def _teaches(self, outcome: EpisodeOutcome) -> bool:
        policy, history = self.equipment.strategy.retrieval, self.history
        if policy is None or self.equipment.control.skipped(history.position):
            return False
        if history.by_hand and not history.solved:  # A person's slip is no direction of the model's.
            return False
        if outcome is EpisodeOutcome.RIGHT_AT_ONCE:
            return policy.examples > 0
        ended = (EpisodeOutcome.REPAIRED, EpisodeOutcome.CORRECTED, EpisodeOutcome.FAILED)
        return outcome in ended and self.history.repairs > 0

    def _outcome(self) -> EpisodeOutcome:
        history = self.history
        if history.solved and history.repairs == 0:
            return EpisodeOutcome.RIGHT_AT_ONCE
        if history.solved:
            return EpisodeOutcome.CORRECTED if history.by_hand else EpisodeOutcome.REPAIRED
        skipped = self.equipment.control.skipped(history.position)
        if skipped or (history.attempts and history.last.skipped):
            return EpisodeOutcome.SKIPPED
        return EpisodeOutcome.FAILED

    async def _keep(self, events: AsyncIterator[AnyEvent]) -> AsyncGenerator[AnyEvent, None]:
        async for event in events:
            self.history.apply(event)
            yield event

    async def _initial(self) -> AsyncGenerator[AnyEvent, None]:
        prompt = prompting.initial(self.equipment, self.history.question)
        key = prediction_key(self.equipment.described, prompt, GREEDY)
        # To the end of the attempt: the answer is stored together with its judgement. Not where a
        # person judges: who asks the same again would wait for them, and they for the floor.
        first = nullcontext() if self.equipment.regime.asks else self.equipment.jobs.first(key)
        async with first:
            async for event in self._first(prompt, key):
                yield event

    async def _first(self, prompt: Prompt, key: str) -> AsyncGenerator[AnyEvent, None]:
        drafter, history = self.equipment.drafter, self.history
        if drafter is None or history.greedy is None:
            async for event in self._write(0, prompt, GREEDY, key=key):
                yield event
        assert history.greedy is not None, "it is kept as it passes"
        sql = history.greedy.sql
        if drafter is not None:
            async for event in drafter.events(history, prompt.messages, self.equipment.stamp):
                yield event
            sql = drafter.first(history)
        async for event in self._try(0, sql):
            yield event

    async def _repair(self, attempt: int) -> AsyncGenerator[AnyEvent, None]:
        equipment, history, strategy = self.equipment, self.history, self.equipment.strategy
        mend = await mend_for_attempt(equipment, history) if strategy.mends else None
        if mend is not None:
            async for event in self._try(attempt, mend.sql, mended=mend.why):
                yield event
            return
        policy = strategy.recalls(history.drafts + 1)
        if policy is not None:
            if policy.random_same_type:
                policy = msgspec.structs.replace(policy, random_seed=equipment.settings.seed)
            question, last = history.question, history.last
            recalled = await equipment.experience.recall(
                RetrievalQuery(
                    question=question.text,
                    sql=last.sql,
                    status=last.status,
                    failure=last.failure or FailureType.UNKNOWN,
                    message=last.message,
                ),
                history.position,
                question.source_key,
                question.database,
                policy,
            )
            retrieved = equipment.stamp(
                MemoriesRetrieved,
                position=history.position,
                attempt=attempt,
                retrieval=recalled.retrieval,
                entries=recalled.entries,
            )
            # The prompt below is built before the consumer hands this event back to `_keep`.
            history.apply(retrieved)
            yield retrieved
        if strategy.hints:
            history.hints += await new_hints(equipment, history)
        prompt = prompting.revision(equipment, history)
        async for event in self._write_and_try(attempt, prompt, self._sampling(attempt, prompt)):
            yield event

    def _sampling(self, attempt: int, prompt: Prompt) -> Sampling:
        """Greedy where the strategy says so, unless that prompt has had its most likely answer."""
        strategy, settings = self.equipment.strategy, self.equipment.settings
        if strategy.temperature == 0.0:
            return GREEDY
        known = self.history.asked_greedily(prompt.messages, before=attempt)
        if strategy.draft(self.history.drafts + 1).greedy and not known:
            return GREEDY
        temperature = strategy.temperature
        if strategy.warmer_after_repeat:
            repeats = sum(1 for a in self.history.attempts if a.refused)
            temperature = min(temperature + 0.1 * repeats, 1.2)
        seed = draw_seed(settings.seed, self.history.question.id, attempt)
        return Sampling(temperature=temperature, top_p=strategy.top_p, seed=seed)

    async def _write_and_try(
        self, attempt: int, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[AnyEvent, None]:
        """One draft: the call, what was found in the answer, and its trial."""
        equipment, sql = self.equipment, ""
        key = prediction_key(equipment.described, prompt, sampling) if equipment.shares_repairs else ""
        # To the answer's end: it is stored when the next event is asked for.
        async with equipment.jobs.first(key) if key else nullcontext():
            async for event in self._write(attempt, prompt, sampling, key=key):
                if isinstance(event, AnswerWritten):
                    sql = event.sql
                yield event
        async for event in self._try(attempt, sql):
            yield event

    def _try(self, attempt: int, sql: str, *, mended: str = "") -> AsyncGenerator[AnyEvent, None]:
        strategy = self.equipment.strategy
        return attempt_sql(
            self.equipment,
            self.history,
            attempt,
            sql,
            refuse_same_rows=strategy.refuses_same_rows,
            mended=mended,
        )

    async def _write(
        self, attempt: int, prompt: Prompt, sampling: Sampling, *, key: str = ""
    ) -> AsyncGenerator[AnyEvent, None]:
        """The call, and what was found in the answer. `key` is that of a prediction which other
        runs share."""
        equipment, position, stamp = self.equipment, self.history.position, self.equipment.stamp
        yield stamp(
            PromptSent,
            position=position,
            attempt=attempt,
            purpose=prompt.purpose,
            template=prompt.template,
            messages=prompt.messages,
            sampling=sampling,
            hints=tuple(self.history.hints),
        )
        stored = equipment.predictions.prediction(key) if key else None
        finished = stored
        if finished is None:
            async for piece in answer(equipment, prompt, sampling, position, attempt):
                if isinstance(piece, Answer):
                    finished = piece
                else:
                    yield piece
        assert finished is not None, "a stream ends with its answer or with ModelTrouble"
        found = extract_sql(finished.text, finished.finish)
        yield stamp(
            AnswerWritten,
            position=position,
            attempt=attempt,
            text=finished.text,
            sql=found.sql,
            extraction=found.notes,
            usage=finished.usage,
            seconds=finished.seconds,
            finish=finished.finish,
            reused=stored is not None,
            prediction_key=key,
        )

    async def _reflect(self) -> AsyncGenerator[AnyEvent, None]:
        """Reflexion's call after a failed attempt, the last one included."""
        equipment, history = self.equipment, self.history
        attempt = history.last.attempt
        prompt = prompting.reflection(equipment, history)
        yield equipment.stamp(
            PromptSent,
            position=history.position,
            attempt=attempt,
            purpose=prompt.purpose,
            template=prompt.template,
            messages=prompt.messages,
            sampling=REFLECTION,
        )
        async for piece in answer(equipment, prompt, REFLECTION, history.position, attempt):
            if not isinstance(piece, Answer):
                yield piece
                continue
            yield equipment.stamp(
                ReflectionWritten,
                position=history.position,
                attempt=attempt,
                text=extract_reflection(piece.text, piece.finish),
                usage=piece.usage,
                seconds=piece.seconds,
            )
