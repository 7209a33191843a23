"""Lanes that need nothing of each other: who is under way, in which order, and what ends them."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.models.chat import Message, Sampling
from core.question import Question
from core.repair.strategy import strategy_named
from core.run.events import AnyEvent, EpisodeEnded, EpisodeStarted, RunEnded, TokenDelta
from core.run.jobs import Jobs, lanes_of, merged
from core.run.stamp import Stamp
from tests.core.run.stage import BROKEN, RIGHT, WRONG, all_of, harbour, questions, staged, wrapped
from tests.scripted import ScriptedModel

ASKED = tuple(
    Question(id=str(n), database=database, text="?") for n, database in enumerate(("a", "b", "A", "c"))
)


@pytest.mark.parametrize(
    ("strategy", "lanes"),
    [
        ("iterative", ((0,), (1,), (2,), (3,))),
        ("resample", ((0,), (1,), (2,), (3,))),
        ("merit-same-database", ((0, 2), (1,), (3,))),
        ("merit", ((0, 1, 2, 3),)),
        ("reflexion", ((0, 1, 2, 3),)),
        ("merito", ((0, 1, 2, 3),)),
    ],
)
def test_what_a_strategy_remembers_says_what_must_stay_in_order(
    strategy: str, lanes: tuple[tuple[int, ...], ...]
) -> None:
    assert lanes_of(ASKED, strategy_named(strategy)) == lanes


class Lanes:
    """Lanes of letters that note how many of them are open and how far they are ahead."""

    def __init__(self, names: str, letters: int = 3) -> None:
        self.open, self.most, self.made = 0, 0, 0
        self.lanes = [self._lane(name, letters) for name in names]

    async def _lane(self, name: str, letters: int) -> AsyncGenerator[str, None]:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            for number in range(letters):
                if name == "!" and number == 1:
                    raise RuntimeError(name)
                self.made += 1
                yield f"{name}{number}"
                await asyncio.sleep(0)
        finally:
            self.open -= 1


@pytest.mark.parametrize("width", [1, 2, 5])
async def test_everything_is_told_each_lane_in_its_order(width: int) -> None:
    lanes = Lanes("abcd")
    told = [item async for item in merged(lanes.lanes, width)]
    assert sorted(told) == [f"{name}{n}" for name in "abcd" for n in range(3)]
    for name in "abcd":
        assert [item for item in told if item[0] == name] == [f"{name}{n}" for n in range(3)]
    assert lanes.most == min(width, 4)


async def test_one_lane_after_another_where_only_one_is_let() -> None:
    told = [item async for item in merged(Lanes("ab").lanes, 1)]
    assert told == ["a0", "a1", "a2", "b0", "b1", "b2"]


async def test_a_lane_goes_on_only_when_its_item_was_taken() -> None:
    lanes = Lanes("ab")
    async with aclosing(merged(lanes.lanes, 2)) as told:
        await anext(told)
        await asyncio.sleep(0.01)
        assert lanes.made == 2, "one item a lane, and no lane ahead of its listener"


async def test_what_goes_wrong_in_one_ends_all() -> None:
    lanes = Lanes("a!b", letters=50)

    async def listen() -> None:
        async with aclosing(merged(lanes.lanes, 3)) as items:
            async for _ in items:
                pass

    with pytest.raises(RuntimeError, match="!"):
        await listen()
    assert lanes.open == 0


async def test_a_listener_who_leaves_ends_all() -> None:
    lanes = Lanes("abc", letters=50)
    async with aclosing(merged(lanes.lanes, 3)) as items:
        await anext(items)
    assert lanes.open == 0


def test_numbers_follow_the_order_in_which_events_leave() -> None:
    stamp = Stamp("r", next_seq=5)
    first, second = stamp(RunEnded, reason="1"), stamp(RunEnded, reason="2")
    delta = stamp.numbered(stamp(TokenDelta, position=0, attempt=0, text="x"))
    assert [stamp.numbered(second).seq, delta.seq, stamp.numbered(first).seq] == [5, 0, 6]


async def test_a_prediction_is_made_by_one_at_a_time() -> None:
    jobs = Jobs(2)
    async with jobs.first("k"):
        assert jobs.first("k").locked()
        assert not jobs.first("other").locked()
    assert not jobs.first("k").locked()


HARBOURS = ("harbour", "marina", "port")


def harbours(folder: Path) -> None:
    """The same database under three names."""
    harbour(folder)
    for name in HARBOURS[1:]:
        (folder / name).mkdir()
        shutil.copy(folder / "harbour" / "harbour.sqlite", folder / name / f"{name}.sqlite")


def answers(messages: Sequence[Message], sampling: Sampling) -> str:
    """Depends on prompt and seed alone; about two in five first answers are right."""
    text = "\n".join(message.content for message in messages)
    drawn = hashlib.sha256(f"{text}\x1f{sampling.seed}".encode()).digest()[0]
    return wrapped((RIGHT, WRONG, BROKEN, RIGHT, f"{WRONG} LIMIT {drawn}")[drawn % 5])


async def lived(folder: Path, strategy: str, width: int) -> list[AnyEvent]:
    """A run over the harbours, `width` lanes at once."""
    asked = [
        msgspec.structs.replace(question, database=HARBOURS[n % 3])
        for n, question in enumerate(questions(15))
    ]
    async with staged(folder, ScriptedModel(answers), asked, strategy=strategy) as run:
        run.equipment.jobs = Jobs(width)
        return await all_of(run)


def timeless(event: AnyEvent) -> Any:
    """An event without its number, and without what the clock decides."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            clock = ("seq", "at", "seconds", "embedding_seconds")
            return {k: without(v) for k, v in value.items() if k not in clock}
        return [without(each) for each in value] if isinstance(value, (list, tuple)) else value

    return without(msgspec.to_builtins(event))


@pytest.mark.parametrize(
    "strategy",
    ["iterative", "resample", "merit-same-database", "merit", "reflexion"],
)
async def test_what_is_under_way_at_once_changes_no_episode(strategy: str, tmp_path: Path) -> None:
    harbours(tmp_path)
    alone, together = [await lived(tmp_path, strategy, width) for width in (1, 4)]
    assert [event.seq for event in together if event.seq] == list(
        range(1, 1 + len([event for event in alone if event.seq]))
    )
    for position in range(15):
        mine, theirs = (
            [timeless(event) for event in events if getattr(event, "position", None) == position]
            for events in (alone, together)
        )
        assert mine
        assert mine == theirs
    assert most_open(alone) == 1
    lanes = {"merit": 1, "reflexion": 1, "merit-same-database": 3}
    assert most_open(together) == lanes.get(strategy, 4)


def most_open(events: Sequence[AnyEvent]) -> int:
    """How many episodes were under way at once, at the most."""
    now = most = 0
    for event in events:
        now += isinstance(event, EpisodeStarted) - isinstance(event, EpisodeEnded)
        most = max(most, now)
    return most
