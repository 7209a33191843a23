"""Spider's layout: dev.json and tables.json beside database/<db>/<db>.sqlite (Yu et al., 2018).

The project's own sample databases use it too, with `evidence` in some records, and EHRSQL (Lee et
al., 2022) with an `id` in each.
"""

from __future__ import annotations

from core.datasets.dataset import Layout

SPIDER = Layout(name="spider", protocol="spider", id=("question_id", "id"), gold=("query",))
