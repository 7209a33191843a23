"""Bookmarks in stored runs. They are the reader's own and lie with the user's data, not in the store:
a run that is only read, or lies in a file that somebody sent, can be marked like any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from core.errors import MeritoError
from core.whole_file import whole_file

_PATIENCE = 2.0
"""Seconds that another console gets to finish writing."""
_MEND = "Move the file away; the next bookmark starts a new one."


class Bookmark(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a run."""

    place: int
    """Events before it, as a playback counts them."""
    name: str


Runs = dict[str, tuple[Bookmark, ...]]


class Bookmarks:
    """The bookmarks of all runs in one file; with no path they last as long as the console."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False) -> None:
        self.read_only = read_only
        self._path = path
        self._held: Runs = {}

    def of(self, run: str) -> tuple[Bookmark, ...]:
        """A run's bookmarks in the order of their places. Raises MeritoError where the file makes no
        sense."""
        return self._read().get(run, ())

    def put(self, run: str, bookmark: Bookmark) -> tuple[Bookmark, ...]:
        """Set a bookmark, or name the one at its place anew; gives the run's bookmarks. Raises
        MeritoError where they cannot be kept."""
        return self._changed(run, lambda held: (*_without(held, bookmark.place), bookmark))

    def remove(self, run: str, place: int) -> tuple[Bookmark, ...]:
        """Take the bookmark at a place away; gives the run's bookmarks. Raises MeritoError."""
        return self._changed(run, lambda held: _without(held, place))

    def _changed(
        self, run: str, change: Callable[[tuple[Bookmark, ...]], tuple[Bookmark, ...]]
    ) -> tuple[Bookmark, ...]:
        if self.read_only:
            raise MeritoError("No bookmark is kept: this console is read-only.")
        if self._path is None:
            return self._apply(run, change)
        from filelock import FileLock, Timeout

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._path.with_name(self._path.name + ".lock"), timeout=_PATIENCE):
                return self._apply(run, change)
        except Timeout:
            raise MeritoError(f"Another console keeps {self._path} locked.", "Try again.") from None
        except OSError as wrong:
            raise MeritoError(f"{self._path} cannot be written: {wrong.strerror}.") from None

    def _apply(
        self, run: str, change: Callable[[tuple[Bookmark, ...]], tuple[Bookmark, ...]]
    ) -> tuple[Bookmark, ...]:
        runs = self._read()
        runs[run] = tuple(sorted(change(runs.get(run, ())), key=lambda each: each.place))
        if not runs[run]:
            del runs[run]
        if self._path is not None:
            with whole_file(self._path) as file:
                file.write(msgspec.json.format(msgspec.json.encode(runs), indent=1))
        self._held = runs
        return runs.get(run, ())

    def _read(self) -> Runs:
        if self._path is None:
            return self._held
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Runs)
        except FileNotFoundError:
            return {}
        except OSError as wrong:
            raise MeritoError(
                f"The bookmarks cannot be read: {self._path}: {wrong.strerror}."
            ) from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise MeritoError(f"The bookmarks in {self._path} make no sense.", _MEND) from None


def _without(held: tuple[Bookmark, ...], place: int) -> tuple[Bookmark, ...]:
    return tuple(each for each in held if each.place != place)
