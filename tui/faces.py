"""Two readers of one event stream that need no screen of their own: plain text and JSON."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable
from typing import TextIO

from core.run.events import AnyEvent, TokenDelta, to_json
from tui.view.plain import PlainView


async def show_plain(
    events: AsyncIterator[AnyEvent],
    out: TextIO | None = None,
    *,
    earlier: Iterable[AnyEvent] = (),
) -> None:
    """Lines for people, pipes and screen readers. `earlier` events of a run that goes on are known
    to the view, and not told again."""
    view = PlainView(out or sys.stdout)
    for event in earlier:
        view.view.apply(event)
    async for event in events:
        view.show(event)


async def show_json(events: AsyncIterator[AnyEvent], out: TextIO | None = None) -> None:
    """The stored events, one JSON object a line, flushed as they happen."""
    out = out or sys.stdout
    async for event in events:
        if not isinstance(event, TokenDelta):
            out.write(to_json(event).decode() + "\n")
            out.flush()
