"""`merito bench select`: every way of choosing, from one or more pools of executed candidates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.wording import counted
from tui import options
from tui.interruption import run_whole

if TYPE_CHECKING:
    from core.selection.pool import Pool
    from core.selection.pooling import Chosen
    from core.selection.repeating import Study, Turn
    from tui.selection.panel import PanelOrder, Ready

HEAD = "map-sql"
"""What the others are compared with, where it is among them."""


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers separated by commas, none of them twice."""

    name = "numbers"

    def __init__(self, least: int | None = None, most: int | None = None) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The numbers. Fails as a usage error for anything else."""
        try:
            found = [int(word) for word in str(value).split(",") if word.strip()]
        except ValueError:
            self.fail(f"{value!r} is no list of whole numbers like 42,43,44.", param, ctx)
        if not found:
            self.fail("It names no number; give some, like 42,43,44.", param, ctx)
        if self._least is not None and any(number < self._least for number in found):
            self.fail(f"Each number must be at least {self._least}.", param, ctx)
        if self._most is not None and any(number > self._most for number in found):
            self.fail(f"Each number must be at most {self._most}.", param, ctx)
        return tuple(dict.fromkeys(found))


@click.command(
    "select",
    epilog="""\b
Examples:
  merito bench select candidates.jsonl --root bird --bank bank.sqlite --memory-tokens 2048
  merito bench select pool.jsonl --root spider --methods majority,listwise-memory,map-sql
  merito bench select pool-42.jsonl pool-43.jsonl pool-44.jsonl --root bird
  merito bench select pool.jsonl --root bird --seeds 42,43,44 --sweep 1,2,8""",
)
@click.argument(
    "pools",
    metavar="POOL...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@options.databases
@click.option(
    "--methods",
    default="",
    help="Names, separated by commas; default: all but map-sql-consensus.",
)
@options.choosing
@click.option(
    "--seeds",
    type=Numbers(),
    help="Choose again with each of these seeds of shuffles, in place of --seed: 42,43,44.",
)
@click.option(
    "--sweep",
    type=Numbers(1, 64),
    help="Choose again with each of these numbers of permutations: 1,2,8.",
)
@click.option(
    "--consistency/--no-consistency",
    default=True,
    show_default=True,
    help="Choose from a second shuffled presentation, too.",
)
@click.option("--json", "as_json", is_flag=True, help="Choices and report as JSON lines.")
def command(
    pools: tuple[Path, ...],
    methods: str,
    consistency: bool,
    seeds: tuple[int, ...] | None,
    sweep: tuple[int, ...] | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Compare ways of choosing on POOL, which needs gold SQL: accuracy, calls, tokens, the pool's
    ceiling, the difference between map-sql and every other method, and consistency.

    Several pools of the same questions, or several seeds, are repeats: figures are then means with
    the sample deviation over those that are complete. --sweep adds consistency and accuracy by the
    number of permutations.

    All methods choose for one question, then for the next, from candidates that are executed once; a
    prompt that several methods share is sent once. Stop it at any moment: it reports what is finished,
    and the same command goes on.
    """
    from core.selection.method import METHODS, method_named
    from tui.selection.panel import SHUFFLED, PanelOrder

    names = [name.strip() for name in methods.split(",") if name.strip()]
    if methods and not names:
        raise click.BadParameter("Name at least one method.", param_hint="--methods")
    studied = [name for name, method in METHODS.items() if method.studied]
    order = PanelOrder(
        pool=pools[0],
        methods=tuple(method_named(name) for name in dict.fromkeys(names or studied)),
        presentations=SHUFFLED if consistency else SHUFFLED[:1],
        **asked,
    )
    return run_whole(_bench(order, _once(pools), seeds or (order.seed,), sweep or (), as_json))


def _once(paths: Sequence[Path]) -> list[Path]:
    """Each file by its first spelling: the same pool again is no repeat."""
    from tui.selection.telling import complain

    files: dict[Path, Path] = {}
    for path in paths:
        first = files.setdefault(path.resolve(), path)
        if first is not path:
            complain(f"{path} is {first} again: it is taken once.")
    return list(files.values())


async def _bench(
    order: PanelOrder,
    paths: Sequence[Path],
    seeds: Sequence[int],
    sweep: Sequence[int],
    as_json: bool,
) -> int:
    from core.errors import UsageMistake
    from core.selection.pool import read_pool
    from core.selection.repeating import Study, refuse_other_questions
    from tui.selection.panel import panel_for, questions_of
    from tui.selection.telling import complain

    pools = {path: read_pool(path) for path in paths}
    problems = [problem for pool in pools.values() for problem in pool.problems]
    for problem in problems:
        complain(problem)
    questions = {str(path): questions_of(order, pool) for path, pool in pools.items()}
    refuse_other_questions(questions)
    if not any(each.gold.strip() for pool in questions.values() for each in pool):
        raise UsageMistake(
            f"{order.pool} has no gold SQL, by which methods are compared.",
            "Give each question gold_sql, or choose with merito select, which needs none.",
        )
    study = Study([*questions.values()], seeds, order.permutations, sweep)
    async with panel_for(order, pools[order.pool]) as ready:
        bench = _Bench(ready, pools, study, as_json)
        try:
            await bench.run()
        finally:
            bench.report()
    return 1 if problems or bench.unusable else 0


class _Bench:
    """Every question of every pool in turn, told as it is chosen for."""

    def __init__(self, ready: Ready, pools: dict[Path, Pool], study: Study, as_json: bool) -> None:
        self._ready, self._study, self._as_json = ready, study, as_json
        self._pools = pools
        self._done, self._began = 0, time.monotonic()
        self.unusable = False
        """Whether the user should look at a question."""

    async def run(self) -> None:
        """Choose. Raises MeritoError where the engine fails for good."""
        from core.errors import MeritoError
        from core.models.chat import ModelTrouble

        self._began = time.monotonic()
        try:
            for number, (path, pool) in enumerate(self._pools.items()):
                await self._choose(number, self._ready.turned_to(path, pool))
        except ModelTrouble as trouble:
            raise MeritoError(
                trouble.problem, f"{trouble.mend} The same command goes on where it was."
            ) from trouble

    async def _choose(self, number: int, ready: Ready) -> None:
        first = self._study.turns(number)[0]
        choices = self._study.choose_all(ready.panel, number, ready.at_once)
        async with aclosing(choices):
            async for by_turn in choices:
                ready.keep(by_turn[first])
                self._tell(by_turn)

    def _tell(self, by_turn: dict[Turn, list[Chosen]]) -> None:
        from tui.selection.telling import tell, unusable

        for number, (turn, chosen) in enumerate(by_turn.items()):
            under: dict[str, str | int] = {"pool": str([*self._pools][turn.pool]), **_shuffled(turn)}
            tell(chosen, as_json=self._as_json, again=number > 0, under=under)
        self.unusable |= any(unusable(chosen) for chosen in by_turn.values() if chosen)
        self._done += 1
        click.echo(self._progress(time.monotonic() - self._began), err=True)

    def _progress(self, seconds: float) -> str:
        from tui.view.summary import duration

        total = sum(map(len, self._study.pools))
        words = f"{self._done} of {counted(total, 'question')}"
        left = seconds / self._done * (total - self._done)
        return f"{words}; about {duration(left)} left" if left else words

    def report(self) -> None:
        """What is there so far."""
        from tui.selection.summing import summarise, summary_objects

        order, study = self._ready.order, self._study
        names = [method.name for method in order.methods]
        by_method = study.repeats(order.permutations)
        told: dict[str, Any] = {
            "head": HEAD if HEAD in names else names[0],
            "seed": order.seed,
            "permutations": order.permutations,
            "sweep": {number: study.repeats(number) for number in study.sweep},
            "unfinished": study.unfinished(order.permutations),
        }
        if self._as_json:
            summary_objects(by_method, **told)
        summarise(by_method, protocol=order.protocol, aside=self._as_json, **told)


def _shuffled(turn: Turn) -> dict[str, int]:
    return {"seed": turn.seed, "permutations": turn.permutations}
