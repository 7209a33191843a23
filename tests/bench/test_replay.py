"""Replay against its bars: a jump to any place of 100,000 events, and the memory that it takes.

`pytest -m bench -s tests/bench/test_replay.py` prints each figure with what it was measured on.
"""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from stores.reel import StoredReel
from stores.store import Store
from tests.bench.console_load import QUESTIONS, TOTAL, endless
from tests.bench.test_console import told
from tests.streams import EPOCH
from tui.view.playback import Playback

pytestmark = [pytest.mark.bench, pytest.mark.slow, pytest.mark.timeout(600)]

JUMPS = 200


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run of 100,000 events and 10,000 questions, each asked once at most."""
    path = tmp_path_factory.mktemp("replay") / "s.sqlite"
    with Store.open(path, create=True, durability="OFF") as store:
        events = itertools.islice(endless(deltas=False), TOTAL)
        numbered = (
            msgspec.structs.replace(event, seq=place, at=EPOCH + place / 10)
            for place, event in enumerate(events, start=1)
        )
        while batch := list(itertools.islice(numbered, 2_000)):
            store.append(batch)
    return path


def test_any_place_of_a_hundred_thousand_events_within_100_ms(stored: Path) -> None:
    process = psutil.Process()
    with Store.open(stored, mode="read") as store:
        playback = Playback(StoredReel(store, "load"))
        before, began = process.memory_info().rss, time.perf_counter()
        while playback.survey():
            pass
        survey = time.perf_counter() - began
        charted = process.memory_info().rss
        chance = random.Random(5)
        seconds = []
        for place in [len(playback), 1, *(chance.randrange(len(playback)) for _ in range(JUMPS))]:
            began = time.perf_counter()
            playback.seek(place)
            seconds.append(time.perf_counter() - began)
        after = process.memory_info().rss
    seconds.sort()
    told(
        events=len(playback),
        questions=QUESTIONS,
        survey_seconds=survey,
        jump_ms_median=1_000 * seconds[len(seconds) // 2],
        jump_ms_p95=1_000 * seconds[int(len(seconds) * 0.95)],
        jump_ms_worst=1_000 * seconds[-1],
        charting_mib=(charted - before) / 2**20,
        jumping_mib=(after - charted) / 2**20,
    )
    assert seconds[int(len(seconds) * 0.95)] < 0.1
    assert (charted - before) / 2**20 < 100
    assert (after - charted) / 2**20 < 60
