"""Spider's layout: dev.json and tables.json beside database/<db>/<db>.sqlite (Yu et al., 2018).

The project's own sample databases use it too, with `evidence` in some records.
"""

from __future__ import annotations

from core.datasets.dataset import Layout

SPIDER = Layout(name="spider", protocol="spider", gold=("query",))
