"""A run: the stream's episodes one after another, as an async generator of events. It knows nothing
about who listens; what was finished before an interruption is taken up from `Progress`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from core.errors import MeritoError
from core.feedback.verdict import QuestionBroken
from core.memory.entry import ReviewDecision
from core.models.chat import ModelTrouble
from core.question import Question
from core.repair.episode import Episode
from core.repair.equipment import Equipment
from core.repair.history import History
from core.run.control import Stopped
from core.run.events import (
    AnyEvent,
    EpisodeEnded,
    EpisodeOutcome,
    EpisodeStarted,
    ModelStumbled,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    RunStarted,
)
from core.run.progress import Progress

NewReviews = Callable[[], Sequence[ReviewDecision]]
"""Review decisions that were made since the last call."""


def no_reviews() -> Sequence[ReviewDecision]:
    """Nobody reviews while this run goes on."""
    return ()


class Run:
    """One run over one stream."""

    def __init__(
        self,
        equipment: Equipment,
        questions: Sequence[Question],
        *,
        problems: tuple[str, ...] = (),
        versions: dict[str, str] | None = None,
        progress: Progress | None = None,
        new_reviews: NewReviews = no_reviews,
        waits_for_model: bool = False,
    ) -> None:
        """`waits_for_model`: pause when the model fails for good, instead of ending the run; for
        faces in which somebody can mend it and go on."""
        self.equipment = equipment
        self.questions = questions
        self.problems = problems
        self.versions = versions or {}
        self.progress = progress or Progress()
        self.new_reviews = new_reviews
        self.waits_for_model = waits_for_model

    async def events(self) -> AsyncGenerator[AnyEvent, None]:
        """Every event in order, ending with RunEnded. Raises ModelTrouble after it where the model
        failed for good; the run can then be resumed."""
        async with aclosing(self._unnumbered()) as events:
            async for event in events:
                yield self.equipment.stamp.numbered(event)

    async def _unnumbered(self) -> AsyncGenerator[AnyEvent, None]:
        stamp = self.equipment.stamp
        yield self._opening()
        self.equipment.experience.start(self.progress.entries)
        try:
            for position, question in enumerate(self.questions):
                if position in self.progress.finished:
                    continue
                episode = self._episode(position, question)
                async with aclosing(episode):
                    async for event in episode:
                        yield event
        except Stopped:
            yield stamp(RunEnded, reason="stopped")
        except ModelTrouble:
            yield stamp(RunEnded, reason="the model failed")
            raise
        else:
            yield stamp(RunEnded, reason="finished")

    def _opening(self) -> AnyEvent:
        stamp = self.equipment.stamp
        if self.progress.begun:
            return stamp(RunResumed, finished=len(self.progress.finished))
        return stamp(
            RunStarted,
            settings=self.equipment.settings,
            model=self.equipment.described,
            questions=tuple(self.questions),
            problems=self.problems,
            versions=self.versions,
        )

    async def _episode(self, position: int, question: Question) -> AsyncGenerator[AnyEvent, None]:
        """One question to its end, however often the model has to be waited for."""
        equipment = self.equipment
        decisions = tuple(self.new_reviews())
        if decisions:
            yield equipment.stamp(ReviewsApplied, position=position, decisions=decisions)
            await equipment.experience.review(decisions)
        earlier = self.progress.unfinished.get(position, ())
        history = History(position, question, earlier)
        if not any(isinstance(event, EpisodeStarted) for event in earlier):
            yield equipment.stamp(EpisodeStarted, position=position, question=question)
        ending: EpisodeEnded | None = None
        while ending is None:
            playing = self._played(Episode(equipment, history))
            async with aclosing(playing):
                async for event in playing:
                    if isinstance(event, EpisodeEnded):
                        ending = event
                    else:
                        yield event
        yield ending
        if ending.memory is not None:
            await equipment.experience.learn(ending.memory)

    async def _played(self, episode: Episode) -> AsyncGenerator[AnyEvent, None]:
        """The episode's events to its EpisodeEnded; without one where the model is waited for."""
        equipment, history = self.equipment, episode.history
        try:
            async with aclosing(episode.play()) as playing:
                async for event in playing:
                    yield event
            yield await episode.ending()
        except QuestionBroken as broken:
            yield self._broken(history, str(broken))
        except ModelTrouble as trouble:
            if trouble.concerns_prompt:
                yield await episode.ending(note=str(trouble))
                return
            yield self._stumbled(history, trouble)
            if not self.waits_for_model:
                raise
            equipment.control.pause()
        except MeritoError as wrong:
            yield self._broken(history, str(wrong))

    def _stumbled(self, history: History, trouble: ModelTrouble) -> ModelStumbled:
        return self.equipment.stamp(
            ModelStumbled,
            position=history.position,
            attempt=len(history.attempts),
            problem=trouble.problem,
            mend=trouble.mend,
            retry_in=None,
        )

    def _broken(self, history: History, why: str) -> EpisodeEnded:
        return self.equipment.stamp(
            EpisodeEnded,
            position=history.position,
            outcome=EpisodeOutcome.BROKEN,
            attempts=history.repairs,
            note=why,
        )
