"""`merito replay`: a stored run again, with no model and no database."""

from __future__ import annotations

from pathlib import Path

import click

from tui import options


@click.command("replay")
@click.argument("run")
@click.option(
    "--speed",
    type=options.Finite(0.1, 1000),
    help="Keep the run's own pace, this many times faster. Without it: at once.",
)
@options.store
@options.plain
@options.as_json
def command(run: str, speed: float | None, store: Path | None, plain: bool, as_json: bool) -> int:
    """Play RUN again from the store: the same events, told by the same views.

    RUN may be the beginning of an id, or "last". In a terminal the console plays it; in a pipe, or
    with --plain, it is told in plain text.

    \b
    Examples:
      merito replay last --plain
      merito replay 20260901-1015 --speed 10
    """
    import asyncio
    import sys

    from stores.store import Store
    from tui import settings
    from tui.replaying import replayed
    from tui.running import DONE, told_again

    path = settings.store_path(str(store) if store else None)
    if not (plain or as_json) and sys.stdout.isatty() and sys.stdin.isatty():
        from tui.console.live import replay_in_console

        return replay_in_console(path, run, speed)
    with Store.open(path, mode="read") as opened:
        record = opened.run(run)
        asyncio.run(told_again(replayed(opened, record.id, speed), as_json))
    return DONE
