"""`merito bench pool`: the candidates that a run has drawn, as a pool file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.wording import counted
from tui import options

if TYPE_CHECKING:
    from stores.store import Store


@click.command(
    "pool",
    epilog="""\b
Example:
  merito run spider/ --strategy none --initial select --selector majority --seed 42 --plain
  merito bench pool last pool-42.jsonl
  merito bench select pool-42.jsonl --root spider""",
)
@click.argument("run")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@options.store
def command(run: str, file: Path, store: Path | None) -> int:
    """Write the candidates that RUN (an id, its beginning, or "last") has drawn into FILE, one
    question a line, with gold SQL where the data set is at hand.

    Pools of several seeds are what 'merito bench select' takes for repeats.
    """
    import json

    from core.errors import MeritoError
    from core.whole_file import whole_file
    from stores.store import Store
    from tui import settings

    path = settings.store_path(None if store is None else str(store))
    with Store.open(path, mode="read") as opened, opened.snapshot():
        name = opened.run(run).id
        lines = list(_questions(opened, name))
    if not lines:
        raise MeritoError(
            f"The run {name} has drawn no candidates.",
            "Draw some: merito run STREAM --strategy none --initial select --selector majority.",
        )
    with whole_file(file) as written:
        for line in lines:
            written.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    judged = sum(bool(line["gold_sql"]) for line in lines)
    click.echo(f"{counted(len(lines), 'question')}, {judged:,} of them with gold: {file}")
    return 0


def _questions(opened: Store, run: str) -> Iterator[dict[str, Any]]:
    """The lines of the pool, in the stream's order."""
    from core.run.events import CandidatesSelected, EpisodeStarted, RunStarted
    from tui.experiments.reporting import right_sql

    golds: dict[str, str] = {}
    asked: dict[int, EpisodeStarted] = {}
    drawn: dict[int, CandidatesSelected] = {}
    for event in opened.events(run):
        match event:
            case RunStarted():
                golds = right_sql(event.settings.dataset, event.settings.root)
            case EpisodeStarted():
                asked[event.position] = event
            case CandidatesSelected():
                drawn[event.position] = event
            case _:
                pass
    for position, selected in sorted(drawn.items()):
        question = asked[position].question
        yield {
            "question_id": question.id,
            "db_id": question.database,
            "question": question.text,
            "evidence": question.evidence,
            "gold_sql": golds.get(question.id, ""),
            "candidates": [
                {"source": each.source, "sql": each.sql} for each in selected.candidates.executed
            ],
        }
