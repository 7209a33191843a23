"""Where settings come from: flags, then MERITO_* variables, then merito.toml here, then the user's
own; each value remembers its source, so that `merito doctor` can print it."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from core.errors import MeritoError, UsageMistake


@dataclass(frozen=True)
class Setting:
    """One thing that can be set, documented where it is declared."""

    name: str
    default: Any
    about: str
    kind: type = str
    least: float | None = None
    most: float | None = None
    """The range of a number, both ends included."""


SETTINGS = (
    Setting("store", "", "The store's file; empty for the one in the user's data folder."),
    Setting("model", "", "embedded:1.5b, ollama:NAME, openai:URL#NAME; empty chooses automatically."),
    Setting("models", "", "Folder of model weights; empty for the user's cache folder."),
    Setting("encoder", "", "Sentence encoder by name or path; empty for the packaged MiniLM."),
    Setting("theme", "merito-dark", "The console's theme."),
    Setting("prompts", "", "Folder with prompt templates of your own."),
    Setting("strategy", "merito", "How 'ask', 'demo' and 'run' repair."),
    Setting("budget", 7, "K: the most repairs of one question.", int, 0, 64),
    Setting("deadline", 10.0, "Seconds that one statement may run in live use.", float, 0.01, 3600),
    Setting("parked", 8, "Questions that may wait for your word while the next begins.", int, 0, 999),
    Setting("who", "", "Your name, kept with what you judge and decide; empty for the login name."),
    Setting("ollama_host", "", "Address of the Ollama server; empty for its own default."),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}

KEYS = "keys"
"""The table of the console's keys: action name = key, or a list of keys."""


@dataclass(frozen=True)
class Value:
    """A setting's value and where it came from."""

    value: Any
    source: str


def person(flag: str | None = None) -> str:
    """Whose word it is: the flag, the setting, or the login name."""
    import getpass

    chosen = str(value("who", flag or None)).strip()
    if chosen:
        return chosen
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "operator"


def user_config() -> Path:
    """The user's own settings file."""
    return Path(platformdirs.user_config_dir("merito")) / "merito.toml"


def default_store() -> Path:
    """Where the store lives when nobody says otherwise."""
    return Path(platformdirs.user_data_dir("merito")) / "merito.sqlite"


def log_file() -> Path:
    """The log: native output, tracebacks, everything that must not reach the screen. Nowhere, where
    it cannot be written: nobody is kept from working for want of a log."""
    return log_place()[0]


def log_place() -> tuple[Path, str]:
    """The log, and why it is nowhere where it is."""
    path = Path(platformdirs.user_log_dir("merito")) / "merito.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a", encoding="utf-8").close()
    except OSError as error:
        return Path(os.devnull), f"{path} cannot be written: {error.strerror}."
    return path, ""


def log_words() -> str:
    """Where the details of a failure are, in a sentence."""
    path, trouble = log_place()
    return f"There is no log of the details: {trouble}" if trouble else f"The details are in {path}."


def resolve(name: str, flag: Any = None) -> Value:
    """The value of a setting. Raises MeritoError for a value or a file that makes no sense."""
    setting = BY_NAME[name]
    if flag is not None:
        return Value(flag, "flag")
    variable = f"MERITO_{name.upper()}"
    if os.environ.get(variable):
        return Value(_typed(setting, os.environ[variable], variable), f"${variable}")
    for path in (Path("merito.toml"), user_config()):
        table = _read(path)
        if name in table:
            return Value(_typed(setting, table[name], str(path)), str(path))
    return Value(setting.default, "default")


def value(name: str, flag: Any = None) -> Any:
    """The value alone."""
    return resolve(name, flag).value


def key_rows() -> dict[str, Value]:
    """The rows of [keys] by action name, those of the working folder before the user's own. Raises
    MeritoError for a file that makes no sense."""
    rows: dict[str, Value] = {}
    for path in (user_config(), Path("merito.toml")):
        table = _read(path).get(KEYS, {})
        if not isinstance(table, dict):
            raise UsageMistake(f"{path}: [{KEYS}] is no table.", f'Write: [{KEYS}] "run.pause" = "p"')
        rows |= {name: Value(keys, str(path)) for name, keys in _flat(table)}
    return rows


def _flat(table: dict[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    """TOML reads `run.pause` without quotes as a table in a table; both ways mean the action."""
    for name, inner in table.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{under}{name}.")
        else:
            yield f"{under}{name}", inner


def state_file() -> Path:
    """What the console keeps between two starts: the look and the choices of its screens."""
    return Path(platformdirs.user_state_dir("merito")) / "console.json"


def bookmarks_file() -> Path:
    """The bookmarks in replays: the reader's own, whatever store or file a run lies in."""
    return Path(platformdirs.user_data_dir("merito")) / "bookmarks.json"


def store_path(flag: str | None = None) -> Path:
    """The store's file after every source was asked."""
    chosen = value("store", flag)
    return Path(chosen).expanduser() if chosen else default_store()


def _typed(setting: Setting, raw: Any, source: str) -> Any:
    wrong = UsageMistake(
        f"{source}: {setting.name} = {raw!r} is not {_wanted(setting)}.", setting.about
    )
    try:
        if isinstance(raw, bool) or (setting.kind is str and not isinstance(raw, str)):
            raise ValueError
        typed = setting.kind(raw)
    except (TypeError, ValueError):
        raise wrong from None
    # Written so that nan, which no comparison holds for, is refused too.
    if setting.least is not None and not setting.least <= typed <= (setting.most or math.inf):
        raise wrong
    return typed


def _wanted(setting: Setting) -> str:
    if setting.least is None:
        return "text"
    kind = "a whole number" if setting.kind is int else "a number"
    return f"{kind} from {setting.least:g} to {setting.most:g}"


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as wrong:
        raise MeritoError(f"{path} cannot be read: {wrong.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise UsageMistake(f"{path} is not valid TOML: {wrong}.", "Mend or remove the file.") from None
    unknown = sorted(set(table) - {*BY_NAME, KEYS})
    if unknown:
        raise UsageMistake(
            f"{path}: there is no setting '{unknown[0]}'.",
            f"Settings: {', '.join(sorted(BY_NAME))}, and the table [{KEYS}].",
        )
    return table
