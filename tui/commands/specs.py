"""`merito specs`: the memories that selection reads, each the specification of one training pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.wording import counted
from tui import options
from tui.interruption import run_whole
from tui.selection.kept import memory_bank, open_specs

if TYPE_CHECKING:
    from core.question import Question
    from core.selection.building import Built
    from core.selection.distilling import Distillable
    from core.selection.specification import SpecificationMemory
    from core.selection.training import Training
    from stores.specs import Specs

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LINE = 110
_NONE = "There are no specifications yet. Make them with: merito specs build TRAIN"


@click.group(
    epilog="""\b
Examples:
  merito specs build spider/train_spider.json --limit 300
  merito specs search "How many heads of departments are older than 56?" """
)
def command() -> None:
    """Build, distil, list, show, search, export and import specification memories."""


_jobs = click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Calls under way at once; the embedded engine keeps a context for each.",
)


@command.command(
    "build",
    short_help="Distil one memory from each training pair.",
    epilog="\b\nExample:\n  merito specs build spider/train_spider.json --limit 300 --seed 1",
)
@click.argument("train", type=_FILE)
@options.root
@click.option("--limit", type=click.IntRange(min=1), help="So many pairs, drawn by --seed.")
@options.seed
@options.model
@_jobs
@options.store
@as_json
def build(
    train: Path,
    root: Path | None,
    limit: int | None,
    seed: int,
    model: str | None,
    jobs: int,
    store: Path | None,
    as_json: bool,
) -> int:
    """Distil one memory from each pair of TRAIN (question, gold SQL, database).

    Schemas come from a *tables.json beside the file, or from the databases under --root. Built
    again, or after an interruption, it goes on where it was: no finished call is repeated.
    """
    from core.selection.training import read_training

    training = read_training(train, root=root, limit=limit, seed=seed)
    for problem in training.problems:
        click.echo(_one_line(problem), err=True)
    with open_specs(store, create=True) as opened:
        run_whole(_build(training, opened, model, jobs, as_json))
    return 1 if training.problems else 0


@command.command(
    "distil",
    short_help="Distil one memory from each confirmed repair.",
    epilog="\b\nExamples:\n  merito specs distil\n  merito specs distil m-3f2a",
)
@click.argument("memories", nargs=-1)
@options.model
@_jobs
@options.store
@as_json
def distil(
    memories: tuple[str, ...], model: str | None, jobs: int, store: Path | None, as_json: bool
) -> None:
    """Distil one memory from each repair in the store that was confirmed and is approved, or from
    MEMORIES (ids of 'merito memory list') alone.

    Each keeps which repair it comes from, and is shown to nobody as long as that one is not
    approved. Called again, it goes on where it was: no finished call is repeated.
    """
    found = _repairs(memories, store)
    with open_specs(store, create=True) as opened:
        if found.training.pairs:
            run_whole(_build(found.training, opened, model, jobs, as_json))
        else:
            click.echo("There is no confirmed and approved repair in the store yet.", err=True)
    if found.left_out:
        others = ", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
        click.echo(f"Other memories: {others}.", err=True)


def _repairs(names: tuple[str, ...], store: Path | None) -> Distillable:
    """What the store's repairs teach. Raises MeritoError for a named one that teaches nothing."""
    from core.errors import MeritoError
    from core.selection.distilling import reason_against, repairs
    from stores.store import Store
    from tui import settings

    path = settings.store_path(None if store is None else str(store))
    with Store.open(path, mode="read") as opened:
        states = opened.review_states()
        entries = [opened.entry(name) for name in names] or opened.entries()
    for entry in entries if names else ():
        reason = reason_against(entry, states[entry.id])
        if reason:
            raise MeritoError(
                f"Nothing can be distilled from the memory {entry.id}: it is {reason}.",
                "It takes a confirmed repair that is approved. See: merito memory show " + entry.id,
            )
    return repairs(entries, states)


async def _build(
    training: Training, opened: Specs, model: str | None, jobs: int, as_json: bool
) -> None:
    from core.selection.building import build
    from core.selection.calls import Caller
    from tui import settings
    from tui.engines import engines
    from tui.selection.telling import stumbled

    known = opened.ids()
    missing = sum(pair.id not in known for pair in training.pairs)
    made = rebuilt = rejected = 0
    constrains = True
    if missing:
        async with engines(settings.value("model", model), jobs=jobs) as ready:
            engine = ready.choice.model
            caller = Caller(engine, await engine.describe(), opened, jobs=jobs, stumbled=stumbled)
            with _progress(missing, "Distilling", hidden=as_json) as advance:
                memories = build(training, caller, known, caller.at_once)
                async with aclosing(memories):
                    async for built in memories:
                        opened.keep([built.memory])
                        made, rebuilt = made + 1, rebuilt + built.memory.rebuilt
                        rejected += built.calls - (not built.memory.rebuilt)
                        if as_json:
                            _say(_built(built), True, str)
                        advance()
            constrains = caller.constrains
    words = f"{counted(made, 'memory', 'memories')} made ({rebuilt:,} from the syntax tree alone)"
    click.echo(f"{words}, {len(training.pairs) - missing:,} were there.", err=as_json)
    if rejected:
        were = f"{counted(rejected, 'answer')} {'was' if rejected == 1 else 'were'}"
        click.echo(f"{were} no valid specification of their query.", err=True)
    if not constrains:
        click.echo("The engine takes no JSON schema, so it answered freely.", err=True)


def _built(built: Built) -> dict[str, Any]:
    return {**_listed(built.memory), "calls": built.calls, "rejected": list(built.rejected)}


@command.command("list", epilog="\b\nExample:\n  merito specs list --database department_management")
@click.option("--database", help="Only of this database.")
@click.option("--rebuilt", is_flag=True, help="Only those made from the syntax tree alone.")
@options.store
@as_json
def list_specs(database: str | None, rebuilt: bool, store: Path | None, as_json: bool) -> None:
    """List memories, one a line."""
    with open_specs(store) as opened:
        memories = opened.memories()
    for memory in memories:
        if database in (None, memory.database) and (memory.rebuilt or not rebuilt):
            _say(_listed(memory), as_json, _row)
    if not memories:
        click.echo(_NONE, err=True)


@command.command("show", epilog="\b\nExample:\n  merito specs show 3f2a")
@click.argument("memory")
@options.store
@as_json
def show(memory: str, store: Path | None, as_json: bool) -> None:
    """Show one MEMORY; the beginning of its id is enough."""
    import msgspec

    with open_specs(store) as opened:
        found = opened.memory(memory)
    _say(msgspec.to_builtins(found), as_json, _page)


@command.command("search", epilog='\b\nExample:\n  merito specs search "How many ships?" --limit 5')
@click.argument("question")
@click.option("--database", default="", help="The question's database: its own memory stays out.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True)
@options.store
@as_json
def search(question: str, database: str, limit: int, store: Path | None, as_json: bool) -> None:
    """The memories whose questions are nearest to QUESTION, best first."""
    from core.question import Question

    wanted = Question(id="", database=database, text=question)
    with open_specs(store) as opened:
        found = run_whole(_nearest(opened, wanted))
    for memory in found[:limit]:
        _say(_listed(memory), as_json, _row)
    if not found:
        click.echo(_NONE, err=True)


async def _nearest(opened: Specs, question: Question) -> list[SpecificationMemory]:
    async with memory_bank(opened) as bank:
        return await bank.nearest(question)


@command.command(
    "export",
    short_help="Write every memory to a file of JSON lines.",
    epilog="\b\nExample:\n  merito specs export bank.jsonl",
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@options.store
def export(file: Path, store: Path | None) -> None:
    """Write every memory to FILE, one JSON object a line; '-' is standard output. A file that is
    there is replaced, a database is not."""
    from core.whole_file import whole_file
    from stores.specs import export_lines

    with open_specs(store) as opened:
        memories = opened.memories()
    if str(file) == "-":
        for line in export_lines(memories):
            click.echo(line, nl=False)
        return
    with whole_file(file) as written:
        written.writelines(export_lines(memories))
    words = f"{counted(len(memories), 'memory', 'memories')} in {_one_line(str(file))}"
    click.echo(words, err=not file.is_file())


@command.command(
    "import",
    short_help="Take the memories of an exported file.",
    epilog="\b\nExample:\n  merito specs import bank.jsonl",
)
@click.argument("file", type=_FILE)
@options.store
def import_specs(file: Path, store: Path | None) -> None:
    """Take the memories of an exported FILE: all of them, or none where one is broken."""
    memories = _read(file)
    with open_specs(store, create=True) as opened:
        added = opened.keep(memories)
    new = counted(added, "new memory", "new memories")
    click.echo(f"{new}, {len(memories) - added:,} known before.")


def _read(file: Path) -> list[SpecificationMemory]:
    import msgspec

    from core.datasets.records import read_text
    from core.errors import MeritoError
    from core.selection.specification import SpecificationMemory

    memories = []
    for number, line in enumerate(read_text(file).split("\n"), 1):
        if line.strip():
            try:
                memories.append(msgspec.json.decode(line, type=SpecificationMemory))
            except (msgspec.MsgspecError, UnicodeError, RecursionError) as broken:
                raise MeritoError(
                    f"{file}, line {number}: no specification memory ({broken}).", "Correct the line."
                ) from None
    return memories


@contextmanager
def _progress(total: int, words: str, *, hidden: bool) -> Iterator[Callable[[], None]]:
    """A bar on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=hidden or not console.is_terminal
    ) as progress:
        task = progress.add_task(words, total=total)
        yield lambda: progress.advance(task)


def _listed(memory: SpecificationMemory) -> dict[str, Any]:
    from core.selection.specification import PARTS

    found = memory.specification
    return {
        "id": memory.id,
        "database": memory.database,
        "question": memory.question,
        "keys": [key for key in PARTS if getattr(found, key) is not None],
        "extra_keywords": [each.keyword for each in found.extra_keywords],
        "rebuilt": memory.rebuilt,
        "repair": memory.repair and memory.repair.memory,
    }


def _row(shown: dict[str, Any]) -> str:
    mark = "tree " if shown["rebuilt"] else "model"
    what = f"{shown['database']}: {shown['question']}"
    origin = f"(repair {shown['repair']})" if shown["repair"] else ""
    return f"{_one_line(shown['id'][:12])}  {mark}  {_one_line(what)}  {_one_line(origin)}".rstrip()


def _page(whole: dict[str, Any]) -> str:
    import json

    from tui.view.legible import legible

    made = "the syntax tree alone" if whole["rebuilt"] else whole["maker"]
    head = [("memory", whole["id"]), ("database", whole["database"]), ("question", whole["question"])]
    head += [("made by", made), ("made from", _source(whole["repair"]))]
    lines = [f"{name + ':':<10} {_one_line(str(text))}" for name, text in head]
    body = json.dumps(whole["specification"], indent=2, ensure_ascii=False)
    return "\n".join([*lines, legible(body, max(20_000, len(body)))])


def _source(repair: dict[str, Any] | None) -> str:
    if repair is None:
        return "a training pair"
    where = repair["provenance"]
    judge = f" by {where['judge']}" if where.get("judge") else ""
    place = f"run {where['run']}, position {where['position']}, strategy {where['strategy']}"
    return f"repair {repair['memory']} ({place}; confirmed{judge}, {where['regime']})"


def _say(thing: dict[str, Any], as_json: bool, in_words: Callable[[dict[str, Any]], str]) -> None:
    from tui.memory_lines import say

    say(thing, as_json, in_words)


def _one_line(text: str) -> str:
    from tui.memory_lines import fitting

    return fitting(text, _LINE)
