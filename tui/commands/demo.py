"""`merito demo`: a short real run on the sample databases."""

from __future__ import annotations

from typing import Any

import click

from tui import options


@click.command("demo")
@options.running
def command(**asked: Any) -> int:
    """Watch a small local model fail on a real database, be repaired, and a later question profit
    from what was learned. Nothing is canned: the model answers while you watch.

    In a terminal the console opens; with --plain the run is told line by line and ends by itself.

    \b
    Examples:
      merito demo
      merito demo --plain --strategy merit
    """
    from tui.demo import order, words_before
    from tui.running import perform

    if asked["plain"]:
        for line in words_before():
            click.echo(line)
    return perform(
        order(options.common(asked)), resume=None, plain=asked["plain"], as_json=asked["as_json"]
    )
