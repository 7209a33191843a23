"""BIRD's layout: dev.json beside dev_databases/<db>/<db>.sqlite (Li et al., 2024)."""

from __future__ import annotations

from core.datasets.dataset import Layout

BIRD = Layout(name="bird", protocol="bird", gold=("SQL",))
