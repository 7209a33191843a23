"""`merito ask`: one question about one database."""

from __future__ import annotations

from typing import Any

import click

from tui import options


@click.command("ask")
@click.argument("database")
@click.argument("question")
@options.root
@click.option("--evidence", default="", help="What the model should know about the data.")
@click.option(
    "--fresh", is_flag=True, help="Without the memories of earlier runs, which are used by default."
)
@options.running
def command(database: str, question: str, evidence: str, fresh: bool, **asked: Any) -> int:
    """Ask QUESTION about DATABASE: a SQLite file, or the name of one below --root.

    In a terminal you are asked whether the answer is right; what you say is remembered. In a pipe
    whatever runs counts as an answer, and what is learned waits for your review.

    \b
    Examples:
      merito ask shop.sqlite "Which customers never ordered?"
      merito ask shop "Which customers never ordered?" --root databases/ --json
    """
    from tui.asking import ask
    from tui.order import Order

    order = Order(
        stream=database,
        root=asked["root"],
        memory="fresh" if fresh else "library",
        **options.common(asked),
    )
    return ask(order, question, evidence, plain=asked["plain"], as_json=asked["as_json"])
