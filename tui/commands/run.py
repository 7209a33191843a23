"""`merito run`: a stream of questions from the first to the last."""

from __future__ import annotations

from typing import Any

import click

from tui import options


class WithStrategies(click.Command):
    """A command whose help ends with the strategies."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The rows of the table, read when somebody asks for help."""
        from core.repair.strategy import STRATEGIES

        super().format_epilog(ctx, formatter)
        with formatter.section("Strategies"):
            formatter.write_dl([(row.name, row.about) for row in STRATEGIES.values()])


@click.command("run", cls=WithStrategies)
@click.argument("stream", required=False)
@options.root
@click.option(
    "--dataset",
    type=click.Choice(["auto", "spider", "bird", "table"]),
    default="auto",
    show_default=True,
    help="The stream's layout.",
)
@click.option("--limit", type=click.IntRange(1), help="Only the first N questions.")
@click.option("--order", type=int, help="Seed of a shuffled order; without it, the file's own.")
@click.option(
    "--memory",
    type=click.Choice(["fresh", "library"]),
    default="fresh",
    show_default=True,
    help="Start empty, or with the approved memories of earlier runs.",
)
@click.option("--include-pending", is_flag=True, help="Let unreviewed memories be retrieved too.")
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[RUN]",
    help="Go on with RUN; without a name, with the newest run over a STREAM that is unfinished, and "
    "beside a STREAM with the newest of the same settings.",
)
@options.running
def command(stream: str | None, resume: str | None, **asked: Any) -> int:
    """Run a STREAM of questions: a folder in Spider's or BIRD's layout, a JSON, JSON-lines or CSV
    file, or "-" for JSON lines on standard input.

    In a terminal the console opens; in a pipe, or with --plain, the run is told in plain text.

    \b
    Examples:
      merito run spider/ --strategy merit --limit 60 --plain
      merito run questions.csv --root databases/ --regime execution --json
      merito run --resume
    """
    from tui.order import Order
    from tui.running import perform

    if stream is None and resume is None:
        raise click.UsageError(
            "Name a STREAM, or go on with what was interrupted: merito run --resume."
        )
    order = Order(
        stream=stream or "",
        root=asked["root"],
        layout_of_stream=asked["dataset"],
        limit=asked["limit"],
        order_seed=asked["order"],
        memory=asked["memory"],
        include_pending=asked["include_pending"],
        **options.common(asked),
    )
    return perform(order, resume=resume, plain=asked["plain"], as_json=asked["as_json"])
