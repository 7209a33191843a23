"""Three readers of one event stream that need no screen of their own: plain text, JSON, nothing."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable
from typing import TextIO

from core.run.events import AnyEvent, TokenDelta, to_json
from core.run.figures import Figures
from tui.view.plain import PlainView
from tui.view.run_view import RunView


async def show_plain(
    events: AsyncIterator[AnyEvent],
    out: TextIO | None = None,
    *,
    earlier: Iterable[AnyEvent] = (),
) -> Figures:
    """Lines for people, pipes and screen readers; returns what the run came to. `earlier` events
    of a run that goes on count, and are not told again."""
    view = PlainView(out or sys.stdout)
    for event in earlier:
        view.view.apply(event)
    async for event in events:
        view.show(event)
    return view.view.figures


async def show_json(
    events: AsyncIterator[AnyEvent],
    out: TextIO | None = None,
    *,
    earlier: Iterable[AnyEvent] = (),
) -> Figures:
    """The stored events, one JSON object a line, flushed as they happen."""
    out = out or sys.stdout
    view = RunView(keep=1)
    for event in earlier:
        view.apply(event)
    async for event in events:
        view.apply(event)
        if not isinstance(event, TokenDelta):
            out.write(to_json(event).decode() + "\n")
            out.flush()
    return view.figures
