"""What is said where the embedded engine's own server lives and gives no answer. A mute server stands
in for it, so that no weights are needed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from core.models.call import Deadlines
from core.models.chat import Message, ModelTrouble, Sampling
from core.models.embedded import EmbeddedModel, _Child
from tests.core.models.conftest import text_of

WAITS = (sys.executable, "-c", "input()")


async def test_a_child_that_gives_no_answer_is_called_the_embedded_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mute = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{mute.sockets[0].getsockname()[1]}"
    limits = Deadlines(connect=1, control=0.2, first_token=0.2)
    model = EmbeddedModel(tmp_path / "w.gguf", deadlines=limits, log=tmp_path / "engine.log")
    alive = await asyncio.to_thread(subprocess.Popen, WAITS, stdin=subprocess.PIPE)
    child = _Child(alive, model._client(address, "key"))

    async def running() -> _Child:
        return child

    monkeypatch.setattr(model, "_running", running)
    monkeypatch.setattr(child, "dying", lambda: asyncio.sleep(0, result=False))
    try:
        with pytest.raises(ModelTrouble) as caught:
            await text_of(model.stream([Message("user", "Hello")], Sampling()))
    finally:
        await child.end()
        mute.close()
    trouble = caught.value
    assert trouble.problem == "The embedded model did not answer in 0.2 s."
    assert trouble.passing
    assert "127.0.0.1" not in str(trouble)
    for way_out in (
        "a smaller model",
        "less run at once",
        "merito doctor",
        str(tmp_path / "engine.log"),
    ):
        assert way_out in trouble.mend
