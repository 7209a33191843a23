"""Which memories may be told to whom (MERIT, section 3.2; merit.md, "The loop" and "Retrieval").

The rules stand here and nowhere else. A memory is legal for a question where all of these hold:

- it was made in the same run at a lower position; or in another run, was final when this run began,
  and the run uses the library;
- it was not learned from the same question;
- it is approved, or pending where the run includes those; a rejected one never is.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.feedback.verdict import FailureType
from core.memory.columns import Column, Words
from core.memory.entry import MemoryEntry, Polarity, ReviewState
from core.memory.policy import Asking, Channel, RetrievalPolicy

Mask = NDArray[np.bool_]

_TYPES = {failure: number for number, failure in enumerate(FailureType)}
_POLARITIES = {polarity: number for number, polarity in enumerate(Polarity)}
_STATES = {state: number for number, state in enumerate(ReviewState)}
_BY_NUMBER = tuple(ReviewState)


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """C of one channel, and how it came about."""

    channel: Channel
    legal: int
    """|L|"""
    typed: int
    """|T|"""
    fallback: bool
    mask: Mask
    """C, by row."""


class Facts:
    """What the rules read of each entry, in columns of one value an entry."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._polarity = Column(np.int8)
        self._reflective = Column(np.bool_)
        self._type = Column(np.int8)
        self._state = Column(np.int8)
        self._position = Column(np.int64)
        self._run, self._runs = Column(np.int32), Words()
        self._source, self._sources = Column(np.int32), Words()
        self._database, self._databases = Column(np.int32), Words()

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, memory: str) -> int | None:
        """The entry's row, None where it is unknown."""
        return self._rows.get(memory)

    def append(self, entry: MemoryEntry, state: ReviewState) -> None:
        """Take down the next entry's facts."""
        self._rows[entry.id] = len(self._rows)
        self._polarity.append(_POLARITIES[entry.polarity])
        self._reflective.append(bool(entry.reflections))
        self._type.append(_TYPES[entry.failure])
        self._state.append(_STATES[state])
        self._position.append(entry.provenance.position)
        self._run.append(self._runs.add(entry.provenance.run))
        self._source.append(self._sources.add(entry.source_key))
        self._database.append(self._databases.add(entry.context.database.casefold()))

    def set_state(self, row: int, state: ReviewState) -> None:
        """Apply a review decision."""
        self._state[row] = _STATES[state]

    def state(self, row: int) -> ReviewState:
        """The review state in force."""
        return _BY_NUMBER[int(self._state.values[row])]

    def legal(self, asking: Asking, policy: RetrievalPolicy) -> Mask:
        """L of both polarities: causality and review, and whose memories the strategy wants."""
        legal = self._reviewed(asking) & self._causal(asking)
        if policy.with_reflections:
            legal &= self._reflective.values
        if policy.databases in ("same", "other"):
            same = self.same_database(asking)
            legal &= same if policy.databases == "same" else ~same
        return legal

    def same_database(self, asking: Asking) -> Mask:
        """Entries learned on the asker's database."""
        same: Mask = self._database.values == self._databases.find(asking.database.casefold())
        return same

    def of_type(self, failure: FailureType) -> Mask:
        """Entries whose transformation started from this failure type."""
        match: Mask = self._type.values == _TYPES[failure]
        return match

    def candidates(
        self,
        channel: Channel,
        legal: Mask,
        failure: FailureType,
        policy: RetrievalPolicy,
        asking: Asking,
    ) -> Candidates:
        """C: the typed subset where the policy filters and enough memories have the type, else L."""
        legal = legal & self._of_polarities(channel.polarities)
        if channel.same_database:
            legal &= self.same_database(asking)
        typed = legal & self.of_type(failure)
        count = int(np.count_nonzero(typed))
        filters = channel.by_type and policy.filters(failure)
        narrowed = filters and count >= policy.type_threshold
        return Candidates(
            channel=channel,
            legal=int(np.count_nonzero(legal)),
            typed=count,
            fallback=filters and not narrowed,
            mask=typed if narrowed else legal,
        )

    def _of_polarities(self, polarities: frozenset[Polarity]) -> Mask:
        numbers = [_POLARITIES[polarity] for polarity in polarities]
        mask: Mask = np.isin(self._polarity.values, numbers)
        return mask

    def _reviewed(self, asking: Asking) -> Mask:
        state = self._state.values
        if asking.seen:
            state = state.copy()
            for memory, then in asking.seen.items():
                if (row := self._rows.get(memory)) is not None:
                    state[row] = _STATES[then]
        allowed: Mask = state == _STATES[ReviewState.APPROVED]
        if asking.include_pending:
            allowed |= state == _STATES[ReviewState.PENDING]
        return allowed

    def _causal(self, asking: Asking) -> Mask:
        own: Mask = self._run.values == self._runs.find(asking.run)
        library = ~own
        library[max(0, asking.library) :] = False
        own &= self._position.values < asking.position
        if asking.only is not None:
            own &= self._marked(asking.only)
        causal = own | library
        causal &= self._source.values != self._sources.find(asking.source_key)
        return causal

    def _marked(self, ids: Iterable[str]) -> Mask:
        marked = np.zeros(len(self), dtype=np.bool_)
        marked[[self._rows[memory] for memory in ids if memory in self._rows]] = True
        return marked
