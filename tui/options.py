"""Options that several commands share, declared once."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click


class Finite(click.FloatRange):
    """A range of real numbers: nan and inf are in none, though comparisons let nan through."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Fails as a usage error outside the range."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not in the range {self._describe_range()}.", param, ctx)
        return number


SECONDS = Finite(0.01, 3600)
"""How long one statement may run."""

F = TypeVar("F", bound=Callable[..., Any])

store = click.option(
    "--store", type=click.Path(path_type=Path, dir_okay=False), help="The store's file."
)
model = click.option(
    "--model", help="embedded:1.5b, embedded:FILE, ollama:NAME, openai:URL#NAME. Default: chosen."
)
root = click.option(
    "--root",
    type=click.Path(path_type=Path),
    help="Folder that holds the databases.",
)
as_json = click.option(
    "--json", "as_json", is_flag=True, help="The event stream, one JSON object a line."
)
plain = click.option("--plain", is_flag=True, help="Plain text, also without a terminal.")
strategy = click.option(
    "--strategy", help="How failures are repaired: a name of the list in 'merito run --help'."
)
regime = click.option(
    "--regime",
    type=click.Choice(["denotation", "operator", "execution", "consensus"]),
    help="Who says that an answer is right.",
)
budget = click.option(
    "--budget", type=click.IntRange(0, 64), help="K: the most repairs of one question."
)
layout = click.option(
    "--layout",
    type=click.Choice(["paper", "conversation"]),
    default=None,
    help="How a repair prompt is ordered.",
)
prompts = click.option(
    "--prompts", type=click.Path(path_type=Path), help="Folder with prompt templates of your own."
)
deadline = click.option("--deadline", type=SECONDS, help="Seconds that one statement may run.")
review = click.option(
    "--review",
    type=click.Choice(["auto", "all"]),
    default="auto",
    show_default=True,
    help="Which memories wait for a review: what nobody confirmed, or all.",
)
person = click.option(
    "--as",
    "--who",
    "who",
    metavar="NAME",
    help="Your name, kept with your judgements. Default: the setting 'who', or the login name.",
)
seed = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of everything sampled."
)


initial = click.option(
    "--initial",
    type=click.Choice(["greedy", "select"]),
    default="greedy",
    show_default=True,
    help="The first SQL: the greedy answer, or the choice among candidates.",
)
candidates = click.option(
    "--candidates",
    type=click.IntRange(2, 32),
    default=8,
    show_default=True,
    help="n: candidates that are drawn for --initial select and --regime consensus.",
)
selector = click.option(
    "--selector",
    metavar="METHOD",
    help="How one is chosen; default: map-sql, with memories where the store has any.",
)
memory_tokens = click.option(
    "--memory-tokens",
    type=click.IntRange(0),
    help="Tokens of specification memories in a prompt; default: all that the context leaves.",
)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, listed in this order by --help."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


running = together(
    model,
    strategy,
    regime,
    review,
    person,
    budget,
    initial,
    candidates,
    selector,
    memory_tokens,
    layout,
    prompts,
    deadline,
    seed,
    store,
    plain,
    as_json,
)
"""What every command that runs questions takes."""


def common(asked: dict[str, Any]) -> dict[str, Any]:
    """The part of a command's options that every order of a run has."""
    names = (
        *("model", "strategy", "regime", "review", "who", "budget"),
        *("initial", "candidates", "selector", "memory_tokens"),
        *("layout", "prompts", "deadline", "seed", "store"),
    )
    return {name: asked[name] for name in names if name in asked}


pool = click.argument("pool", type=click.Path(exists=True, dir_okay=False, path_type=Path))
databases = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder that holds the databases.",
)
choosing = together(
    click.option(
        "--dataset",
        type=click.Choice(["auto", "spider", "bird"]),
        default="auto",
        show_default=True,
        help="Whose rule says when results are equal; auto: by the layout of the folder.",
    ),
    memory_tokens,
    click.option(
        "--permutations",
        type=click.IntRange(1, 64),
        default=4,
        show_default=True,
        help="K: runs.",
    ),
    click.option("--limit", type=click.IntRange(min=1), help="Only the first N questions."),
    click.option(
        "--deadline",
        type=SECONDS,
        default=30.0,
        show_default=True,
        help="Seconds that one statement may run.",
    ),
    model,
    click.option("--judge", help="Another model that scores ties; default: the selector."),
    click.option(
        "--bank",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Where the memories are: a store, or a file of specifications. Default: --store.",
    ),
    seed,
    store,
)
"""What every command that chooses from a pool takes."""
