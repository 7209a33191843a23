"""Commands as they are told to a user: typed as they stand, they work."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from tui import settings

NAME = "merito"


def program() -> str:
    """How this program is called: by its name where the shell finds it, else by the path that it was
    started by."""
    started = Path(sys.argv[0])
    if shutil.which(NAME) or started.name != NAME or not started.is_file():
        return NAME
    return shlex.quote(sys.argv[0])


def typed(*words: str, store: Path | None = None) -> str:
    """The command line of these words; with the `store` named, unless a shell with no settings of its
    own finds it."""
    named = () if store is None or _found_unnamed(store) else ("--store", str(store.resolve()))
    return f"{program()} {shlex.join((*words, *named))}"


def _found_unnamed(store: Path) -> bool:
    wanted = store.resolve()
    return wanted == settings.default_store().resolve() == settings.store_path().resolve()
