"""`merito console`: the operator console without a run of its own."""

from __future__ import annotations

from pathlib import Path

import click

from tui import options


@click.command("console")
@click.argument("run", required=False)
@options.store
@click.option("--read-only", is_flag=True, help="Look at everything, change nothing.")
@options.root
@options.person
@click.option("--theme", help="merito-dark, -light, -contrast, -projector, or one of Textual's.")
def command(
    run: str | None,
    store: Path | None,
    read_only: bool,
    root: Path | None,
    who: str | None,
    theme: str | None,
) -> int:
    """Open the console on the store: the newest run or RUN, the memories, and every run's replay.
    Under Ask, questions are put to the databases below --root, and to the sample databases.

    With no store yet, each screen says what to do next.

    \b
    Examples:
      merito console
      merito console --root databases/ --as ana
      merito console 20260901-1015 --read-only
    """
    import gc
    import os
    import sys

    from core.errors import UsageMistake
    from tui import settings

    served = "TEXTUAL_DRIVER" in os.environ
    if not served and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageMistake(
            "The console needs a terminal.",
            "In a pipe, use: merito replay RUN --plain, merito memory list.",
        )
    # Five hundred modules are imported before the first paint, and nothing of them is garbage.
    gc.disable()
    from tui.console.live import open_console

    path = settings.store_path(str(store) if store else None)
    return open_console(path, run, read_only=read_only, theme=theme, root=root, who=who)
