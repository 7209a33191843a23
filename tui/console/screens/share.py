"""Showing a run to others: a page or a recording, as it is or redacted, written where one works."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.console.ink import ACCENT, QUIET, TITLE, ink
from tui.replaying import Take

CHOICES = (
    ("p", "a page that any browser opens", ".html", False),
    ("P", "the same, redacted", "-redacted.html", True),
    ("r", "a recording for 'merito replay FILE'", ".jsonl.gz", False),
    ("R", "the same, redacted", "-redacted.jsonl.gz", True),
)
"""Key, words, ending of the file's name, whether it is redacted."""


class Share(ModalScreen[str | None]):
    """Asks what shall be written; gives the key, or None."""

    BINDINGS = [
        *(Binding(key, f"choose('{key}')", words, show=False) for key, words, _, _ in CHOICES),
        Binding("escape,q,ctrl+c", "leave", "leave", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        """The choices with their keys."""
        lines = [ink(("Show this run to others", TITLE)), ink("")]
        lines += [ink((key, f"{ACCENT} bold"), f"  {words}") for key, words, _, _ in CHOICES]
        where = f"Written to {Path.cwd().name or '/'}; nothing there is replaced. esc leaves."
        yield Static(Content("\n").join([*lines, ink(""), ink((where, QUIET))]), id="question")

    def action_choose(self, key: str) -> None:
        """Take the choice."""
        self.dismiss(key)

    def action_leave(self) -> None:
        """Write nothing."""
        self.dismiss(None)


def written(take: Take, key: str, folder: Path) -> Path:
    """Write what a key stands for into a new file; returns it. Raises MeritoError where that fails."""
    _, _, ending, redacted = next(choice for choice in CHOICES if choice[0] == key)
    path = _free(folder, take.run, ending)
    shown = take.hidden() if redacted else take
    if ending.endswith(".html"):
        from tui.pages.run_page import write_run_page

        write_run_page(shown, path)
    else:
        shown.export(path)
    return path


def _free(folder: Path, run: str, ending: str) -> Path:
    """A name that no file has. A run's id may come from somebody's file: it names no folder."""
    stem = "merito-" + "".join(c if c.isalnum() or c in "-_" else "_" for c in run)[:80]
    path, number = folder / f"{stem}{ending}", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{ending}"
    return path
