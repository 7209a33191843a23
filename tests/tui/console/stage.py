"""What the console's tests stand on: a library and an archive in memory, a run that waits where the
test wants it to, and waiting for conditions instead of sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from textual.pilot import Pilot
from textual.widgets import Static

from core.errors import MeritoError
from core.memory.duplicates import Transition, groups
from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState, first_state
from core.memory.staleness import fingerprint, seen
from core.run.control import Control
from core.run.events import AnyEvent, EpisodeEnded, JudgementAwaited, RunStarted
from core.run.figures import figures_of
from stores.entry_rows import EntryRow
from stores.library import Clash, Decided, EntryUsage
from tests.streams import run_events
from tui.console.app import MeritoApp
from tui.console.archive import StoredRun
from tui.console.memory_library import Page
from tui.console.screens.base import RoomScreen
from tui.console.widgets.paper import Paper
from tui.view.reel import Listed, Reel

SIZES = ((80, 24), (120, 40), (200, 60))


class Shelves:
    """A library in memory."""

    def __init__(self, events: Sequence[AnyEvent], *, read_only: bool = False) -> None:
        self.read_only = read_only
        self.decisions: list[ReviewDecision] = []
        self.failing = ""
        self.meaning: Sequence[str] | MeritoError = ()
        """What a search by meaning finds, or why there is none."""
        self.contradicted: dict[str, tuple[str, ...]] = {}
        self.exported: list[tuple[Path, Sequence[str]]] = []
        self._known: dict[str, EntryRow] = {}
        self._entries = [e.memory for e in events if isinstance(e, EpisodeEnded) and e.memory]

    async def entries(self) -> Sequence[EntryRow]:
        found = [self._shelved(entry, index) for index, entry in enumerate(self._entries)]
        self._known = {each.id: each for each in found}
        return found

    async def moved(self) -> Sequence[EntryRow]:
        before = self._known
        return [each for each in await self.entries() if before.get(each.id) != each]

    def _shelved(self, entry: MemoryEntry, index: int) -> EntryRow:
        made = [decision for decision in self.decisions if decision.memory == entry.id]
        return EntryRow(
            id=entry.id,
            polarity=entry.polarity,
            failure=entry.failure,
            database=entry.context.database,
            question=entry.context.question,
            run=entry.provenance.run,
            position=entry.provenance.position,
            confirmed=entry.confirmed,
            state=made[-1].state if made else first_state(entry),
            decisions=len(made),
            usage=EntryUsage(retrieved=index, right=index // 2),
        )

    async def page(self, memory: str) -> Page:
        entry = next(each for each in self._entries if each.id == memory)
        return Page(entry=entry, history=tuple(self.history(memory)))

    def history(self, memory: str) -> list[ReviewDecision]:
        return [decision for decision in self.decisions if decision.memory == memory]

    async def matching(self, words: str) -> frozenset[str]:
        wanted = words.casefold().split()
        texts = {e.id: str(msgspec.to_builtins(e)).casefold() for e in self._entries}
        return frozenset(i for i, text in texts.items() if all(word in text for word in wanted))

    async def alike(self, words: str, told: Callable[[str], None]) -> Sequence[str]:
        told("loading the encoder ...")
        if isinstance(self.meaning, MeritoError):
            raise self.meaning
        return self.meaning

    async def groups(self) -> Mapping[str, str]:
        return groups(
            Transition(e.id, e.polarity, e.failure, e.context.failed_sql, e.revised_sql)
            for e in self._entries
        )

    async def stale(self) -> Mapping[str, tuple[str, ...]]:
        return {
            memory: why
            for memory, why in self.contradicted.items()
            if not any(seen(each.remark) == fingerprint(why) for each in self.history(memory)[-1:])
        }

    async def decide(self, decisions: Sequence[ReviewDecision], known: Mapping[str, int]) -> Decided:
        if self.failing:
            raise MeritoError(self.failing, "Try again.")
        clashes = [
            Clash(wanted=each, theirs=self.history(each.memory)[-1])
            for each in decisions
            if len(self.history(each.memory)) > known[each.memory]
        ]
        held = {clash.wanted.memory for clash in clashes}
        kept = tuple(each for each in decisions if each.memory not in held)
        self.decisions += kept
        return Decided(kept=kept, clashes=tuple(clashes))

    async def write_out(self, folder: Path, memories: Sequence[str]) -> str:
        self.exported.append((folder, memories))
        return f"{len(memories)} in {folder}"

    async def take_in(self, paths: Sequence[Path]) -> str:
        if "nowhere" in str(paths[0]):
            raise MeritoError(f"There is no {paths[0]}.", "Check the path.")
        return f"1 new memory from {paths[0]}"

    async def close(self) -> None:
        """There is nothing to let go of."""

    def state(self, memory: str) -> ReviewState | None:
        found = [decision.state for decision in self.decisions if decision.memory == memory]
        return found[-1] if found else None


class Annals:
    """An archive in memory."""

    def __init__(self, *runs: Sequence[AnyEvent]) -> None:
        self._runs = {events[0].run: list(events) for events in runs}
        self.read: list[tuple[str, int]] = []
        """Which events were asked for: run, and after which number."""
        self.notice = ""
        self.writer = False
        """Whether somebody writes."""

    def add(self, events: Sequence[AnyEvent]) -> None:
        """More events of a run, or a new run."""
        self._runs.setdefault(events[0].run, []).extend(events)

    async def written(self) -> bool:
        return self.writer

    async def runs(self) -> Sequence[StoredRun]:
        return await self.moved({})

    async def moved(self, known: Mapping[str, int]) -> Sequence[StoredRun]:
        return [
            _stored(events) for run, events in self._runs.items() if events[-1].seq != known.get(run)
        ]

    async def events(self, run: str, after: int = 0) -> Sequence[AnyEvent]:
        self.read += [(run, after)]
        return [event for event in self._runs[run] if event.seq > after]

    async def reel(self, run: str) -> Reel:
        return Listed(self._runs[run])

    async def episode(self, run: str, position: int) -> Sequence[AnyEvent]:
        return [e for e in self._runs[run] if getattr(e, "position", None) == position]


def _stored(events: Sequence[AnyEvent]) -> StoredRun:
    figures, opening = figures_of(events), events[0]
    assert isinstance(opening, RunStarted)
    return StoredRun(
        id=opening.run,
        began=opening.at,
        about=f"{opening.settings.dataset} · {opening.settings.strategy}",
        questions=figures.questions,
        finished=figures.finished,
        ended=figures.ended,
        settings=opening.settings,
        model=opening.model.name,
        last_at=events[-1].at,
        last_seq=events[-1].seq,
        seconds=events[-1].at - opening.at,
        outcomes=dict(figures.outcomes),
    )


class Staged:
    """Events that come when the test lets them; a run in miniature that obeys its control."""

    def __init__(self, events: Sequence[AnyEvent], *, hold: int | None = None) -> None:
        self.events = events
        self.control = Control()
        self.let_go = asyncio.Event()
        self.judgements: list[Any] = []
        self.closed = False
        self._hold = hold

    async def __call__(self) -> AsyncIterator[AnyEvent]:
        try:
            for index, event in enumerate(self.events):
                if index == self._hold:
                    await self.let_go.wait()
                yield event
                if isinstance(event, JudgementAwaited):
                    judged = await self.control.judgement(event.position, event.attempt)
                    self.judgements.append(judged)
            if self._hold is not None and self._hold >= len(self.events):
                await self.let_go.wait()
        finally:
            self.closed = True


def console(events: Sequence[AnyEvent] | None = None, **options: Any) -> MeritoApp:
    """A console over these events as a run that has been read to its end."""
    events = run_events(8) if events is None else events
    staged = Staged(events, hold=options.pop("hold", None))
    options.setdefault("library", Shelves(events))
    if isinstance(events[0], RunStarted):
        options.setdefault("archive", Annals(events))
    app = MeritoApp(events=staged(), control=staged.control, who="ana", **options)
    app.staged = staged  # type: ignore[attr-defined]
    return app


async def until(pilot: Pilot[Any], condition: Callable[[], object], *, seconds: float = 60.0) -> None:
    """Let the console work until the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await pilot.pause(0.01)


async def settled(pilot: Pilot[Any]) -> None:
    """Let the console show everything that it has heard."""
    app = pilot.app
    assert isinstance(app, MeritoApp)
    await until(pilot, lambda: isinstance(app.screen_stack[0], RoomScreen))
    await until(pilot, lambda: not app._paint_due and not app._working)
    await pilot.pause()
    await pilot.pause()


def sheet(app: MeritoApp, name: str) -> str:
    """The text of a pane."""
    return app.screen_stack[0].query_one(f"#{name}", Paper).text


def on_screen(app: MeritoApp) -> str:
    """Everything that the terminal shows, as text."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def refusal(app: MeritoApp) -> str:
    """What the frame of a field says is wrong, however it is wrapped."""
    return str(app.screen.query_one("#refused", Static).content)


def notices(app: MeritoApp) -> list[str]:
    """Every notice there is."""
    return [notice.message for notice in app._notifications]


def replaced(event: AnyEvent, **fields: object) -> AnyEvent:
    """The event with other values."""
    return msgspec.structs.replace(event, **fields)
