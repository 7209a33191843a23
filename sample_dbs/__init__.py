"""Small databases with question sets that the project wrote itself, in Spider's layout.

`folder()` holds `dev.json`, `tables.json`, `demo.json` and `database/<name>/<name>.sqlite`.
`python -m sample_dbs.build` makes all of them again from `sources/`.
"""

from __future__ import annotations

from pathlib import Path


def folder() -> Path:
    """The folder in Spider's layout, in a checkout and in an installed wheel alike."""
    return Path(__file__).parent
