"""The terminal that the console borrows: nothing else may write to it, and it is given back clean."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def stderr_to_log(log: Path) -> Iterator[None]:
    """Send everything that is written to file descriptor 2 by native code to `log`, while the
    interface keeps the real terminal."""
    sys.stderr.flush()
    terminal = os.dup(2)
    screen = os.fdopen(os.dup(terminal), "w", encoding="utf-8", errors="replace", buffering=1)
    before = sys.__stderr__
    with log.open("ab", buffering=0) as file:
        os.dup2(file.fileno(), 2)
        sys.__stderr__ = screen  # type: ignore[misc]
        try:
            yield
        finally:
            screen.flush()
            os.dup2(terminal, 2)
            sys.__stderr__ = before  # type: ignore[misc]
            os.close(terminal)
            screen.close()
