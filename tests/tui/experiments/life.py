"""The program in a process of its own that costs little to start: everything is imported before."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import core.models.openai
import core.selection.building
import tui.commands.specs
import tui.experiments.benching
import tui.selection.panel
import tui.selection.summing
from tui.main import run

READY = (
    core.models.openai,
    core.selection.building,
    tui.commands.specs,
    tui.experiments.benching,
    tui.selection.panel,
    tui.selection.summing,
)
"""What a life needs beyond the command line itself."""


def benched(command: list[str], output: str) -> None:
    """One life of the program; what it prints goes into a file."""
    with Path(output).open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
        run(command)
        sys.stdout.flush()
