"""What it means that a run's judge took an answer: that it is right, or less, in one place of words.

A person and a comparison with gold know whether an answer is right. That it runs, or that candidates
agree on its rows, makes it an answer that nobody has confirmed, and it is called no more than that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.run.events import EpisodeOutcome
from core.run.figures import Figures
from tui.view.states import State


@dataclass(frozen=True)
class Acceptance:
    """The words for one kind of judge."""

    result: str = "right"
    """Of an attempt that the judge took."""
    rejected: str = "wrong"
    """Of an attempt whose rows the judge did not take."""
    other_rows: str = "wrong rows"
    """The same, where a few words stand alone."""
    at_once: str = "RIGHT at once"
    repaired: str = "REPAIRED with {repairs}"
    failed: str = "STILL WRONG after {repairs}"
    at_first: str = "right at first"
    now: str = "right now"
    by_repair: str = "repaired"
    in_the_end: str = "still wrong"
    judged_by: str = ""
    """What decided, where nobody confirmed it."""
    states: Mapping[State, str] = field(default_factory=dict)
    """Words of a question's state, where the state's own would say too much."""

    @property
    def confirmed(self) -> bool:
        """Whether what the judge takes is right."""
        return not self.judged_by

    @property
    def unconfirmed(self) -> str:
        """Stands behind whatever was taken without being confirmed."""
        return "" if self.confirmed else ", unconfirmed"

    def state(self, state: State) -> str:
        """A question's state in a word."""
        return self.states.get(state, state.value)

    def ending(self, outcome: EpisodeOutcome) -> str:
        """How an episode's last line begins; `{repairs}` is left to be filled in."""
        return {
            EpisodeOutcome.RIGHT_AT_ONCE: self.at_once,
            EpisodeOutcome.REPAIRED: self.repaired,
            EpisodeOutcome.FAILED: self.failed,
        }.get(outcome) or _OTHERS[outcome]


_OTHERS = {
    EpisodeOutcome.CORRECTED: "CORRECTED by a person",
    EpisodeOutcome.SKIPPED: "SKIPPED",
    EpisodeOutcome.BROKEN: "BROKEN QUESTION, in no rate",
}

CONFIRMED = Acceptance()

UNCONFIRMED: dict[str, Acceptance] = {
    "execution": Acceptance(
        result="it ran",
        at_once="RAN at once",
        repaired="RAN after {repairs}",
        failed="STILL FAILING after {repairs}",
        at_first="ran at first",
        now="runs now",
        by_repair="made to run",
        in_the_end="still failing",
        other_rows="no rows",
        judged_by="whether it runs; nobody has confirmed that an answer is right",
        states={State.RIGHT: "ran", State.REPAIRED: "runs now", State.WRONG: "failing"},
    ),
    "consensus": Acceptance(
        result="most candidates agree on it",
        rejected="not agreed on",
        at_once="AGREED ON at once",
        repaired="AGREED ON after {repairs}",
        failed="NOT AGREED ON after {repairs}",
        at_first="agreed at first",
        now="agreed now",
        by_repair="by repair",
        in_the_end="not agreed on",
        other_rows="not agreed on",
        judged_by="whether most candidates agree; nobody has confirmed that an answer is right",
        states={State.RIGHT: "agreed", State.REPAIRED: "agreed", State.WRONG: "split"},
    ),
}
"""By the regime's name."""


def acceptance_of(figures: Figures) -> Acceptance:
    """The words for the judge of a run."""
    return acceptance_by(figures.settings.regime) if figures.settings is not None else CONFIRMED


def acceptance_by(judge: str) -> Acceptance:
    """The words for a judge by its name; a person has a name of their own, and confirms."""
    return UNCONFIRMED.get(judge, CONFIRMED)
