"""A choice, with everything it rests on and what it cost. Candidates are named by their index."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.models.chat import Answer, Usage


class Spent(msgspec.Struct, kw_only=True):
    """What calls have cost. A call that was found among the kept ones counts as it did when it was
    made, so that an interrupted and resumed selection reports what an uninterrupted one does."""

    calls: int = 0
    saved: int = 0
    """Calls that the method's formula has, or its paper makes, and that were not needed."""
    tokens_sent: int | None = 0
    """None where the engine did not say: unknown is not 0."""
    tokens_evaluated: int | None = 0
    tokens_written: int | None = 0
    seconds: float = 0.0
    """Of the engine, call by call: those that ran side by side count one after the other."""

    def add(self, answer: Answer) -> None:
        """Count one finished call."""
        self.calls += 1
        self.tokens_sent = _plus(self.tokens_sent, answer.usage.prompt_tokens)
        self.tokens_evaluated = _plus(self.tokens_evaluated, answer.usage.evaluated_tokens)
        self.tokens_written = _plus(self.tokens_written, answer.usage.output_tokens)
        self.seconds += answer.seconds


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a selection."""

    template: str
    """What was asked: select-list, select-score, select-verdict or select-choice."""
    usage: Usage
    seconds: float
    finish: str = "stop"


class RankedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """One call: which candidates it showed, and in which order the answer puts them."""

    start: int
    """Place of the window's first candidate in the order of that moment."""
    shown: tuple[int, ...]
    ranking: tuple[int, ...]
    mended: tuple[str, ...] = ()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One presentation, ranked to its end."""

    order: tuple[int, ...]
    """As presented."""
    windows: tuple[RankedWindow, ...]
    final: tuple[int, ...]

    def renamed(self, order: Sequence[int]) -> Run:
        """The same where candidate i is called `order[i]`."""

        def named(indexes: Sequence[int]) -> tuple[int, ...]:
            return tuple(order[index] for index in indexes)

        windows = [
            msgspec.structs.replace(each, shown=named(each.shown), ranking=named(each.ranking))
            for each in self.windows
        ]
        return Run(order=named(self.order), windows=tuple(windows), final=named(self.final))


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A pointwise judgement, or the verdict on a group, told of the member that was shown."""

    candidate: int
    score: float | None
    """Between 0 and 100; None where the answer held none, or the prompt was too long."""

    @property
    def value(self) -> float:
        """What it counts: an answer that says nothing is worth less than any that does."""
        return -1.0 if self.score is None else self.score


class Duel(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of two candidates of different groups."""

    first: int
    second: int
    winner: int | None
    """None where the answer named none, or the prompt was too long."""

    def renamed(self, order: Sequence[int]) -> Duel:
        """The same where candidate i is called `order[i]`."""
        winner = None if self.winner is None else order[self.winner]
        return Duel(first=order[self.first], second=order[self.second], winner=winner)


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """A choice, with everything it rests on. Candidates are named by their index."""

    method: str
    choice: int | None
    remark: str = ""
    """Why there is no choice."""
    runs: tuple[Run, ...] = ()
    mean_ranks: tuple[float, ...] = ()
    rival: int | None = None
    """The best-ranked candidate of another group than the first's."""
    confidence: float | None = None
    """P that the first beats the rival; None where nothing was ranked, or by one run alone."""
    tied: tuple[int, ...] = ()
    """The first, and the best-ranked candidate of each group that is not separated from it; empty
    without a tie."""
    scores: tuple[Score, ...] = ()
    duels: tuple[Duel, ...] = ()
    memories: tuple[str, ...] = ()
    """Ids of the specifications that were shown, best first."""
    spent: Spent = msgspec.field(default_factory=Spent)
    asked: tuple[Asked, ...] = ()
    """What `spent` adds up, in the order of asking. A run tells these as events of their own."""

    @property
    def mended(self) -> int:
        """Answers that did not say what they were asked for: a ranking that had to be mended, a score
        or a winner that was not there."""
        windows = sum(bool(window.mended) for run in self.runs for window in run.windows)
        scores = sum(each.score is None for each in self.scores)
        return windows + scores + sum(each.winner is None for each in self.duels)

    def renamed(self, order: Sequence[int]) -> Selection:
        """The same selection where candidate i is called `order[i]`: made from a presentation, told
        in the pool's own indexes."""
        if tuple(order) == tuple(range(len(order))):
            return self
        place = {index: new for new, index in enumerate(order)}
        means = self.mean_ranks
        return msgspec.structs.replace(
            self,
            choice=None if self.choice is None else order[self.choice],
            rival=None if self.rival is None else order[self.rival],
            tied=tuple(order[index] for index in self.tied),
            mean_ranks=tuple(means[place[index]] for index in sorted(order)) if means else (),
            runs=tuple(run.renamed(order) for run in self.runs),
            scores=tuple(
                msgspec.structs.replace(each, candidate=order[each.candidate]) for each in self.scores
            ),
            duels=tuple(each.renamed(order) for each in self.duels),
        )
