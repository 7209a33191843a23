"""The states of a question as people see them: a word and a sign, never a colour alone."""

from __future__ import annotations

from enum import Enum

from core.run.events import EpisodeOutcome


class State(Enum):
    """Where a question stands; the value is its word."""

    WAITING = "waiting"
    STARTED = "started"
    WRITING = "writing"
    RUNNING = "running"
    JUDGED = "judged"
    YOURS = "your turn"
    TROUBLE = "engine trouble"
    RIGHT = "right"
    REPAIRED = "repaired"
    CORRECTED = "corrected"
    WRONG = "wrong"
    SKIPPED = "skipped"
    BROKEN = "broken"

    @property
    def final(self) -> bool:
        """Whether the episode is over."""
        return self in FINAL

    @property
    def busy(self) -> bool:
        """Whether something happens for this question right now."""
        return self in BUSY


FINAL = frozenset(
    {State.RIGHT, State.REPAIRED, State.CORRECTED, State.WRONG, State.SKIPPED, State.BROKEN}
)
BUSY = frozenset({State.STARTED, State.WRITING, State.RUNNING, State.JUDGED, State.TROUBLE})

SIGNS: dict[State, str] = {
    State.WAITING: "\N{MIDDLE DOT}",
    State.STARTED: "\N{RIGHTWARDS ARROW}",
    State.WRITING: "\N{RIGHTWARDS ARROW}",
    State.RUNNING: "\N{RIGHTWARDS ARROW}",
    State.JUDGED: "\N{RIGHTWARDS ARROW}",
    State.YOURS: "?",
    State.TROUBLE: "!",
    State.RIGHT: "\N{CHECK MARK}",
    State.REPAIRED: "+",
    State.CORRECTED: "~",
    State.WRONG: "\N{MULTIPLICATION SIGN}",
    State.SKIPPED: "-",
    State.BROKEN: "!",
}

OUTCOMES: dict[EpisodeOutcome, State] = {
    EpisodeOutcome.RIGHT_AT_ONCE: State.RIGHT,
    EpisodeOutcome.REPAIRED: State.REPAIRED,
    EpisodeOutcome.CORRECTED: State.CORRECTED,
    EpisodeOutcome.FAILED: State.WRONG,
    EpisodeOutcome.SKIPPED: State.SKIPPED,
    EpisodeOutcome.BROKEN: State.BROKEN,
}
