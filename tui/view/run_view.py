"""The view model of a run: events in, what a screen shows out. Plain Python, no terminal.

Every part carries a version, so a face that refreshes at its own pace redraws only what changed:
`head_version` (figures), each queue row's `version`, each episode's and attempt's `version`, and
`version` for anything at all.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.question import Question
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeStarted,
    JudgementAwaited,
    MemoriesRetrieved,
    ModelStumbled,
    PromptSent,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    RunSettings,
    RunStarted,
    SelectorAnswered,
    SqlExecuted,
    TokenDelta,
)
from core.run.figures import Figures
from core.wording import counted
from tui.view.acceptance import Acceptance, acceptance_of
from tui.view.episode_view import EpisodeEvent, EpisodeView
from tui.view.states import OUTCOMES, State

_UNKNOWN = Question(id="", database="", text="")


@dataclass(slots=True)
class QueueRow:
    """One line of the queue."""

    position: int
    question: Question
    state: State = State.WAITING
    repairs: int = 0
    """k: the repair under way, or those made."""
    began: float = 0.0
    seconds: float | None = None
    """Of a finished episode; an open one counts from `began`."""
    helped: bool = False
    """Its last prompt held memories."""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Happening:
    """Something about the run as a whole that a person should know."""

    at: float
    words: str
    serious: bool = False


def budget_of(settings: RunSettings) -> int:
    """K, the most repairs of one question; 0 where the strategy makes none."""
    repairs = settings.strategy_fields.get("repairs", settings.strategy != "none")
    return settings.budget if repairs else 0


def attempt_words(number: int, budget: int) -> str:
    """What an attempt is called in a sentence; `budget` 0: nobody counts towards one."""
    if number == 0:
        return "first SQL"
    return f"repair {number} of {budget}" if budget else f"repair {number}"


class RunView:
    """Folds events into what faces show.

    The newest `keep` episodes and the pinned one keep their full detail; an older one is read
    again from the store by whoever owns it (`recall`). Memory stays flat however long the run.
    """

    def __init__(self, keep: int = 32) -> None:
        self.figures = Figures()
        self.rows: list[QueueRow] = []
        self.happenings: deque[Happening] = deque(maxlen=50)
        self.waiting: dict[tuple[int, int], None] = {}
        """(position, attempt) pairs that wait for a person, oldest first."""
        self.live: int | None = None
        """The position of the latest event of an episode."""
        self.now = 0.0
        """Time of the latest event, in seconds since the epoch."""
        self.version = 0
        self.head_version = 0
        self.queue_version = 0
        self._keep = keep
        self._pinned: int | None = None
        self._episodes: OrderedDict[int, EpisodeView] = OrderedDict()

    @property
    def budget(self) -> int:
        """K, the most repairs of one question; 0 where none is made."""
        return budget_of(self.figures.settings) if self.figures.settings is not None else 0

    @property
    def acceptance(self) -> Acceptance:
        """The words for what the run's judge takes, and does not take."""
        return acceptance_of(self.figures)

    @property
    def ended(self) -> bool:
        """Whether the run's session is over."""
        return bool(self.figures.ended)

    @property
    def trouble(self) -> str:
        """The engine's trouble with the live question, while it lasts."""
        if self.live is None or self.rows[self.live].state is not State.TROUBLE:
            return ""
        episode = self._episodes.get(self.live)
        return episode.attempts[-1].trouble if episode is not None and episode.attempts else ""

    def episode(self, position: int) -> EpisodeView | None:
        """The detail of an episode; None where it has not begun, or its detail was let go."""
        return self._episodes.get(position)

    def forgotten(self, position: int) -> bool:
        """Whether the episode has begun but its detail must be read from the store again."""
        return (
            0 <= position < len(self.rows)
            and self.rows[position].state is not State.WAITING
            and position not in self._episodes
        )

    def pin(self, position: int | None) -> None:
        """Keep this episode's detail, however old it gets."""
        self._pinned = position

    def recall(self, position: int, events: Iterable[AnyEvent]) -> None:
        """Give an old episode its detail back from its stored events."""
        episode = EpisodeView(position, self._row(position).question)
        for event in events:
            if isinstance(event, EpisodeEvent) and event.position == position:
                episode.apply(event)
        self._episodes[position] = episode
        self._episodes.move_to_end(position, last=False)
        self._pinned = position
        self.version += 1

    def apply(self, event: AnyEvent) -> None:
        """Fold one event in. Never raises on events in an unexpected order."""
        self.version += 1
        self.now = max(self.now, event.at)
        if isinstance(event, RunStarted):
            self._start(event)
        if not isinstance(event, TokenDelta) and self.figures.apply(event):
            self.head_version += 1
        if isinstance(event, RunStarted | RunResumed | RunEnded | ReviewsApplied):
            self._tell(event)
        else:
            self._advance(event)

    def _start(self, event: RunStarted) -> None:
        self.figures = Figures()
        self.rows = [QueueRow(at, question) for at, question in enumerate(event.questions)]
        self._episodes.clear()
        self.waiting.clear()
        self.live, self.now = None, event.at
        self.queue_version += 1

    def _advance(self, event: EpisodeEvent) -> None:
        row = self._row(event.position)
        self.live = event.position
        if isinstance(event, EpisodeStarted):
            row.question, row.began, row.seconds = event.question, event.at, None
            row.repairs, row.helped = 0, False
        self._detail(event.position, row.question).apply(event)
        self._mark(row, event)

    def _mark(self, row: QueueRow, event: EpisodeEvent) -> None:
        """Bring the queue's row, and the list of those who wait, up to the event."""
        state = row.state
        if isinstance(event, EpisodeEnded):
            state = OUTCOMES[event.outcome]
            row.seconds, row.repairs = event.seconds, event.attempts
            self._forget_waiting(row.position)
        else:
            state = _STATES.get(type(event), state)
        if isinstance(event, JudgementAwaited):
            self.waiting[event.position, event.attempt] = None
        elif isinstance(event, AttemptJudged):
            self.waiting.pop((event.position, event.attempt), None)
        elif isinstance(event, MemoriesRetrieved):
            row.helped = bool(event.entries)
        elif isinstance(event, ModelStumbled):
            self._stumble(event)
        attempt = getattr(event, "attempt", row.repairs)
        if state is not row.state or attempt != row.repairs or isinstance(event, EpisodeStarted):
            row.state, row.repairs = state, attempt
            row.version += 1
            self.queue_version += 1

    def _tell(self, event: RunStarted | RunResumed | RunEnded | ReviewsApplied) -> None:
        for words, serious in _HAPPENINGS[type(event)](event):
            self.happenings.append(Happening(event.at, words, serious))
        if isinstance(event, RunResumed):
            self.figures.ended = ""
        if isinstance(event, RunResumed | RunEnded):
            self.waiting.clear()
        self.head_version += 1

    def _stumble(self, event: ModelStumbled) -> None:
        """A passing trouble is shown while it lasts; one that paused the run is a happening."""
        if event.retry_in is None:
            words = f"The run is paused: {event.problem} {event.mend}"
            self.happenings.append(Happening(event.at, words, serious=True))
        self.head_version += 1

    def _forget_waiting(self, position: int) -> None:
        for key in [key for key in self.waiting if key[0] == position]:
            del self.waiting[key]

    def _row(self, position: int) -> QueueRow:
        while len(self.rows) <= position:
            self.rows.append(QueueRow(len(self.rows), _UNKNOWN))
            self.queue_version += 1
        return self.rows[position]

    def _detail(self, position: int, question: Question) -> EpisodeView:
        episode = self._episodes.get(position)
        if episode is None:
            episode = self._episodes[position] = EpisodeView(position, question)
            self._let_go()
        episode.question = question
        return episode

    def _let_go(self) -> None:
        """Drop the oldest details beyond `keep`, never the pinned one nor an open one."""
        spare = len(self._episodes) - self._keep
        if spare <= 0:
            return
        for position in [*self._episodes][:-1]:
            if spare <= 0:
                return
            if position != self._pinned and self.rows[position].state.final:
                del self._episodes[position]
                spare -= 1


_STATES: dict[type, State] = {
    EpisodeStarted: State.STARTED,
    MemoriesRetrieved: State.STARTED,
    PromptSent: State.WRITING,
    TokenDelta: State.WRITING,
    AnswerWritten: State.RUNNING,
    CandidateDrawn: State.WRITING,
    SelectorAnswered: State.WRITING,
    CandidatesSelected: State.RUNNING,
    SqlExecuted: State.RUNNING,
    JudgementAwaited: State.YOURS,
    AttemptJudged: State.JUDGED,
    ModelStumbled: State.TROUBLE,
}


def resumed_words(event: RunResumed) -> str:
    """That a run goes on, and with how much behind it."""
    was = "was" if event.finished == 1 else "were"
    return f"Resumed: {counted(event.finished, 'question')} {was} final already."


def reviews_words(event: ReviewsApplied) -> str:
    """From where on review decisions count."""
    count = len(event.decisions)
    decisions = counted(count, "review decision")
    return f"{decisions} {'counts' if count == 1 else 'count'} from question {event.position + 1} on."


_Words = Iterable[tuple[str, bool]]

_HAPPENINGS: dict[type, Callable[..., _Words]] = {
    RunStarted: lambda event: ((problem, True) for problem in event.problems),
    RunResumed: lambda event: [(resumed_words(event), False)],
    RunEnded: lambda event: [(f"The run is over: {event.reason}.", event.reason != "finished")],
    ReviewsApplied: lambda event: [(reviews_words(event), False)],
}
