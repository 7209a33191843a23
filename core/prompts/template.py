"""Prompt templates: text files with named slots, each with a version id, replaceable by a folder.

A template file is UTF-8. Its first line reads `version: <id>`; the rest is the text. `{name}` is a
slot, `{{` and `}}` are braces. A paragraph (lines between blank lines) whose slots are all empty is
left out, so a block for evidence shows only where there is evidence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.errors import MeritoError, UsageMistake

BUILT_IN = Path(__file__).parent / "templates"

_VERSION = re.compile(r"version:[ \t]*(?P<id>[^\s{}]+)[ \t]*\Z")
_BRACE = re.compile(r"\{\{|\}\}|\{(?P<slot>[a-z_]+)\}|[{}]")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")
_CHAT_TOKEN = re.compile(r"<\|(?=[\w-]{1,40}\|>)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Form(msgspec.Struct, frozen=True):
    """The slots of a template: those that it must have, and those that it may have."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()


def _form(required: str, optional: str = "") -> Form:
    return Form(frozenset(required.split()), frozenset(optional.split()))


_EPISODE_OPTIONAL = "version evidence remark hints"

FORMS: dict[str, Form] = {
    # Whole prompts.
    "initial": _form("schema question", "version evidence"),
    "repair": _form(
        "experience status failure message schema question attempts", f"{_EPISODE_OPTIONAL} reflections"
    ),
    "turn": _form("status failure message", f"{_EPISODE_OPTIONAL} experience reflections"),
    "notes": _form("facts lessons", "version values remarks examples"),
    "reflection": _form("schema question failure attempts", "version evidence"),
    # The block of memories, by what the strategy remembers.
    "experience-dual": _form("positives negatives"),
    "experience-mixed": _form("memories"),
    "experience-reflections": _form("reflections"),
    # One entry of a list.
    "positive": _form("id failure context transition delta", "number question database"),
    "negative": _form("id failure context delta outcome message", "number question database"),
    "mixed": _form("id context transition outcome", "number failure delta message question database"),
    "earlier-reflection": _form("reflection", "number id question outcome failure database"),
    "attempt": _form("number sql", "status failure message remark"),
    "attempt-outcome": _form("number sql status message", "failure remark"),
    "lesson-positive": _form("delta", "where question failure trouble sql"),
    "lesson-negative": _form("delta", "where question failure trouble sql"),
    "example": _form("question sql", "number"),
}
"""Every template there is, by the name of its file without `.txt`."""


class Template(msgspec.Struct, frozen=True):
    """A parsed template; each paragraph is a run of literal texts and slots."""

    version: str
    digest: str
    """First 8 hex digits of the SHA-256 of the file's text: an edit shows even where the version
    was left as it was."""
    paragraphs: tuple[tuple[tuple[bool, str], ...], ...]
    """Pieces as (is a slot, its name or the literal text)."""

    @property
    def id(self) -> str:
        """What is stored with every call."""
        return f"{self.version}@{self.digest}"

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with its slots filled. Values are inserted as they are and never read as
        templates; a slot without a value is empty."""
        return "\n\n".join(
            "".join(values.get(text, "") if is_slot else text for is_slot, text in paragraph).rstrip()
            for paragraph in self.paragraphs
            if _shows(paragraph, values)
        )


class Templates:
    """All templates of a run."""

    def __init__(self, by_name: Mapping[str, Template]) -> None:
        self._by_name = dict(by_name)

    def __getitem__(self, name: str) -> Template:
        return self._by_name[name]

    @classmethod
    def load(cls, folder: Path | None = None) -> Templates:
        """The built-in templates, each replaced by the file of the same name in `folder`.

        Raises MeritoError, naming file and slot, for a folder that is missing, a file that is no
        template's, that is not UTF-8, that has no version, or whose slots or braces are wrong.
        """
        files = {name: BUILT_IN / f"{name}.txt" for name in FORMS}
        if folder is not None:
            files |= _own_files(folder)
        return cls({name: read_template(name, file) for name, file in files.items()})

    @property
    def versions(self) -> dict[str, str]:
        """The id of every template, by name."""
        return {name: template.id for name, template in self._by_name.items()}

    @property
    def digest(self) -> str:
        """One short id for the whole set: 12 hex digits."""
        every = "\n".join(f"{name} {id_}" for name, id_ in sorted(self.versions.items()))
        return hashlib.sha256(every.encode()).hexdigest()[:12]


def read_template(name: str, file: Path, form: Form | None = None) -> Template:
    """Read and check one template file, against the form of its name unless one is given.
    Raises MeritoError."""
    text = _text(file)
    first, _, body = text.partition("\n")
    version = _VERSION.match(first)
    if version is None:
        raise MeritoError(
            f"{file}: the first line has no version.",
            f"Begin the file with a line like: version: my-{name}-1",
        )
    paragraphs = tuple(
        tuple(_pieces(file, paragraph))
        for paragraph in _PARAGRAPHS.split(body.strip())
        if paragraph.strip()
    )
    _check_slots(
        file, form or FORMS[name], {text for each in paragraphs for slot, text in each if slot}
    )
    return Template(version["id"], hashlib.sha256(text.encode()).hexdigest()[:8], paragraphs)


def plain(value: str) -> str:
    """A value that is safe to show a model: the markers that a chat template would obey are
    broken, and control characters and half characters, which no engine's protocol carries, are
    replaced."""
    value = _CHAT_TOKEN.sub("< |", value)
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub(" ", value))


def _shows(paragraph: tuple[tuple[bool, str], ...], values: Mapping[str, str]) -> bool:
    slots = [text for is_slot, text in paragraph if is_slot]
    return not slots or any(values.get(slot, "") for slot in slots)


def _own_files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise UsageMistake(f"There is no folder of prompts at {folder}.", "Name an existing folder.")
    own = {file.stem: file for file in sorted(folder.glob("*.txt"))}
    for name, file in own.items():
        if name not in FORMS:
            raise MeritoError(
                f"{file} is no prompt's file.",
                f"Name it after one of: {', '.join(FORMS)}; or move it away.",
            )
    return own


def _text(file: Path) -> str:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MeritoError(
            f"{file} is not UTF-8 (byte {error.start}).", "Save the file with the encoding UTF-8."
        ) from None
    except OSError as error:
        raise MeritoError(f"{file} cannot be read: {error.strerror}.", "Mend or remove it.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _pieces(file: Path, text: str) -> list[tuple[bool, str]]:
    pieces: list[tuple[bool, str]] = []
    position = 0
    for brace in _BRACE.finditer(text):
        pieces.append((False, text[position : brace.start()]))
        position = brace.end()
        if brace["slot"]:
            pieces.append((True, brace["slot"]))
        elif brace[0] in ("{{", "}}"):
            pieces.append((False, brace[0][0]))
        else:
            near = text[brace.start() : brace.start() + 20].split("\n")[0]
            raise MeritoError(
                f"{file}: a brace stands alone, or around what is no slot's name, at “{near}”.",
                "A slot reads {name}, in small letters; for a brace itself write {{ or }}.",
            )
    pieces.append((False, text[position:]))
    return [piece for piece in pieces if piece[1]]


def _check_slots(file: Path, form: Form, slots: set[str]) -> None:
    known = form.required | form.optional
    for slot in sorted(slots - known):
        raise MeritoError(
            f"{file}: there is no slot {{{slot}}} in this prompt.",
            f"Its slots are: {', '.join(f'{{{each}}}' for each in sorted(known))}.",
        )
    for slot in sorted(form.required - slots):
        raise MeritoError(
            f"{file}: the slot {{{slot}}} is missing.", f"Put {{{slot}}} where it belongs."
        )
