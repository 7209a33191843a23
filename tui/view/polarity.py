"""How each polarity of memory is told: one table for every face."""

from __future__ import annotations

import msgspec

from core.memory.entry import MemoryEntry, Polarity


class PolarityWords(msgspec.Struct, frozen=True, kw_only=True):
    """A sign for narrow places, and words for the others."""

    sign: str
    kind: str
    """What such a memory is called, with its article."""
    became: str
    """What the revised SQL turned out to be."""
    remembered: str
    """Stands between "remembers" and the change."""


POLARITY_WORDS: dict[Polarity, PolarityWords] = {
    Polarity.POSITIVE: PolarityWords(
        sign="+", kind="a positive memory", became="worked", remembered="that this worked"
    ),
    Polarity.NEGATIVE: PolarityWords(
        sign="-", kind="a negative memory", became="failed too", remembered="that this failed"
    ),
    Polarity.EXAMPLE: PolarityWords(
        sign="=", kind="an example", became="right at once", remembered="that this was right at once"
    ),
}


def change_of(entry: MemoryEntry) -> str:
    """What the entry changed, in its own words; both SQL texts where it has none."""
    texts = (entry.context.failed_sql, entry.revised_sql)
    return "; ".join(entry.delta) or " -> ".join(filter(None, texts))
