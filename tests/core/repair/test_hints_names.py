"""A wrong name's hint tells its true owner, whatever the schema."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from core.repair.hints import hints_for
from core.run.events import Hint
from tests.core.repair.mutations import Mutant, gold_queries, mutants, schemas


def tells(hints: tuple[Hint, ...], mutant: Mutant) -> bool:
    """Whether a hint names the owner, and the column where one was meant."""
    text = " ".join(hint.text.replace("`", "") for hint in hints)
    owner, name = re.escape(mutant.owner), re.escape(mutant.name)
    forms = [
        rf"(?<![\w.]){owner}\.{name}(?!\w)",
        rf"(?<!\w){name} is (?:in|a column of): [^.]*(?<!\w){owner}(?!\w)",
        rf"(?<!\w){name} is in {owner} more than once",
    ]
    if not mutant.name:
        forms = [rf"(?:nearest are|there are): [^.]*(?<!\w){owner}(?!\w)"]
    return any(re.search(form, text, re.I) for form in forms)


@pytest.mark.timeout(600)
@pytest.mark.data
@pytest.mark.slow
async def test_every_wrong_name_gets_its_true_owner(data_folder: Path) -> None:
    spider = data_folder / "spider"
    golds = gold_queries(spider)
    kinds: Counter[str] = Counter()
    missed = []
    for database, schema in schemas(spider).items():
        for mutant in mutants(schema, golds[database], queries=8):
            kinds[mutant.kind] += 1
            hints = await hints_for(mutant.sql, mutant.execution, schema)
            if not tells(hints, mutant):
                missed.append(
                    (
                        mutant.kind,
                        mutant.owner,
                        mutant.name,
                        mutant.execution.error,
                        mutant.sql,
                        [h.text for h in hints],
                    )
                )
    assert min(kinds.values()) > 100, kinds
    assert not missed, f"{len(missed)} of {kinds.total()} {kinds}: " + "\n".join(map(str, missed[:20]))
