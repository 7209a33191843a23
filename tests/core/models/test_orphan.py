"""The embedded engine's child never outlives its parent, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import PROJECT

PARENT = """
import asyncio, sys
from pathlib import Path
from core.models.chat import Message
from core.models.embedded import EmbeddedModel

async def main():
    model = EmbeddedModel(sys.argv[1], context_tokens=256, log=Path(sys.argv[2]))
    await model.count_tokens([Message("user", "x")])
    print(model.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.model
@pytest.mark.slow
def test_the_child_ends_with_its_parent(small_weights: Path, tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(small_weights), str(tmp_path / "log")],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    child = psutil.Process(int(parent.stdout.readline()))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    gone, _ = psutil.wait_procs([child], timeout=10)
    assert gone == [child]
