"""`merito demo`: a short real run on the sample databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tui import options

RECORDED = "merito-demo.jsonl.gz"
"""What --record writes where no file is named."""


@click.command("demo")
@options.running
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=RECORDED,
    help=f"Record the run into a file that 'merito replay FILE' opens; default: {RECORDED}.",
)
def command(record: Path | None, **asked: Any) -> int:
    """Watch a small local model fail on a real database, be repaired, and a later question profit
    from what was learned. Nothing is canned: the model answers while you watch.

    In a terminal the console opens; with --plain the run is told line by line and ends by itself.

    \b
    Examples:
      merito demo
      merito demo --plain --strategy merit
      merito demo --record demo.jsonl.gz
    """
    from tui.demo import order, recorded, words_before
    from tui.running import perform

    if asked["plain"]:
        for line in words_before():
            click.echo(line)
    with recorded(record, told_aside=asked["as_json"]) as began:
        return perform(
            order(options.common(asked)),
            resume=None,
            plain=asked["plain"],
            as_json=asked["as_json"],
            began=began,
        )
