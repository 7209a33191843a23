"""A recorded run as one file, to be shown and shared: a line of JSON an event, after a first line
that says what it is. With .gz at its name's end it is compressed.

Only what is asked for is in memory, however long the run. The lines are those of `merito run
--json`, so what that printed can be played too.
"""

from __future__ import annotations

import gzip
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, Self, cast

import msgspec

from core.errors import MeritoError
from core.run.events import AnyEvent, RunStarted, TokenDelta, from_json, to_json
from core.whole_file import whole_file

FORMAT = 1
_GZIP = b"\x1f\x8b"
_LARGEST = 4 * 2**30
"""Bytes that a compressed recording may unfold to: a few kilobytes can claim to be anything."""
NO_EVENT = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding a line of any file at all can raise."""
_MEND = "Record it again: merito replay RUN --export FILE."


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    recording: int
    """Version of the format."""
    version: str = ""
    """Of the program that wrote it."""
    redacted: bool = False
    """Literals, rows and remarks were replaced."""


def write(path: Path, events: Iterable[AnyEvent], *, redacted: bool = False) -> int:
    """Record a run's events into `path`, whole or not at all; returns how many there were. Raises
    MeritoError where the file cannot be written."""
    heading = Heading(recording=FORMAT, version=version("merito"), redacted=redacted)
    count = 0
    with whole_file(path) as file:
        lines = _compressing(file) if path.suffix == ".gz" else file
        lines.write(msgspec.json.encode(heading) + b"\n")
        for event in events:
            if not isinstance(event, TokenDelta):
                lines.write(to_json(event) + b"\n")
                count += 1
        if lines is not file:
            lines.close()
    return count


def _compressing(file: BinaryIO) -> BinaryIO:
    # No time and no name inside: the same run gives the same bytes.
    return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0))


class Recording:
    """An open recording. `read` gives events by their place; `events` all of them in order."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.heading = Heading(recording=FORMAT)
        self._file = file
        self._offsets = array("Q")
        self._first_line = 1
        self._find_lines()
        self.opening = self._opening()
        self._check_end()

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a recording and check its beginning and its end. Raises MeritoError where the file
        is missing, something else, cut short, or newer than this program."""
        path = Path(path).expanduser()
        try:
            file = path.open("rb")
        except OSError as wrong:
            raise MeritoError(
                f"The recording {path} cannot be read: {wrong.strerror}.", "Check the path."
            ) from None
        try:
            return cls(path, _unfolded(path, file))
        except BaseException:
            file.close()
            raise

    @property
    def run(self) -> str:
        """The run's id."""
        return self.opening.run

    @property
    def redacted(self) -> bool:
        """Whether literals, rows and remarks were replaced when it was written."""
        return self.heading.redacted

    def __len__(self) -> int:
        return len(self._offsets)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def events(self) -> Iterator[AnyEvent]:
        """Every event in order. Raises MeritoError that names the line with a mistake."""
        for place in range(len(self)):
            yield self._event(place)

    def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
        """The events from place `start` (0 is the first) up to, not including, `stop`. Raises
        MeritoError that names the line with a mistake."""
        return [self._event(place) for place in range(start, min(stop, len(self)))]

    def _find_lines(self) -> None:
        offset = 0
        for number, line in enumerate(self._file, start=1):
            if number == 1 and (heading := _heading(line)):
                self.heading, self._first_line = heading, 2
            elif line.strip():
                self._offsets.append(offset)
            offset += len(line)
        if self.heading.recording > FORMAT:
            raise MeritoError(
                f"The recording {self.path} has format {self.heading.recording}; this Merito reads"
                f" up to {FORMAT}.",
                "Update Merito.",
            )

    def _opening(self) -> RunStarted:
        try:
            first = self._decoded(0) if len(self) else None
        except NO_EVENT:
            first = None
        if not isinstance(first, RunStarted):
            raise MeritoError(
                f"{self.path} is no recorded run.",
                "'merito replay RUN --export FILE' and 'merito demo --record FILE' make one.",
            )
        return first

    def _check_end(self) -> None:
        try:
            self._decoded(len(self) - 1)
        except NO_EVENT:
            raise MeritoError(
                f"The recording {self.path} is cut short, or damaged at its end.", _MEND
            ) from None

    def _event(self, place: int) -> AnyEvent:
        try:
            event = self._decoded(place)
        except NO_EVENT as wrong:
            raise self._mistake(place, f"this is no event ({wrong})") from None
        if event.run != self.run or event.seq != place + 1:
            raise self._mistake(place, f"event {place + 1} of the run {self.run} should stand here")
        return event

    def _decoded(self, place: int) -> AnyEvent:
        self._file.seek(self._offsets[place])
        return from_json(self._file.readline())

    def _mistake(self, place: int, what: str) -> MeritoError:
        return MeritoError(f"{self.path}, line {place + self._first_line}: {what}.", _MEND)


def _heading(line: bytes) -> Heading | None:
    try:
        return msgspec.json.decode(line, type=Heading)
    except NO_EVENT:
        return None


def _unfolded(path: Path, file: BinaryIO) -> BinaryIO:
    """The file itself; a compressed one unfolded into a temporary file, where places can be gone to."""
    compressed = file.read(2) == _GZIP
    file.seek(0)
    if not compressed:
        return file
    with closing(file), gzip.open(file) as folded, ExitStack() as stack:
        plain = cast("BinaryIO", stack.enter_context(tempfile.TemporaryFile()))
        try:
            _copy(folded, plain, path)
        except (OSError, EOFError, zlib.error) as wrong:
            raise MeritoError(f"The recording {path} cannot be unfolded: {wrong}.", _MEND) from None
        plain.seek(0)
        stack.pop_all()
        return plain


def _copy(folded: gzip.GzipFile, plain: BinaryIO, path: Path) -> None:
    while chunk := folded.read(2**20):
        plain.write(chunk)
        if plain.tell() > _LARGEST:
            raise MeritoError(f"The recording {path} unfolds to more than {_LARGEST / 2**30:.0f} GiB.")
