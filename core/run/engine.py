"""A run: the stream's episodes one after another, as an async generator of events. It knows nothing
about who listens; what was finished before an interruption is taken up from `Progress`.

An episode that waits for a person is parked, and the next one goes on: see `floor.py`. Episodes that
may not learn from each other can be under way at once: see `jobs.py`. What an episode may see is
fixed when it starts, so nothing depends on who of the open ones is faster."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing

from core.errors import MeritoError
from core.feedback.verdict import QuestionBroken
from core.memory.entry import ReviewDecision
from core.models.chat import ModelTrouble
from core.question import LeftOut, Question
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
from core.run.floor import Floor
from core.run.jobs import lanes_of, merged
from core.run.progress import Progress

MOST_PARKED = 8
"""Episodes that may wait for a person before the run waits too."""

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
        left_out: tuple[LeftOut, ...] = (),
        versions: dict[str, str] | None = None,
        progress: Progress | None = None,
        new_reviews: NewReviews = no_reviews,
        waits_for_model: bool = False,
        parks: int = MOST_PARKED,
    ) -> None:
        """`waits_for_model`: pause when the model fails for good, instead of ending the run; for
        faces in which somebody can mend it and go on. `parks`: the most episodes that wait for a
        person while the next one begins; 0 lets none begin before the last one is final."""
        self.equipment = equipment
        self.questions = questions
        self.problems = problems
        self.left_out = left_out
        self.versions = versions or {}
        self.progress = progress or Progress()
        self.new_reviews = new_reviews
        self.waits_for_model = waits_for_model
        self.parks = parks
        self._begun: dict[int, History] = {}
        """Position -> the episode that an interruption left open there."""
        self._open: set[int] = set()
        """Positions of the episodes that have begun and are not final."""

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
            async with aclosing(self._lanes()) as lanes:
                async for event in lanes:
                    yield event
        except Stopped:
            yield stamp(RunEnded, reason="stopped")
        except ModelTrouble as trouble:
            yield stamp(RunEnded, reason=f"the {trouble.part} failed")
            raise
        else:
            yield stamp(RunEnded, reason="finished")

    def _opening(self) -> AnyEvent:
        stamp, jobs = self.equipment.stamp, self.equipment.jobs.width
        if self.progress.begun:
            return stamp(RunResumed, finished=len(self.progress.finished), jobs=jobs)
        return stamp(
            RunStarted,
            settings=self.equipment.settings,
            model=self.equipment.described,
            questions=tuple(self.questions),
            problems=self.problems,
            left_out=self.left_out,
            jobs=jobs,
            versions=self.versions,
        )

    def _lanes(self) -> AsyncGenerator[AnyEvent, None]:
        """Every episode to its end: one after another, or side by side where none of them may learn
        from another."""
        begun = [
            History(position, self.questions[position], events)
            for position, events in sorted(self.progress.unfinished.items())
        ]
        self._begun = {each.position: each for each in begun if each.started is not None}
        self._open = set(self._begun)
        jobs = self.equipment.jobs
        if jobs.width == 1:
            return self._episodes(range(len(self.questions)))
        lanes = lanes_of(self.questions, self.equipment.strategy)
        return merged([jobs.in_turn(self._episodes(lane)) for lane in lanes], jobs.width)

    async def _episodes(self, lane: Sequence[int]) -> AsyncGenerator[AnyEvent, None]:
        """The episodes at these positions; the next one begins where none goes on and no word of a
        person is left to be heeded."""
        floor, upcoming, control = Floor(), self._upcoming(lane), self.equipment.control
        try:
            while True:
                if floor.free and not control.answered:
                    room = not floor.parked or (floor.parked < self.parks and not control.stopped)
                    episode = next(upcoming, None) if room else None
                    if episode is not None:
                        floor.give(episode)
                    elif not floor.parked:
                        return
                event = await floor.hear()
                if event is not None:
                    yield event
        finally:
            await floor.close()

    def _upcoming(self, lane: Sequence[int]) -> Iterator[AsyncGenerator[AnyEvent, None]]:
        """Those that an interruption left open, those that wait for a person first; then the rest
        of the lane."""
        begun = [self._begun[position] for position in lane if position in self._begun]
        for history in sorted(begun, key=lambda each: each.awaiting is None):
            yield self._resumed(history)
        for position in lane:
            if position not in self._begun and position not in self.progress.finished:
                yield self._new(History(position, self.questions[position]))

    async def _new(self, history: History) -> AsyncGenerator[AnyEvent, None]:
        """A question whose turn has come."""
        equipment, position = self.equipment, history.position
        decisions = tuple(self.new_reviews())
        if decisions:
            yield equipment.stamp(ReviewsApplied, position=position, decisions=decisions)
            await equipment.experience.review(decisions)
        overlapping = tuple(sorted(self._open)) if equipment.regime.asks else ()
        self._open.add(position)
        equipment.experience.begin(position, overlapping)
        yield equipment.stamp(
            EpisodeStarted, position=position, question=history.question, overlapping=overlapping
        )
        async with aclosing(self._to_its_end(history)) as events:
            async for event in events:
                yield event

    async def _resumed(self, history: History) -> AsyncGenerator[AnyEvent, None]:
        """An episode that goes on where it was interrupted, and sees what it saw before."""
        assert history.started is not None
        position = history.position
        seen = self.progress.seen.get(position, {})
        self.equipment.experience.begin(position, history.started.overlapping, seen)
        async with aclosing(self._to_its_end(history)) as events:
            async for event in events:
                yield event

    async def _to_its_end(self, history: History) -> AsyncGenerator[AnyEvent, None]:
        """One question to its end, however often the model has to be waited for."""
        equipment = self.equipment
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
        self._open.discard(history.position)
        equipment.experience.end(history.position)
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
                yield await episode.ending(note=str(trouble))  # It teaches nothing, so nothing fails.
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
