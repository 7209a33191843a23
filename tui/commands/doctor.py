"""`merito doctor`: what is installed, reachable and wrong, each with its mend."""

from __future__ import annotations

from pathlib import Path

import click

from tui import options


@click.command("doctor")
@options.store
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding.")
def command(store: Path | None, as_json: bool) -> int:
    """Check this machine, the settings, the models and the store.

    Exits with 1 where something is wrong that keeps Merito from working.

    \b
    Example:
      merito doctor --store team.sqlite
    """
    import json

    from tui.checkup import WRONG, findings
    from tui.view.wrapping import say

    bad = False
    for finding in findings(str(store) if store else None):
        bad |= finding.state == WRONG
        if as_json:
            click.echo(json.dumps(finding.as_json(), ensure_ascii=False))
            continue
        say(f"{finding.state:<6} {finding.what}: {finding.found}")
        if finding.mend:
            say(f"       mend: {finding.mend}")
    return 1 if bad else 0
