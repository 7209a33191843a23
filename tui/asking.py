"""One question, asked on the command line and judged there."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from core.database.files import DatabaseFolder, check_database
from core.errors import UsageMistake
from core.question import Question
from tui.order import Order
from tui.running import perform


def ask(order: Order, text: str, evidence: str, *, plain: bool, as_json: bool) -> int:
    """Put the question, show how it is answered, and let a person at a terminal judge it."""
    person = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    database, root = located(order.stream, order.root)
    question = Question(id="asked", database=database, text=asked_text(text), evidence=evidence.strip())
    ready = msgspec.structs.replace(
        order,
        # The file itself, so that a run that was put about a name goes on from any folder.
        stream=str(database_file(order.stream, order.root)),
        root=root,
        questions=(question,),
        regime=order.regime or ("operator" if person else "execution"),
    )
    return perform(ready, resume=None, plain=plain or person, as_json=as_json)


def asked_text(text: str) -> str:
    """A question as it can be stored. Raises MeritoError for an empty one."""
    if not text.strip():
        raise UsageMistake("The question is empty.", "Say what you want to know.")
    # A byte that is no UTF-8 reaches us as half a character, which nothing further on can hold.
    return text.encode("utf-8", "replace").decode("utf-8")


def located(database: str, root: Path | None) -> tuple[str, Path]:
    """The database's id and the folder that holds it, from a path or a name below the root. Raises
    MeritoError where there is none."""
    path = Path(database).expanduser()
    if root is not None and not path.is_file():
        check_database(DatabaseFolder(root).path(database))
        return database, root
    if not path.exists():
        raise UsageMistake(
            f"There is no database {path}.",
            "Name a SQLite file, or a database below a folder with --root.",
        )
    check_database(path)
    return path.stem, path.parent


def database_file(database: str, root: Path | None) -> Path:
    """The file that `located` means. Raises MeritoError where there is none."""
    path = Path(database).expanduser()
    return path if root is None or path.is_file() else DatabaseFolder(root).path(database)
