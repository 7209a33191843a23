"""A run that is played again: from the store or from a file, at once or at a pace of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import UsageMistake
from core.redaction.redacting import Redaction
from core.run.events import AnyEvent
from stores import recording
from stores.recording import Recording
from stores.reel import StoredReel
from stores.store import Store
from tui.view.reel import Pages, Reel

LONGEST_PAUSE = 5.0
"""Seconds: nobody wants to watch the night between two sessions of a run."""

ENDINGS = (".jsonl", ".gz", ".json")
"""A name that ends so means a file, also where there is none."""


class Take:
    """A run to be played: its events by their place, and where they come from."""

    def __init__(self, run: str, reel: Reel, *, store: Store | None = None, redacted: bool = False):
        self.run = run
        self.reel = reel
        self.store = store
        """The store that it lies in, where it does, and its events are as stored."""
        self.redacted = redacted or getattr(reel, "redacted", False)
        """Literals, rows and remarks are replaced."""

    def events(self) -> Iterator[AnyEvent]:
        """All events in order. Raises MeritoError where they cannot be read."""
        return Pages(self.reel).between(0, len(self.reel))

    def hidden(self) -> Take:
        """The same run with its literals, rows and remarks replaced."""
        if self.redacted:
            return self
        return Take(self.run, RedactedReel(self), redacted=True)

    def export(self, path: Path) -> int:
        """Write a recording; returns the number of events. Raises MeritoError."""
        return recording.write(path, self.events(), redacted=self.redacted)


class RedactedReel:
    """A run's events, each redacted as it is read."""

    redacted = True

    def __init__(self, take: Take) -> None:
        self._reel = take.reel
        self._redaction = Redaction.of_run(take.events)

    def __len__(self) -> int:
        return len(self._reel)

    def read(self, start: int, stop: int) -> list[AnyEvent]:
        """A part of the run. Raises MeritoError where it cannot be read."""
        return [self._redaction.event(event) for event in self._reel.read(start, stop)]


@contextmanager
def opened(name: str, store: Path, *, redact: bool = False) -> Iterator[Take]:
    """The run that `name` means: a recorded file, or a run of the store by its id, the beginning of
    it, or "last". Raises MeritoError where there is none."""
    if means_file(name):
        with Recording.open(name) as recorded:
            take = Take(recorded.run, recorded, redacted=recorded.redacted)
            yield take.hidden() if redact else take
        return
    with _store(name, store) as open_store:
        reel = StoredReel(open_store, name)
        take = Take(reel.run, reel, store=open_store)
        yield take.hidden() if redact else take


@contextmanager
def shelved(take: Take) -> Iterator[Take]:
    """The same run in a store of its own, which is gone afterwards: its memories and its figures can be
    looked at, too. For runs that are small enough to be written before anybody sees them."""
    with TemporaryDirectory(prefix="merito-") as folder:
        path = Path(folder) / "recorded.sqlite"
        with Store.open(path, create=True) as store:
            store.append(list(take.events()))
        with Store.open(path, mode="read") as store:
            yield Take(take.run, StoredReel(store, take.run), store=store, redacted=take.redacted)


def means_file(name: str) -> bool:
    """Whether a name is that of a file and not of a stored run."""
    path = Path(name).expanduser()
    return path.is_file() or path.suffix in ENDINGS or path.name != name


def _store(name: str, path: Path) -> Store:
    if not path.exists():
        no_file = "" if name == "last" else f", and no file {name}"
        raise UsageMistake(
            f"There is no store at {path} yet, so there is no run to play{no_file}.",
            "Get one with: merito demo. Or look at one that is over: merito demo --recorded. A store "
            "elsewhere is named with --store.",
        )
    return Store.open(path, mode="read")


async def replayed(
    events: Iterable[AnyEvent], speed: float | None = None
) -> AsyncGenerator[AnyEvent, None]:
    """The events in order; with `speed`, as far apart as they were, `speed` times faster."""
    before: float | None = None
    for event in events:
        if speed is not None and before is not None:
            await asyncio.sleep(min(max(event.at - before, 0.0) / speed, LONGEST_PAUSE))
        before = event.at
        yield event
