"""Hints about names cost no time that an operator would notice: 5 ms each."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from core.database.rows import Execution, Outcome
from core.database.schema import Column, ForeignKey, Schema, Table
from core.repair.hints import hints_for
from core.sql import shared_tree
from tests.core.repair.mutations import Mutant, gold_queries, mutants, schemas

BAR_SECONDS = 0.005
TRIES = 5
"""The machine is shared: the best of these is the code's own time."""


async def seconds(mutant: Mutant) -> float:
    """Processor time of one call, the parser's work included."""
    shared_tree.cache_clear()
    started = time.thread_time()
    await hints_for(mutant.sql, mutant.execution, mutant.schema)
    return time.thread_time() - started


@pytest.mark.timeout(600)
@pytest.mark.bench
@pytest.mark.data
@pytest.mark.slow
async def test_every_schemas_hints(data_folder: Path) -> None:
    spider = data_folder / "spider"
    golds = gold_queries(spider)
    every = [
        mutant
        for database, schema in schemas(spider).items()
        for mutant in mutants(schema, golds[database], queries=3, seed=1)
    ]
    await seconds(every[0])  # imports
    times = sorted([await seconds(mutant) for mutant in every])
    print(f"{len(every)} hints: median {times[len(times) // 2] * 1e3:.2f} ms", end=", ")
    print(f"95 % under {times[len(times) * 95 // 100] * 1e3:.2f} ms, worst {times[-1] * 1e3:.2f} ms")
    for mutant in every:
        assert await best(mutant) < BAR_SECONDS, mutant.sql


async def best(mutant: Mutant) -> float:
    """The least of a few tries, which end as soon as one is under the bar."""
    least = float("inf")
    for _ in range(TRIES):
        least = min(least, await seconds(mutant))
        if least < BAR_SECONDS:
            break
    return least


@pytest.mark.timeout(600)
@pytest.mark.bench
@pytest.mark.slow
async def test_a_schema_of_three_hundred_tables() -> None:
    tables = [
        Table(
            name=f"table_{number}",
            columns=tuple(Column(name=f"column_{number}_{place}", type="TEXT") for place in range(12)),
            foreign_keys=(
                ForeignKey(
                    table=f"table_{number}",
                    columns=(f"column_{number}_1",),
                    to_table=f"table_{number - 1}",
                    to_columns=(f"column_{number - 1}_0",),
                ),
            )
            if number
            else (),
        )
        for number in range(300)
    ]
    schema = Schema(database="wide", tables=tuple(tables))
    sql = "SELECT colum_250_3 FROM table_3 JOIN table_9 ON table_3.column_3_1 = table_9.column_9_1"
    execution = Execution(outcome=Outcome.ERROR, error="no such column: colum_250_3")
    mutant = Mutant("misspelt column", sql, execution, schema, "table_250", "column_250_3")
    hints = await hints_for(sql, execution, schema)
    assert "table_250.column_250_3" in hints[0].text
    await seconds(mutant)
    least = min([await seconds(mutant) for _ in range(TRIES)])
    print(f"300 tables, 3,600 columns: {least * 1e3:.2f} ms")
    assert least < 4 * BAR_SECONDS
