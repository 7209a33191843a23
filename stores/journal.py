"""The store's own log: what happened to the library outside any run, as events of the run ''."""

from __future__ import annotations

import msgspec

from core.memory.entry import MemoryEntry, ReviewDecision
from core.run.events import AnyEvent, Event, to_json

LIBRARY = ""
"""The run under which the library's own events are numbered."""


class EntryImported(Event, tag="entry_imported", frozen=True, kw_only=True):
    """An entry came from a file."""

    entry: MemoryEntry
    reviews: tuple[ReviewDecision, ...] = ()
    """What people had decided about it elsewhere, oldest first."""


class EntryReviewed(Event, tag="entry_reviewed", frozen=True, kw_only=True):
    """A person decided about an entry."""

    decision: ReviewDecision


StoredEvent = AnyEvent | EntryImported | EntryReviewed

_decoder = msgspec.json.Decoder(StoredEvent)


def encode(event: Event) -> str:
    """The event as the store keeps it."""
    return to_json(event).decode()


def decode(body: str | bytes) -> StoredEvent:
    """The event that `encode` wrote. Raises msgspec.ValidationError on anything else."""
    return _decoder.decode(body)


def kind(event: Event) -> str:
    """The event's name as it is stored."""
    return str(event.__struct_config__.tag)
