"""What the sources of weights share."""

from __future__ import annotations

import shutil
from pathlib import Path

from core.errors import MeritoError


class Unavailable(Exception):
    """A source that cannot be used now, and why, in a few words; the next one may."""


def need_room(folder: Path, size: int) -> None:
    """Raises MeritoError where fewer than `size` bytes are free on the folder's disk."""
    free = shutil.disk_usage(folder).free
    if free < size:
        raise MeritoError(
            f"{size / 1e6:,.0f} MB are needed in {folder}, and {free / 1e6:,.0f} MB are free.",
            "Make room, or point MERITO_MODELS at a folder on another disk.",
        )
