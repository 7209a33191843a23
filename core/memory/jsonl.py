"""Memories as files of JSON lines, one a polarity (MERIT, appendix D; format 3).

A line is `{"entry": {...}, "reviews": [{...}, ...]}`: the entry with every decision about it, oldest
first, so that an entry that somebody rejected stays rejected wherever it travels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from core.errors import MeritoError
from core.memory.entry import FORMAT_VERSION, MemoryEntry, Polarity, ReviewDecision
from core.whole_file import whole_file

FILES = {
    Polarity.POSITIVE: "positives.jsonl",
    Polarity.NEGATIVE: "negatives.jsonl",
    Polarity.EXAMPLE: "examples.jsonl",
}

_FIELD = re.compile(r"(?P<what>.*?) - at `\$\.?(?P<field>[^`]*)`")
_MEND = "Export the memories again, or correct the line."


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """One line: an entry and the decisions about it, oldest first."""

    entry: MemoryEntry
    reviews: tuple[ReviewDecision, ...] = ()


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What files held, in their order."""

    memories: tuple[Reviewed, ...]
    duplicates: int
    """Lines whose id an earlier line had; the first one counts."""


def write(folder: Path, memories: Iterable[Reviewed]) -> dict[Polarity, int]:
    """Write the files into `folder`, replacing earlier ones, and say how many lines each has.

    A file is complete or not there. Raises MeritoError where the folder cannot be written.
    """
    lines: dict[Polarity, list[bytes]] = {polarity: [] for polarity in Polarity}
    for memory in memories:
        lines[memory.entry.polarity].append(to_line(memory) + b"\n")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for polarity, name in FILES.items():
            with whole_file(folder / name) as file:
                file.writelines(lines[polarity])
    except OSError as error:
        problem = f"Cannot write the memories to {folder}: {error.strerror or error}."
        raise MeritoError(problem, "Name a folder that can be written.") from error
    return {polarity: len(lines[polarity]) for polarity in Polarity}


def read(paths: Sequence[Path]) -> Imported:
    """The memories of files, or of folders that hold the files that `write` makes.

    Raises MeritoError that names file, line and field of the first mistake; nothing is taken from
    files with a mistake.
    """
    memories: dict[str, Reviewed] = {}
    duplicates = 0
    for path in _files(paths):
        for number, line in _lines(path):
            memory = from_line(line, f"{path}, line {number}")
            if memory.entry.id in memories:
                duplicates += 1
            else:
                memories[memory.entry.id] = memory
    return Imported(memories=tuple(memories.values()), duplicates=duplicates)


def read_some(paths: Sequence[Path]) -> Imported:
    """As `read`. Raises MeritoError also where there is no memory in any of the files: whoever asks
    for an import expects some."""
    imported = read(paths)
    if not imported.memories:
        named = ", ".join(str(path) for path in paths)
        raise MeritoError(f"There is no memory in {named}.", "Name a file that an export wrote.")
    return imported


def to_line(memory: Reviewed) -> bytes:
    """One line of JSON without its line break. Text that UTF-8 cannot hold is escaped."""
    plain = msgspec.to_builtins(memory)
    try:
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(plain, separators=(",", ":")).encode()


def from_line(line: bytes | str, where: str) -> Reviewed:
    """The memory of one line. Raises MeritoError that names `where` and the field at fault."""
    try:
        plain = json.loads(line if isinstance(line, str) else line.decode())
    except UnicodeDecodeError as error:
        problem = (
            f"{where}: this is not UTF-8 text (byte {error.start + 1} is 0x{line[error.start]:02x})."
        )
        raise MeritoError(
            problem, "Name a file that an export wrote, or convert it to UTF-8."
        ) from error
    except (ValueError, RecursionError) as error:
        raise MeritoError(f"{where}: this is not one line of JSON ({error}).", _MEND) from error
    _check_version(plain, where)
    try:
        memory = msgspec.convert(plain, Reviewed)
    except msgspec.ValidationError as error:
        _refuse(str(error), where)
    for index, decision in enumerate(memory.reviews):
        if decision.memory != memory.entry.id:
            problem = f"{where}: field reviews[{index}].memory is not the entry's id."
            raise MeritoError(problem, _MEND)
    return memory


def _check_version(plain: Any, where: str) -> None:
    entry = plain.get("entry") if isinstance(plain, dict) else None
    version = entry.get("version", FORMAT_VERSION) if isinstance(entry, dict) else FORMAT_VERSION
    if version != FORMAT_VERSION:
        problem = f"{where}: field entry.version is {version!r}; this program reads {FORMAT_VERSION}."
        raise MeritoError(problem, "Export the memories with the program that is to read them.")


def _refuse(message: str, where: str) -> NoReturn:
    match = _FIELD.match(message)
    what, field = (match["what"], match["field"]) if match else (message, "")
    missing = re.search(r"missing required field `([^`]+)`", what)
    if missing:
        field = f"{field}.{missing[1]}" if field else missing[1]
        what = "It is missing"
    named = f"field {field}: " if field else ""
    raise MeritoError(f"{where}: {named}{what[:1].lower()}{what[1:]}.", _MEND)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = [path / name for name in FILES.values() if (path / name).is_file()]
        if not found:
            problem = f"The folder {path} holds none of {', '.join(FILES.values())}."
            raise MeritoError(problem, "Name the files, or the folder that an export wrote.")
        yield from found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers from 1; empty ones are passed over."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.removeprefix(b"\xef\xbb\xbf").strip()
                if text:
                    yield number, text
    except OSError as error:
        problem = f"Cannot read {path}: {error.strerror or error}."
        raise MeritoError(problem, "Name a file that an export wrote.") from error
