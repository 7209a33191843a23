"""Stores for tests, and folders that misbehave."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stores.store import Store


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder in which a commit does not wait for a real disk, where the machine has one: what
    these tests kill are processes, never the power."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield request.getfixturevalue("tmp_path_factory").mktemp("store")
        return
    with tempfile.TemporaryDirectory(dir=shared, prefix="merito-test-") as folder:
        yield Path(folder)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "merito.sqlite"


@pytest.fixture(scope="session")
def newborn(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An empty store's bytes: copying them is quicker than making a store for every test."""
    path = tmp_path_factory.mktemp("newborn") / "merito.sqlite"
    Store.create(path).close()
    return path.read_bytes()


@pytest.fixture
def store(path: Path, newborn: bytes) -> Iterator[Store]:
    """An empty store, open for writing; it does not wait for the disk."""
    path.write_bytes(newborn)
    with Store.open(path, durability="OFF") as opened:
        yield opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte; skipped where none can be mounted."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0 or _mount(folder, "size=1m").returncode:
        pytest.skip("a file system of one megabyte can only be mounted as root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def make_read_only() -> Iterator[Callable[[Path], None]]:
    """Makes a folder with files in it unwritable, for root as well."""
    mounted: list[Path] = []
    closed: list[Path] = []

    def close_for_root(folder: Path) -> None:
        files = {file.name: file.read_bytes() for file in folder.iterdir()}
        if _mount(folder, "size=8m").returncode:
            pytest.skip("root can write everywhere, and no read-only file system can be mounted")
        mounted.append(folder)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)

    def close(folder: Path) -> None:
        if os.geteuid() == 0:
            close_for_root(folder)
            return
        folder.chmod(0o555)
        closed.append(folder)

    yield close
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)
    for folder in closed:
        folder.chmod(0o755)


def _mount(folder: Path, options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
