"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shared machine makes an example slow now and then; that says nothing about the property.
# CI draws the same examples every time, so that a change fails for what it changed; everybody else
# looks for new ones.
settings.register_profile(
    "merito",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("merito")

os.environ.setdefault("HF_HUB_OFFLINE", "1")

PROJECT = Path(__file__).resolve().parent.parent
BENCHMARK_COPIES = PROJECT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The copies of Spider and BIRD; the test is skipped where they are absent."""
    folder = Path(os.environ.get("MERITO_TEST_DATA", BENCHMARK_COPIES))
    if not (folder / "spider" / "dev.json").exists():
        pytest.skip(f"no copies of Spider and BIRD at {folder} (set MERITO_TEST_DATA)")
    return folder


@pytest.fixture(scope="session")
def small_weights() -> Path:
    """The 0.5B weights in the user's cache; the test is skipped where they are absent."""
    import platformdirs

    cache = platformdirs.user_cache_path("merito", appauthor=False) / "models"
    folder = Path(os.environ.get("MERITO_TEST_MODELS", cache))
    path = folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    if not path.exists():
        pytest.skip(f"no weights at {path} (merito models pull 0.5b)")
    return path
