"""The demonstration: its order, and the recording of it that Merito brings along."""

from __future__ import annotations

import asyncio

import pytest

import sample_dbs
from core.database.files import DatabaseFolder
from core.run.events import EpisodeEnded, EpisodeOutcome, to_json
from core.run.figures import figures_of
from stores.audit import Audit
from stores.recording import Recording
from tests.tui.console.stage import notices, on_screen, settled, until
from tui.console import live
from tui.console.app import MeritoApp
from tui.demo import NOTICE, RECORDED_RUN, order
from tui.main import run
from tui.order import dataset_of
from tui.replaying import opened, shelved


def test_every_question_of_the_demonstration_is_there_with_its_gold() -> None:
    wanted = order({})
    dataset = dataset_of(wanted)
    assert len(dataset.questions) >= 8
    assert all(question.id in dataset.golds for question in dataset.questions)


def test_the_recording_is_a_whole_real_run_on_the_sample_databases() -> None:
    known = set(DatabaseFolder(sample_dbs.folder()).names())
    with Recording.open(RECORDED_RUN) as recording:
        events = list(recording.events())
        assert recording.opening.model.engine == "embedded"
        assert {question.database for question in recording.opening.questions} <= known
    figures = figures_of(events)
    assert figures.ended == "finished"
    assert figures.repaired_with_memory, "it shows what memory is for"
    text = b"".join(map(to_json, events))
    for mark in (b"/root", b"/home", b"/tmp", b".gguf"):
        assert mark not in text, "nothing of the machine that it ran on"
    assert RECORDED_RUN.stat().st_size < 100_000


def test_on_a_shelf_its_memories_can_be_looked_at_and_it_is_gone_afterwards() -> None:
    with opened(str(RECORDED_RUN), RECORDED_RUN) as take, shelved(take) as on_shelf:
        store = on_shelf.store
        assert store is not None
        assert store.read_only
        assert list(on_shelf.events()) == list(take.events())
        ended = [event for event in take.events() if isinstance(event, EpisodeEnded)]
        assert [entry.id for entry in store.entries()] == [e.memory.id for e in ended if e.memory]
        assert any(event.outcome is EpisodeOutcome.REPAIRED for event in ended)
        assert not list(Audit(store).violations())
    assert not store.path.exists()


def test_recorded_is_told_as_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--recorded", "--plain"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("A replay of ")
    assert "Question 8 of 8, database food_market" in out
    assert run(["demo", "--recorded", "--json"]) == 0
    with Recording.open(RECORDED_RUN) as recording:
        wanted = [to_json(event).decode() for event in recording.events()]
    assert capsys.readouterr().out.splitlines() == wanted


def test_in_the_console_each_room_shows_the_recorded_run_and_says_that_it_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    holds = {
        "run": "repaired",
        "memory": "✓ approved",
        "replay": "food_market",
        "experiments": "100.0 %",
    }
    seen: list[str] = []

    async def looked_at(app: MeritoApp) -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await settled(pilot)
            for room, words in holds.items():
                await app.action_room(room)
                for said in (words, "A recording: a small Qwen model", "read-only"):
                    await until(pilot, lambda said=said: said in on_screen(app))
                assert "--read-only" not in on_screen(app)
                seen.append(room)
            for room, words, keys in (
                (
                    "ask",
                    ("This is a recording: it asks nothing.", "merito ask", "merito console"),
                    "ao",
                ),
                ("selection", ("A recording holds no choices", "merito select", "merito console"), ""),
                ("memory", ("This is a recording: decisions are not possible.",), "ari"),
                (
                    "run",
                    ("This is a recording: it shows the run and cannot steer it.",),
                    ["space", "r"],
                ),
            ):
                await app.action_room(room)
                await settled(pilot)
                await pilot.press(*keys)
                await settled(pilot)
                for said in words:
                    assert said in "\n".join([on_screen(app), *notices(app)])
                assert "--read-only" not in on_screen(app), "nobody typed it"

    monkeypatch.setattr(live, "run_console", lambda app, marks: asyncio.run(looked_at(app)))
    with opened(str(RECORDED_RUN), RECORDED_RUN) as take, shelved(take) as on_shelf:
        assert live.replay_in_console(on_shelf, None, notice=NOTICE) == 0
    assert seen == list(holds)


@pytest.mark.parametrize("option", ["--model=x", "--record", "--budget=2", "--store=s.sqlite"])
def test_recorded_takes_nothing_that_shapes_a_run(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--recorded", option]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"so {option.split('=')[0]} changes nothing" in err
