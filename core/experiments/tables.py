"""The tables of a report, each a function from arms to rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from core.experiments import paper
from core.experiments.along import stream_table, tradeoff_table
from core.experiments.arms import Arm, Comparison, compared, repeats, settings_apart
from core.experiments.classifying import classifier_table, failures_table, repaired_table
from core.experiments.listings import left_out
from core.experiments.table import (
    ABSENT,
    BEHIND,
    Cell,
    Table,
    behind,
    count,
    interval,
    mean,
    published,
    words,
)

SEQUENCE = ("none", "iterative", "resample", "reflexion", "dynamic-rag", "merit", "merit-reliability")
FAMILIES = ("merit", "merito")
"""Strategies that have ablations, named `<family>-<what is missing>`."""
VARIANTS = frozenset({"merit-reliability"})
"""Named like ablations, and compared as strategies of their own."""
MOST_PAIRS = 12
GOLD = "denotation"
"""The regime whose accuracy is by gold, as the papers' is."""

Benchmarks = Mapping[str, str]


def rank(arm: Arm) -> tuple[int, str]:
    """The sequence of the paper's tables, then by name."""
    known = SEQUENCE.index(arm.strategy) if arm.strategy in SEQUENCE else len(SEQUENCE)
    return known, arm.label


def tables_of(
    arms: Sequence[Arm], benchmarks: Benchmarks, labels: Mapping[str, str]
) -> tuple[Table, ...]:
    """All tables that have rows."""

    def benchmark(arm: Arm) -> str:
        return _benchmark(arm, benchmarks)

    every = (
        _accuracy(arms, benchmarks),
        _differences(arms, benchmarks),
        _ablations(arms, benchmarks),
        _noise(arms),
        stream_table(arms),
        _repairs(arms, benchmarks),
        tradeoff_table(arms),
        _cost(arms, benchmarks),
        failures_table(arms, benchmark),
        repaired_table(arms),
        classifier_table(arms, benchmark, labels),
        left_out(arms),
    )
    return tuple(table for table in every if table.rows)


def _benchmark(arm: Arm, benchmarks: Benchmarks) -> str:
    """Whose published figures stand beside the arm's: nobody's where another judge than theirs
    decided."""
    told = arm.runs[0].settings
    return benchmarks.get(told.dataset, "") if told.regime == GOLD else ""


def _published(arm: Arm, benchmarks: Benchmarks) -> paper.Published | None:
    return paper.STRATEGIES.get((_benchmark(arm, benchmarks), arm.strategy))


def _accuracy(arms: Sequence[Arm], benchmarks: Benchmarks) -> Table:
    rows = []
    for arm in arms:
        initial = paper.INITIAL.get(_benchmark(arm, benchmarks))
        theirs = _published(arm, benchmarks)
        claimed = initial if arm.strategy == "none" else theirs.accuracy if theirs else None
        left = {len(arm.unserved(run)) for run in arm.told}
        n = f"{min(left):,}" if len(left) == 1 else f"{min(left):,}-{max(left):,}"
        rows.append(
            (
                *behind(arm),
                mean(arm.over_orders(lambda run: run.figures.accuracy_initial), scale=100),
                mean(arm.over_orders(lambda run: run.figures.accuracy_now), scale=100),
                mean(arm.accuracy_unserved, scale=100),
                ABSENT if arm.served is None else Cell(n, (("", n),)),
                published(initial),
                published(claimed),
            )
        )
    by_gold = all(arm.runs[0].settings.regime == GOLD for arm in arms)
    what = "Execution accuracy" if by_gold else "Accuracy by the runs' own judges"
    return Table(
        name="accuracy",
        title=f"{what}, % (mean \N{PLUS-MINUS SIGN} sample deviation over orders)",
        columns=(
            *BEHIND, "initial", "final", "final, gold not seen", "questions, gold not seen",
            "paper initial", "paper final",
        ),
        rows=tuple(rows),
        note="Gold not seen: without the questions whose gold SQL occurred earlier in the stream,"
        f" which memory could have served. Paper: {paper.ABOUT}.",
    )  # fmt: skip


COMPARED = (
    "first", "second", "questions", "orders", "first - second", "gold not seen",
    "only first right", "only second right", "McNemar p", "paper",
)  # fmt: skip


def _comparison(found: Comparison, benchmarks: Benchmarks) -> tuple[Cell, ...]:
    test, difference = found.test, found.difference
    benchmark = _benchmark(found.first, benchmarks)
    theirs = paper.difference(benchmark, found.first.strategy, found.second.strategy)
    return (
        words(found.first.label),
        words(found.second.label),
        count(difference.clusters if difference else 0),
        count(found.orders),
        interval(difference),
        interval(found.unserved),
        count(test.first_only),
        count(test.second_only),
        Cell(f"{test.p:.3g}", (("", test.p),)),
        words(theirs) if theirs else ABSENT,
    )


NOTE = (
    "Points, with the 95 % interval of a query-cluster bootstrap (10,000 draws, seed 0) over the"
    " questions and orders that both judged. McNemar: exact, on the common order with the most of them"
    " alone."
)


def _differences(arms: Sequence[Arm], benchmarks: Benchmarks) -> Table:
    found = [compared(first, second) for first, second in _pairs(arms)]
    return Table(
        name="differences",
        title="Paired differences of accuracy",
        columns=COMPARED,
        rows=tuple(_comparison(each, benchmarks) for each in found if each),
        note=NOTE,
    )


def _pairs(arms: Sequence[Arm]) -> Iterator[tuple[Arm, Arm]]:
    """All pairs where they are few; else what the papers compare: a family's head with every other
    strategy. Ablations have a table of their own."""
    there = {arm.strategy for arm in arms}
    main = [arm for arm in arms if _family(arm) not in there]
    if len(main) * (len(main) - 1) // 2 <= MOST_PAIRS:
        yield from ((second, first) for first, second in combinations(main, 2))
        return
    heads = [arm for arm in main if arm.strategy in FAMILIES]
    for head in heads or main[-1:]:
        yield from ((head, other) for other in main if other is not head)


def _family(arm: Arm) -> str:
    """The strategy that this one is an ablation of; empty where it is none."""
    head, _, missing = arm.strategy.partition("-")
    return head if missing and head in FAMILIES and arm.strategy not in VARIANTS else ""


def _ablations(arms: Sequence[Arm], benchmarks: Benchmarks) -> Table:
    rows = []
    for arm in arms:
        heads = [head for head in arms if head.strategy == _family(arm)]
        nearest = min((settings_apart(arm, head) for head in heads), default=0)
        heads = [head for head in heads if settings_apart(arm, head) == nearest]
        rows += [_comparison(found, benchmarks) for head in heads if (found := compared(arm, head))]
    return Table(
        name="ablations",
        title="Ablations: what each part is worth",
        columns=COMPARED,
        rows=tuple(rows),
        note=NOTE,
    )


def _noise(arms: Sequence[Arm]) -> Table:
    found = [compared(first, second) for first, second in repeats(arms)]
    return Table(
        name="noise",
        title="Noise floor: strategies against themselves",
        columns=(
            "first", "second", "questions", "orders", "one alone right", "disagree %", "first - second",
        ),
        rows=tuple(
            (
                words(each.first.label),
                words(each.second.label),
                count(each.difference.clusters),
                count(each.orders),
                Cell(
                    f"{each.apart:,} of {each.difference.outcomes:,}",
                    (("", each.apart), ("of", each.difference.outcomes)),
                ),
                published(100 * each.apart / each.difference.outcomes, 1),
                interval(each.difference),
            )
            for each in found
            if each and each.difference
        ),
        note="The same strategy again, with another seed or at another time: a difference between two"
        " strategies that is no larger may be chance. Within an experiment first predictions are"
        " shared, so there it is the noise of the repairs.",
    )  # fmt: skip


def _repairs(arms: Sequence[Arm], benchmarks: Benchmarks) -> Table:
    rows = []
    for arm in arms:
        theirs = _published(arm, benchmarks)
        rows.append(
            (
                *behind(arm),
                mean(arm.over_orders(lambda run: len(run.failed_first)), 1),
                mean(arm.over_orders(lambda run: run.figures.repaired), 1),
                mean(arm.over_orders(lambda run: run.figures.repaired_with_memory), 1),
                mean(arm.over_orders(lambda run: run.figures.repaired_without_memory), 1),
                mean(arm.over_orders(lambda run: run.steps)),
                mean(arm.over_orders(lambda run: run.oscillation), 1, scale=100),
                mean(arm.over_orders(lambda run: run.limit_hits), 1),
                published(theirs.repaired if theirs else None, 1),
                published(theirs.steps if theirs else None),
                published(theirs.oscillation if theirs else None, 1),
            )
        )
    return Table(
        name="repairs",
        title="Repairs (means over orders)",
        columns=(
            *BEHIND, "initial failures", "repaired", "with memory", "without", "steps", "oscillation %",
            "limit hits", "paper repaired", "paper steps", "paper oscillation %",
        ),
        rows=tuple(rows),
        note="Steps: repairs for each initial failure. Oscillation: share of the repairs that write an"
        " earlier SQL of their episode again. With memory: entries stood in the prompt that worked."
        f" Paper: {paper.ABOUT}.",
    )  # fmt: skip


def _cost(arms: Sequence[Arm], benchmarks: Benchmarks) -> Table:
    rows = []
    for arm in arms:
        theirs = _published(arm, benchmarks)
        rows.append(
            (
                *behind(arm),
                mean(arm.over_orders(lambda run: run.spending.cost.calls), 1),
                mean(arm.over_orders(lambda run: run.spending.repairing.calls), 1),
                mean(arm.over_orders(lambda run: run.spending.cost.sent), 0),
                mean(arm.over_orders(lambda run: run.spending.cost.evaluated), 0),
                mean(arm.over_orders(lambda run: run.spending.cost.written), 0),
                mean(arm.over_orders(lambda run: run.spending.cost.seconds), 1),
                mean(arm.over_orders(lambda run: run.spending.database), 2),
                mean(arm.over_orders(lambda run: run.spending.retrieval), 2),
                mean(arm.over_orders(lambda run: run.spending.embedding), 2),
                published(theirs.tokens if theirs else None, 3),
                published(theirs.calls if theirs else None, 0),
            )
        )
    return Table(
        name="cost",
        title="Cost of a run (means over orders)",
        columns=(
            *BEHIND, "calls", "repair calls", "tokens sent", "tokens evaluated", "tokens written",
            "model s", "database s", "retrieval s", "of it embedding", "paper tokens, M", "paper calls",
        ),
        rows=tuple(rows),
        note="Calls count the initial predictions, which are made once and charged to every strategy;"
        " repair calls stand beside. Evaluated: sent, without what the engine's cache served."
        " Retrieval: embedding of the query included, and told beside it. Paper tokens: prompt and"
        " output.",
    )  # fmt: skip
