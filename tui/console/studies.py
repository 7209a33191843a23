"""Stored runs as the Experiments room has them: in groups that can be compared, each event read once,
what was computed kept for as long as no event is added. Nothing here blocks the interface."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, TypeVar

import msgspec

from core.run.events import EpisodeOutcome
from core.run.figures import Figures
from tui.console.archive import Archive, StoredRun

if TYPE_CHECKING:
    from core.experiments.metrics import Reading, RunMetrics
    from core.experiments.pairing import Pairing
    from core.experiments.report import Curve, Report

FRESH = 120.0
"""Seconds without an event after which a run is no longer taken for one of several that a process
works on side by side; the one that it wrote last goes on for as long as the process does."""
_KEPT_READINGS, _KEPT_RESULTS = 64, 8
_EVENTS_AT_ONCE = 2_000
"""Events that are taken in before the interface gets its turn."""

V = TypeVar("V")
Key = tuple[tuple[str, int], ...]
"""Runs with the number of the last event of each."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that answer the same questions with the same model: an experiment, or as good as one."""

    key: str
    experiment: str
    """The experiment's id; empty where the runs were started one by one."""
    runs: tuple[StoredRun, ...]
    """By strategy, layout and order; the newest first of those that are alike."""

    @property
    def compared(self) -> tuple[str, ...]:
        """Ids of the runs to compare: of those that are alike, the newest."""
        newest = {alike(run): run.id for run in reversed(self.runs)}
        return tuple(newest.values())[::-1]

    @property
    def finished(self) -> int:
        """Questions that are final, in all runs."""
        return sum(run.finished for run in self.runs)

    @property
    def questions(self) -> int:
        """Questions of all runs."""
        return sum(run.questions for run in self.runs)


def alike(run: StoredRun) -> tuple[str, str, str]:
    """What tells a run from others of its group: strategy, layout, order."""
    settings = run.settings
    if settings is None:
        return run.about, "", ""
    order = "file" if settings.order_seed is None else str(settings.order_seed)
    return settings.strategy, settings.layout, order


def run_label(run: StoredRun, group: Group) -> str:
    """What a run is called among those of its group: its strategy, and what others differ in."""
    strategy, layout, order = alike(run)
    others = [alike(each) for each in group.runs]
    words = [strategy]
    if len({each[1] for each in others if each[0] == strategy}) > 1:
        words.append(layout)
    if len({each[2] for each in others}) > 1:
        words.append("file's order" if order == "file" else f"order {order}")
    if others.count(alike(run)) > 1:
        words.append(run.id if run.id.count("-") < 2 else run.id.rsplit("-", 1)[-1])
    return ", ".join(words)


def going_on(runs: Sequence[StoredRun], written: bool, now: float) -> frozenset[str]:
    """The runs that somebody works on: none where nobody records runs in the store; else the last
    that was written, and those beside it that had an event lately."""
    if not written or not runs:
        return frozenset()
    last = max(runs, key=lambda run: run.last_at)
    lively = (run for run in runs if run is last or now - run.last_at < FRESH)
    return frozenset(run.id for run in lively if not run.ended)


def accuracy(run: StoredRun) -> float | None:
    """Share of the judged questions that are right; None where none is."""
    figures = Figures()
    figures.outcomes.update({EpisodeOutcome(name): count for name, count in run.outcomes.items()})
    return figures.accuracy_now


def seconds_left(runs: Sequence[StoredRun], going: Set[str]) -> float | None:
    """How long the questions of the runs that go on (`going`) will take; None where none does, or
    before the first question is final."""
    from core.experiments.design import Pace

    pace = Pace()
    for run in runs:
        pace.finished(alike(run)[0], run.seconds, run.finished)
    open_ones = [run for run in runs if run.id in going]
    left = [pace.left({alike(run)[0]: run.questions - run.finished}) for run in open_ones]
    # Each run's pace is that of the clock: runs side by side have slowed each other down already.
    return max((seconds for seconds in left if seconds is not None), default=None)


def grouped(runs: Sequence[StoredRun]) -> list[Group]:
    """The runs in groups, the group with the newest run first."""
    found: dict[str, list[StoredRun]] = {}
    for run in sorted(runs, key=lambda run: (-run.began, run.id)):
        found.setdefault(_group_key(run), []).append(run)
    return [
        Group(key=key, experiment=_experiment(members[0].id), runs=tuple(sorted(members, key=alike)))
        for key, members in found.items()
    ]


def _experiment(run: str) -> str:
    """The id of the experiment that a run is a cell of (`core.experiments.design`); else nothing."""
    head, _, rest = run.partition("-")
    digits = head[1:]
    cell = bool(rest) and len(digits) == 8 and all(each in "0123456789abcdef" for each in digits)
    return head if cell and head.startswith("x") else ""


def _group_key(run: StoredRun) -> str:
    if experiment := _experiment(run.id):
        return experiment
    settings = run.settings
    if settings is None:
        return run.id
    parts = (
        settings.dataset, settings.root, settings.limit, settings.seed, settings.budget,
        settings.regime, settings.protocol, settings.memory, run.model, run.questions,
    )  # fmt: skip
    return "\x1f".join(map(str, parts))


class Studies:
    """The runs of an archive, read and compared."""

    def __init__(self, archive: Archive) -> None:
        self.runs: dict[str, StoredRun] = {}
        self.going: frozenset[str] = frozenset()
        """Those that somebody works on."""
        self.loaded = False
        self.report_seconds = 0.0
        """What the last report took to compute."""
        self._archive = archive
        self._readings: OrderedDict[str, Reading] = OrderedDict()
        self._metrics: dict[str, tuple[int, RunMetrics]] = {}
        self._reports: OrderedDict[Key, Report] = OrderedDict()
        self._pairings: OrderedDict[Key, Pairing] = OrderedDict()
        self._reading = asyncio.Lock()

    async def poll(self) -> bool:
        """Look for new runs, new events, and who works on which; True where anything is new."""
        known = {run.id: run.last_seq for run in self.runs.values()}
        # Asked first: the last events of a writer that has gone are then among those that moved.
        written = await self._archive.written()
        moved = await self._archive.moved(known)
        self.runs |= {run.id: run for run in moved}
        before, self.going = self.going, going_on(list(self.runs.values()), written, time.time())
        self.loaded = True
        return bool(moved) or self.going != before

    def groups(self) -> list[Group]:
        """The runs in groups."""
        return grouped(list(self.runs.values()))

    def key(self, ids: Sequence[str]) -> Key:
        """Changes as soon as one of the runs has another event."""
        return tuple((run, self.runs[run].last_seq) for run in ids if run in self.runs)

    async def metrics(self, ids: Sequence[str]) -> list[RunMetrics]:
        """The runs as far as they are; only new events are read."""
        async with self._reading:
            return [await self._read(run) for run in ids if run in self.runs]

    async def curves(self, ids: Sequence[str]) -> tuple[Curve, ...]:
        """Accuracy along the stream, one curve an arm, in the sequence of the papers' tables."""
        from core.experiments.report import curves_of, ordered_arms

        return curves_of(ordered_arms(await self.metrics(ids), {}))

    def known_report(self, ids: Sequence[str]) -> Report | None:
        """The report of these runs as they are now, where it has been computed."""
        return self._reports.get(self.key(ids))

    async def report(self, ids: Sequence[str], title: str) -> Report:
        """The papers' tables of these runs, computed beside the interface."""
        from tui.experiments.reporting import reported

        key, metrics = self.key(ids), await self.metrics(ids)
        began = time.perf_counter()
        report = await asyncio.to_thread(reported, metrics, title)
        self.report_seconds = time.perf_counter() - began
        _keep(self._reports, key, report)
        return report

    async def pairing(self, first: str, second: str) -> Pairing:
        """Two runs question by question."""
        from core.experiments.pairing import pairing_of
        from tui.experiments.reporting import golds_of

        key = self.key([first, second])
        known = self._pairings.get(key)
        if known is not None:
            return known
        one, other = await self.metrics([first, second])
        golds = await asyncio.to_thread(golds_of, [one, other])
        pairing = await asyncio.to_thread(pairing_of, one, other, golds)
        _keep(self._pairings, key, pairing)
        return pairing

    async def _read(self, run: str) -> RunMetrics:
        from core.experiments.metrics import Reading

        reading = self._readings.setdefault(run, Reading())
        self._readings.move_to_end(run)
        known = self._metrics.get(run)
        if known is not None and known[0] >= self.runs[run].last_seq:
            return known[1]
        events = await self._archive.events(run, reading.seq)
        for start in range(0, len(events), _EVENTS_AT_ONCE):
            for event in events[start : start + _EVENTS_AT_ONCE]:
                reading.apply(event)
            await asyncio.sleep(0)
        metrics = reading.metrics()
        self._metrics[run] = reading.seq, metrics
        while len(self._readings) > _KEPT_READINGS:
            dropped, _ = self._readings.popitem(last=False)
            self._metrics.pop(dropped, None)
        return metrics


def _keep(kept: OrderedDict[Key, V], key: Key, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > _KEPT_RESULTS:
        kept.popitem(last=False)
