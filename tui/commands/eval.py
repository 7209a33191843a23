"""`merito eval`: score predictions as Spider or BIRD do, and the answers of stored runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tui import options
from tui.interruption import run_whole

if TYPE_CHECKING:
    from core.datasets.predictions import Pair
    from core.feedback.evaluation import Decision, Pairing, Tally

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_INDEXES_SHOWN = 8
_LINE = 300


class _Settings(NamedTuple):
    dataset: str
    root: Path
    deadline: float
    keep_distinct: bool


_OF_FILES = ("dataset", "root", "gold", "pred")
"""What scoring files needs."""


@click.command(name="eval")
@click.option("--dataset", type=click.Choice(["spider", "bird"]), help="Whose rules and files.")
@click.option("--root", type=_FOLDER, help="Folder that holds the databases.")
@click.option("--gold", type=_FILE, help="Lines of SQL, tab, database id.")
@click.option(
    "--pred",
    type=_FILE,
    help="Spider: one SQL a line. BIRD: a JSON object of index to SQL, separator, database id.",
)
@click.option("--keep-distinct", is_flag=True, help="Spider: do not drop DISTINCT before comparing.")
@click.option(
    "--deadline",
    type=options.SECONDS,
    help="Seconds a query; for BIRD the prediction and gold together. Default: 30.",
)
@click.option(
    "--before",
    type=_FILE,
    help="Decisions on the same questions before they were reworded, as --json has printed them into a"
    " .jsonl file: adds the accuracy before, after, and the drop (Dr.Spider).",
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help='A run by its id, its beginning, or "last", the newest with gold; or the file of a recording.',
)
@click.option(
    "--experiment", "experiments", multiple=True, metavar="ID", help="All runs of an experiment."
)
@options.store
@click.option("--json", "as_json", is_flag=True, help="One JSON object a question, and one a run.")
def command(
    runs: tuple[str, ...],
    experiments: tuple[str, ...],
    root: Path | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Score predictions as Spider or BIRD do, in their own file formats; or judge by gold what a run
    answered that was judged by something else.

    Files need --dataset, --root, --gold and --pred. With --run or --experiment the gold is that of
    the run's data set; its first SQL and its last are run again, by the run's own protocol and
    deadline.

    A broken gold query ends it with exit code 1, after everything else was scored.

    \b
    Examples:
      merito eval --dataset spider --root spider --gold dev_gold.sql --pred mine.sql --json
      merito eval --run last
    """
    stored = bool(runs or experiments)
    _check_form(stored, {**asked, "root": root})
    if not stored:
        return _score_files(as_json=as_json, **{**asked, "root": root})
    from tui import settings
    from tui.experiments.rescoring import by_gold, cells

    store = settings.store_path(str(asked["store"]) if asked["store"] else None)
    watch = None if as_json else partial(_progress, names_broken=False)
    return by_gold((*runs, *cells(experiments, store)), store, root, watch)


def _check_form(stored: bool, asked: dict[str, Any]) -> None:
    """Raises UsageError where options of both forms are mixed, or one is missing."""
    given = [name for name, value in asked.items() if value not in (None, False)]
    if stored:
        wrong = [name for name in given if name not in ("root", "store")]
        why = "it has a data set, gold and a deadline of its own"
    else:
        wrong, why = [name for name in given if name == "store"], "files are in no store"
    if wrong:
        option = f"--{wrong[0].replace('_', '-')}"
        form = "--run" if stored else "--gold and --pred"
        raise click.UsageError(f"{option} does not go with {form}: {why}.")
    missing = [] if stored else [name for name in _OF_FILES if name not in given]
    if missing:
        raise click.UsageError(
            f"Missing option '--{missing[0]}'. To judge a stored run: merito eval --run RUN."
        )


def _score_files(
    dataset: str,
    root: Path,
    gold: Path,
    pred: Path,
    *,
    before: Path | None,
    keep_distinct: bool,
    deadline: float | None,
    as_json: bool,
    **_store: None,
) -> int:

    from core.datasets.predictions import key_notice, read_decisions, read_pairs
    from core.experiments.rewording import check_same, rewording_of
    from core.feedback.evaluation import Tally
    from tui.view.legible import one_line
    from tui.view.wrapping import say

    pairs = read_pairs(dataset, gold, pred)
    _check_root(root, pairs)
    if notice := key_notice(dataset, pred):
        click.echo(f"merito: {one_line(notice, 2 * _LINE)}", err=True)
    tally = Tally(protocol=dataset)
    earlier = read_decisions(before) if before else {}
    if before:
        check_same(earlier, len(pairs))

    settings = _Settings(dataset, root, deadline or 30.0, keep_distinct)

    if as_json:
        run_whole(_score(pairs, settings, tally, _print_json))
        for line in _on_purpose(tally):
            click.echo(line, err=True)
    else:
        with _progress(len(pairs)) as advance:
            run_whole(_score(pairs, settings, tally, advance))
        _summarise(tally, _test_cases(root, pairs))
    if reworded := rewording_of(earlier, tally.decided):
        say(reworded.told, err=as_json)
    return 1 if tally.broken else 0


def _check_root(root: Path, pairs: list[Pair]) -> None:
    """Raises UsageMistake where no gold query finds its database: that is one mistake, not one a
    question."""
    from core.database.files import DatabaseFolder
    from core.errors import UsageMistake

    folder = DatabaseFolder(root)
    named = sorted({pair.db_id for pair in pairs})
    if any(name in folder for name in named):
        return
    if len(named) == 1:
        which = f"The database {named[0]!r} that the gold queries name is not"
    else:
        first = f"the first: {named[0]!r}"
        which = f"None of the {len(named)} databases that the gold queries name ({first}) is"
    raise UsageMistake(
        f"{which} under {root}.", f"{folder.others_than(named[0])} Give the right folder with --root."
    )


async def _score(
    pairs: list[Pair], settings: _Settings, tally: Tally, show: Callable[[Decision], None]
) -> None:
    import os

    from core.database.files import DatabaseFolder
    from core.database.sandbox import Sandbox
    from core.feedback.denotation import Denotation
    from core.feedback.evaluation import decide

    workers = min(4, os.cpu_count() or 1)
    golds = {str(pair.index): pair.gold for pair in pairs}
    folder = DatabaseFolder(settings.root)
    async with Sandbox(workers) as sandbox:
        denotation = Denotation(
            sandbox, folder, golds, settings.dataset, settings.deadline, settings.keep_distinct
        )
        async with aclosing(decide(map(_asked, pairs), denotation, workers)) as decisions:
            async for decision in decisions:
                tally.add(decision)
                show(decision)


def _asked(pair: Pair) -> Pairing:
    from core.feedback.evaluation import Pairing
    from core.question import Question

    return Pairing(
        question=Question(id=str(pair.index), database=pair.db_id, text=""), predicted=pair.predicted
    )


def _print_json(decision: Decision) -> None:
    import msgspec

    line = msgspec.to_builtins(decision)
    if decision.soft_f1 is None:
        del line["soft_f1"]
    click.echo(msgspec.json.encode(line))


@contextmanager
def _progress(total: int, names_broken: bool = True) -> Iterator[Callable[[Decision], None]]:
    """A bar on stderr, with a line for each broken question above it, where they are named."""
    from rich.console import Console
    from rich.progress import Progress

    from tui.view.legible import one_line

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Scoring", total=total)

        def advance(decision: Decision) -> None:
            progress.advance(task)
            if names_broken and decision.status == "BROKEN":
                line = one_line(decision.error, _LINE)
                progress.console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield advance


def _test_cases(root: Path, pairs: list[Pair]) -> int:
    """The most databases that any schema is tested on."""
    from core.database.files import DatabaseFolder

    folder = DatabaseFolder(root)
    return max(
        (len(folder.test_cases(db)) for db in {p.db_id for p in pairs} if db in folder), default=0
    )


def _summarise(tally: Tally, test_cases: int) -> None:
    import sqlite3

    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for name, figure in _figures(tally):
        table.add_row(name, figure)
    console = Console(markup=False, highlight=False)
    console.print(table)
    if tally.protocol == "spider" and test_cases == 1:
        console.print("One database a schema: weaker than the distilled test suite that papers report.")
    console.print(f"SQLite {sqlite3.sqlite_version} decided ties of ORDER BY with LIMIT.")
    console.print()
    for line in _on_purpose(tally):
        console.print(line, soft_wrap=True)


def _on_purpose(tally: Tally) -> Iterator[str]:
    yield "Decisions differ from the published script's on purpose where"
    for difference in tally.differences():
        yield f"  {difference.says}: {_listed(tally.differing.get(difference.says, []))}"


def _figures(tally: Tally) -> list[tuple[str, str]]:
    figures = [
        ("questions", str(tally.total)),
        ("judged", str(tally.judged)),
        ("correct", str(tally.correct)),
        ("execution accuracy", _percent(tally.accuracy, tally.judged)),
    ]
    if tally.protocol == "bird":
        figures.append(("soft F1", _percent(tally.soft_f1, tally.judged)))
    return figures + sorted(
        (status, str(count)) for status, count in tally.statuses.items() if status != "CORRECT"
    )


def _percent(rate: float | None, judged: int) -> str:
    return "n/a" if rate is None else f"{100 * rate:.2f} % of {judged}"


def _listed(indexes: list[int]) -> str:
    if not indexes:
        return "none here"
    more = ", ..." if len(indexes) > _INDEXES_SHOWN else ""
    shown = ", ".join(map(str, indexes[:_INDEXES_SHOWN]))
    return f"{len(indexes)} (index {shown}{more})"
