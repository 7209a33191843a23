"""`merito bench`: the papers' studies, each by one command."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from tui import options

LAZY = {
    "select": ("tui.commands.bench_select", "Compare ways of choosing, on pools of candidates."),
    "pool": ("tui.commands.bench_pool", "Write the candidates that a run has drawn, as a pool."),
}
"""Benches with a module of their own, imported when they are called, and their line in the listing."""
SAMPLE = "sample"
"""Names the sample databases, where no file or folder is called so."""


class Benches(click.Group):
    """The benches here and those of `LAZY`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without an import."""
        return [*super().list_commands(ctx), *LAZY]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The bench of that name; None where there is none."""
        if name in LAZY:
            module, short = LAZY[name]
            found: click.Command = importlib.import_module(module).command
            found.short_help = short
            return found
        return super().get_command(ctx, name)


@click.group(
    "bench",
    cls=Benches,
    epilog="""\b
Examples:
  merito bench repair sample --strategies none,merito --limit 6
  merito bench select pool.jsonl --root spider""",
)
def command() -> None:
    """Run an experiment: several strategies on the same questions, with a report in the end."""


def _orders(_ctx: click.Context, _param: click.Parameter, text: str) -> tuple[int | None, ...]:
    words = [word.strip() for word in text.split(",")]
    try:
        return tuple(None if word == "file" else int(word) for word in words)
    except ValueError:
        raise click.BadParameter(f"'{text}' is no list of whole numbers or 'file'.") from None


def _names(_ctx: click.Context, _param: click.Parameter, text: str) -> tuple[str, ...]:
    names = tuple(word.strip() for word in text.split(",") if word.strip())
    if not names:
        raise click.BadParameter("Name at least one strategy.")
    return names


@command.command("repair", short_help="Compare repair strategies on one set of questions.")
@click.argument("dataset")
@options.root
@click.option(
    "--dataset-layout",
    type=click.Choice(["auto", "spider", "bird", "table"]),
    default="auto",
    show_default=True,
    help="The data set's layout.",
)
@click.option(
    "--strategies",
    default="none,iterative,resample,merit,merito",
    show_default=True,
    callback=_names,
    help="Names, separated by commas.",
)
@click.option(
    "--orders",
    default="0,1,2",
    show_default=True,
    callback=_orders,
    help="Seeds of the stream's orders, separated by commas; 'file' is the file's own.",
)
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Run everything N times, each time with another seed and its repairs asked for anew: the"
    " report then tells how far a strategy disagrees with itself.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Only N questions, drawn by --seed; the same in every order.",
)
@options.model
@click.option(
    "--regime",
    type=click.Choice(["denotation", "execution", "consensus"]),
    default="denotation",
    show_default=True,
    help="Who says that an answer is right while it runs; afterwards 'merito eval' tells by gold.",
)
@options.budget
@options.layout
@options.prompts
@options.deadline
@options.seed
@options.store
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Questions under way at once, as far as none may learn from another; the results are the"
    " same. Default: 4 on a served engine, else 1.",
)
@options.plain
@click.option("--json", "as_json", is_flag=True, help="Progress and report as JSON lines.")
def repair(
    dataset: str,
    strategies: tuple[str, ...],
    orders: tuple[int | None, ...],
    repeats: int,
    jobs: int | None,
    plain: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Compare repair strategies on DATASET, which needs gold SQL: a folder in Spider's or BIRD's
    layout, a file of questions, or "sample" for the sample databases that Merito brings along.

    Initial predictions are made once and shared. Stop it at any moment; the same command goes on,
    and one with more strategies, orders or repeats adds to it.

    \b
    Examples:
      merito bench repair sample --strategies none,iterative,merito --orders 0 --limit 30
      merito bench repair spider/ --strategies iterative,merit --orders 0,1,2 --limit 60
    """
    from tui.experiments.benching import bench
    from tui.order import Order

    if dataset == SAMPLE and not Path(dataset).exists():
        import sample_dbs

        dataset = str(sample_dbs.folder())
    order = Order(
        stream=dataset,
        root=asked["root"],
        layout_of_stream=asked["dataset_layout"],
        limit=asked["limit"],
        **options.common({**asked, "strategy": None}),
    )
    return bench(order, strategies, orders, repeats=repeats, jobs=jobs, plain=plain, as_json=as_json)
