"""`merito replay`: a stored run again, with no model and no database; and to be shown to others."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.wording import counted
from tui import options

if TYPE_CHECKING:
    from tui.replaying import Take

FILE = click.Path(path_type=Path)


@click.command("replay")
@click.argument("run", metavar="RUN|FILE")
@click.option(
    "--speed",
    type=options.Finite(0.1, 1000),
    help="Keep the run's own pace, this many times faster. Without it: at once.",
)
@click.option("--export", type=FILE, help="Record it into a file that 'merito replay FILE' opens.")
@click.option("--html", type=FILE, help="Write its story as one page that any browser opens.")
@click.option(
    "--redact", is_flag=True, help="Replace literals, rows, values in questions, remarks, prompts."
)
@options.store
@options.plain
@options.as_json
def command(
    run: str,
    speed: float | None,
    export: Path | None,
    html: Path | None,
    redact: bool,
    store: Path | None,
    plain: bool,
    as_json: bool,
) -> int:
    """Play a run again: the same events, told by the same views.

    RUN is a stored run by its id, the beginning of it, or "last"; FILE is a recording that somebody
    made with --export or 'merito demo --record'. In a terminal the console plays it; in a pipe, or
    with --plain, it is told in plain text. With --export or --html it is written and not played.

    \b
    Examples:
      merito replay last --plain
      merito replay 20260901-1015 --speed 10
      merito replay last --html story.html --redact
      merito replay last --export story.jsonl.gz
      merito replay story.jsonl.gz
    """
    import asyncio

    from tui import settings
    from tui.replaying import opened, replayed
    from tui.running import DONE, told_again

    path = settings.store_path(str(store) if store else None)
    with opened(run, path, redact=redact) as take:
        if export or html:
            _write(take, export, html, as_json)
            return DONE
        if not (plain or as_json) and sys.stdout.isatty() and sys.stdin.isatty():
            from tui.console.live import replay_in_console

            return replay_in_console(take, speed)
        return asyncio.run(told_again(replayed(take.events(), speed), as_json))


def _write(take: Take, export: Path | None, html: Path | None, as_json: bool) -> None:
    """Write what was asked for, and say so in a line each."""
    from tui.memory_lines import say
    from tui.pages.run_page import write_run_page

    writers = (("recording", export, take.export), ("page", html, partial(write_run_page, take)))
    for kind, path, write in writers:
        if path is not None:
            written = {"file": str(path), "kind": kind, "run": take.run, "events": write(path)}
            say(written | {"redacted": take.redacted}, as_json, _words)


def _words(written: dict[str, Any]) -> str:
    hidden = ", redacted" if written["redacted"] else ""
    events = counted(written["events"], "event")
    return f"Wrote {written['file']}: a {written['kind']} of run {written['run']}, {events}{hidden}."
