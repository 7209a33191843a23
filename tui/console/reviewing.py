"""One person's decisions on the Memory screen: made, told, and taken back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.memory.entry import ReviewDecision, ReviewState
from stores.entry_rows import EntryRow
from stores.library import Clash, Decided
from tui.console.memory_library import Library
from tui.view.legible import one_line

Wanted = Sequence[tuple[EntryRow, ReviewState]]


class Step(NamedTuple):
    """What one key changed about one memory."""

    memory: str
    before: ReviewState
    decisions: int
    """How many decisions there were afterwards: more means that somebody went on."""


class Reviewer:
    """Decides in somebody's name, and remembers how to take it back: a whole bulk at once."""

    def __init__(self) -> None:
        self._steps: list[list[Step]] = []

    @property
    def can_undo(self) -> bool:
        """Whether anything was decided here that was not taken back."""
        return bool(self._steps)

    async def decide(
        self,
        library: Library,
        wanted: Wanted,
        who: str,
        remark: str,
        stale: Mapping[str, tuple[str, ...]],
    ) -> Decided:
        """Record decisions; of a memory that is stale, with a note of the differences seen."""
        done = await library.decide(
            [_decision(each, state, who, remark, stale.get(each.id, ())) for each, state in wanted],
            {each.id: each.decisions for each, _ in wanted},
        )
        kept = {decision.memory for decision in done.kept}
        steps = [Step(e.id, e.state, e.decisions + 1) for e, _ in wanted if e.id in kept]
        if steps:
            self._steps.append(steps)
        return done

    async def undo(self, library: Library, every: Mapping[str, EntryRow], who: str) -> Decided:
        """Take the last key's decisions back, by further decisions; those about which somebody else
        has decided since are left alone."""
        steps = [step for step in self._steps[-1] if step.memory in every]
        done = await library.decide(
            [_decision(every[step.memory], step.before, who, "taken back", ()) for step in steps],
            {step.memory: step.decisions for step in steps},
        )
        self._steps.pop()
        return done


def _decision(
    each: EntryRow, state: ReviewState, who: str, remark: str, differing: tuple[str, ...]
) -> ReviewDecision:
    if differing:
        from core.memory.staleness import fingerprint, with_seen

        remark = with_seen(remark, fingerprint(differing))
    return ReviewDecision(memory=each.id, state=state, who=who, at=time.time(), remark=remark)


def told(done: Decided, undo: str = "") -> str:
    """What became of decisions, in one sentence for each side; `undo` is the key that takes them
    back."""
    words = []
    if done.kept:
        states = ", ".join(sorted({decision.state.value for decision in done.kept}))
        back = f" {undo} takes it back." if undo else ""
        words.append(f"{counted(len(done.kept))}: {states}.{back}")
    if done.clashes:
        words.append(_clash_words(done.clashes))
    return " ".join(words)


def _clash_words(clashes: Sequence[Clash]) -> str:
    if len(clashes) > 1:
        others = sorted({one_line(clash.theirs.who, 40) for clash in clashes})
        return (
            f"{counted(len(clashes))} left alone: {', '.join(others)} decided meanwhile. They are"
            " marked; decide again if you still want to."
        )
    theirs = clashes[0].theirs
    why = f': "{one_line(theirs.remark, 120)}"' if theirs.remark else ""
    return (
        f"Left alone: {one_line(theirs.who, 40)} decided {theirs.state.value} meanwhile{why}."
        " Decide again if you still want to."
    )


def counted(number: int) -> str:
    """A number of memories in words."""
    return f"{number:,} memories" if number != 1 else "1 memory"
