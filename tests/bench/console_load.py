"""The console under a load of events, as a program of its own: `python -m tests.bench.console_load
MODE OUT` writes what it measured to OUT as JSON. It needs a terminal."""

from __future__ import annotations

import asyncio
import itertools
import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import psutil

from core.memory.entry import MemoryEntry
from core.run.events import AnyEvent, EpisodeEnded, RunStarted
from tests.streams import EPOCH, MODEL, PLANS, episode_events, question, settings
from tui.console.app import MeritoApp

QUESTIONS = 10_000
RATE = 200
SECONDS = 20
TOTAL = 100_000


def endless(deltas: bool) -> Iterator[AnyEvent]:
    """A run of 10,000 questions, its episodes made as they are asked for; after the last it begins
    again, so that there are always enough events."""
    stream = tuple(question(position) for position in range(QUESTIONS))
    yield RunStarted(run="load", seq=1, at=EPOCH, settings=settings(), model=MODEL, questions=stream)
    known: list[MemoryEntry] = []
    for count in itertools.count():
        position = count % QUESTIONS
        outcome, repairs = PLANS[position % len(PLANS)]
        episode = episode_events(position, outcome, repairs, run="load", known=known, deltas=deltas)
        yield from episode
        last = episode[-1]
        if isinstance(last, EpisodeEnded) and last.memory is not None:
            known = [*known[-8:], last.memory]


class Measured(MeritoApp):
    """Notes when what an event changed was painted."""

    def __init__(self, source: AsyncIterator[AnyEvent]) -> None:
        super().__init__(events=source)
        self.heard: list[float] = []
        self.latencies: list[float] = []

    def _paint(self) -> None:
        heard, self.heard = self.heard, []
        super()._paint()
        self.call_after_refresh(self._painted_now, heard)

    def _painted_now(self, heard: list[float]) -> None:
        now = time.perf_counter()
        self.latencies += [now - then for then in heard]


async def paced(app: list[Measured], figures: dict[str, float]) -> AsyncIterator[AnyEvent]:
    """200 events a second for some seconds, then the end. CPU is taken between the two, and what
    making the events took is taken off."""
    events = endless(deltas=True)
    made = 0.0
    yield next(events)
    await asyncio.sleep(1.0)
    began, cpu = time.perf_counter(), time.process_time()
    for count in range(RATE * SECONDS):
        due = began + count / RATE
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        before = time.process_time()
        event = msgspec.structs.replace(next(events), at=EPOCH + count / RATE)
        made += time.process_time() - before
        app[0].heard.append(time.perf_counter())
        yield event
    took = time.perf_counter() - began
    figures["events_a_second"] = RATE * SECONDS / took
    figures["cpu_share"] = (time.process_time() - cpu - made) / took
    await asyncio.sleep(0.5)
    app[0].exit(0)


async def flood(app: list[Measured], figures: dict[str, float]) -> AsyncIterator[AnyEvent]:
    """100,000 events as fast as the console takes them; memory is read on the way."""
    process = psutil.Process()
    began = time.perf_counter()
    for count, event in enumerate(itertools.islice(endless(deltas=False), TOTAL)):
        yield event
        if count == TOTAL // 5:
            figures["resident_mib_early"] = process.memory_info().rss / 2**20
    figures["resident_mib_late"] = process.memory_info().rss / 2**20
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    figures["seconds"] = time.perf_counter() - began
    app[0].exit(0)


def main(mode: str, out: Path) -> None:
    """Measure one thing."""
    figures: dict[str, float] = {}
    app: list[Measured] = []
    source = {"paced": paced, "flood": flood}[mode](app, figures)
    app.append(Measured(source))
    app[0].run()
    latencies = sorted(app[0].latencies)
    if latencies:
        figures["paint_ms_median"] = 1_000 * latencies[len(latencies) // 2]
        figures["paint_ms_p95"] = 1_000 * latencies[int(len(latencies) * 0.95)]
    out.write_text(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
