"""Take a run as the recording that Merito brings along (`merito demo --recorded`), and what was chosen
from a pool of its candidates for the picture of Selection. Both without this machine's paths.

    python docs/pictures/record.py demo.jsonl.gz
    python docs/pictures/record.py RUN --store demo.sqlite --selections demo.sqlite
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from msgspec.structs import replace

from core.run.events import AnyEvent, RunStarted
from stores import recording
from stores.specs import Specs, specs_path
from tui.demo import RECORDED_RUN
from tui.replaying import opened

SELECTIONS = Path(__file__).with_name("selections.json")


@click.command(help=__doc__)
@click.argument("run", metavar="RUN|FILE")
@click.option("--store", type=click.Path(path_type=Path), default=Path("none"), help="Where RUN lies.")
@click.option("--selections", type=click.Path(path_type=Path), help="The store beside which they lie.")
def main(run: str, store: Path, selections: Path | None) -> None:
    with opened(run, store) as take:
        count = recording.write(RECORDED_RUN, without_paths(take.events()))
    click.echo(f"{RECORDED_RUN}: {count} events, {RECORDED_RUN.stat().st_size:,} bytes")
    if selections is not None:
        with Specs(specs_path(selections), create=False, read_only=True) as specs:
            newest = specs.pools()[0].pool
            kept = [replace(each, pool=Path(newest).name) for each in specs.selections(newest)]
        SELECTIONS.write_bytes(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
        click.echo(f"{SELECTIONS}: {len(kept)} choices")


def without_paths(events: Iterator[AnyEvent]) -> Iterator[AnyEvent]:
    """The events, with nothing in them that says where their files lay."""
    for event in events:
        if isinstance(event, RunStarted):
            settings = replace(event.settings, dataset=Path(event.settings.dataset).name, root="")
            yield replace(event, settings=settings, model=replace(event.model, address=""))
        else:
            yield event


if __name__ == "__main__":
    main()
