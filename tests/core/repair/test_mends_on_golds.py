"""Right queries are left alone by the rules about names and joins, whatever the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.repair.mends.columns import mend_names
from core.repair.mends.conditions import mend_conditions
from core.sql import parsed
from tests.core.repair.mutations import gold_queries, schemas

QUERIES = 12
"""Of each database; the schemas are many, their queries much alike."""


@pytest.mark.data
@pytest.mark.slow
def test_no_gold_query_is_mended(data_folder: Path) -> None:
    spider = data_folder / "spider"
    golds = gold_queries(spider)
    seen, mended = 0, []
    for database, schema in schemas(spider).items():
        for gold in list(dict.fromkeys(golds[database]))[:QUERIES]:
            tree = parsed(gold)
            if tree is None:
                continue
            seen += 1
            told = mend_conditions(tree, schema) + mend_names(tree, schema)
            if told:
                mended.append((database, gold, told))
    assert seen > 1_000
    assert not mended, mended[:5]
