"""`merito demo`: a short real run on the sample databases."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

import click
from click.core import ParameterSource

from tui import options

RECORDED = "merito-demo.jsonl.gz"
"""What --record writes where no file is named."""
LINE = 78
"""Characters of a line of the words before."""


@click.command("demo")
@options.running
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=RECORDED,
    help=f"Record the run into a file that 'merito replay FILE' opens; default: {RECORDED}.",
)
@click.option(
    "--recorded",
    is_flag=True,
    help="Play a recording of such a run instead: no model is needed, nothing is computed.",
)
@click.option("--fresh", is_flag=True, help="Begin anew, also where an earlier one is unfinished.")
def command(record: Path | None, recorded: bool, fresh: bool, **asked: Any) -> int:
    """Watch a small local model fail on a real database, be repaired, and a later question profit
    from what was learned. Nothing is canned: the model answers while you watch, unless --recorded
    asks for a run of earlier.

    In a terminal the console opens; with --plain the run is told line by line and ends by itself.
    One that was interrupted goes on when the same is asked again.

    \b
    Examples:
      merito demo
      merito demo --plain --strategy merit
      merito demo --record demo.jsonl.gz
      merito demo --recorded
    """
    from tui.demo import WORDS_BEFORE, order, play_recorded, recording_of, watched
    from tui.view.wrapping import say

    if recorded:
        _alone(click.get_current_context())
        return play_recorded(plain=asked["plain"], as_json=asked["as_json"])
    if asked["plain"]:
        for line in (*wrap(WORDS_BEFORE, LINE), ""):
            say(line)
    with recording_of(record, told_aside=asked["as_json"]) as began:
        return watched(
            order(options.common(asked)),
            fresh=fresh,
            plain=asked["plain"],
            as_json=asked["as_json"],
            began=began,
        )


def _alone(context: click.Context) -> None:
    """Nothing that shapes a run fits a run that is over. Raises UsageMistake."""
    from core.errors import UsageMistake

    given = {
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name is not None
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }
    if wrong := sorted(given - {"--recorded", "--plain", "--json"}):
        raise UsageMistake(
            f"--recorded plays a run that is over, so {wrong[0]} changes nothing.",
            "Leave one of the two out.",
        )
