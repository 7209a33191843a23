"""The Replay screen: every key of the transport, the bar under the mouse, bookmarks, long runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from core.errors import MeritoError
from core.run.events import AnyEvent, JudgementAwaited, SqlExecuted
from tests.streams import EPOCH, run_events
from tests.tui.console.stage import (
    Annals,
    console,
    notices,
    on_screen,
    refusal,
    replaced,
    settled,
    until,
)
from tests.tui.console.test_hostile_text import EVERYTHING, poisoned
from tui.bookmarks import Bookmark, Bookmarks
from tui.console.app import MeritoApp
from tui.console.screens.bookmarks import BookmarkList, ChooseBookmark
from tui.console.screens.dialogs import Words
from tui.console.screens.replay import ReplayScreen
from tui.console.screens.runs import ChooseRun
from tui.console.screens.share import Share
from tui.console.widgets.transport import BOOKMARK, Transport, signs_of
from tui.view.chart import Mark
from tui.view.playback import Playback
from tui.view.reel import Listed

SIZE = (120, 40)


def screen(app: MeritoApp) -> ReplayScreen:
    found = app.screen_stack[0]
    assert isinstance(found, ReplayScreen)
    return found


def playing(app: MeritoApp) -> Playback:
    found = screen(app).playback
    assert found is not None
    return found


def judged_run() -> list[AnyEvent]:
    """Eight questions, one of whose answers waited for a person."""
    events = run_events(8)
    executed = next(i for i, e in enumerate(events) if isinstance(e, SqlExecuted) and e.position == 3)
    asked = JudgementAwaited(run="run-1", seq=0, at=EPOCH, position=3, attempt=0)
    events.insert(executed + 1, asked)
    return [replaced(e, seq=n, at=EPOCH + n) for n, e in enumerate(events, start=1)]


async def test_the_newest_run_stands_at_its_beginning_and_is_labelled() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert playing(app).at == 1
        assert "replay" in on_screen(app)
        assert "|| held 1x" in on_screen(app)
        assert f"event 1 of {len(run_events(8))}" in on_screen(app)


async def test_events_are_stepped_both_ways() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("full_stop", "right", "right")
        assert playing(app).at == 4
        await pilot.press("comma", "left")
        assert playing(app).at == 2


@pytest.mark.parametrize(
    ("on", "back", "mark"),
    [
        ("right_curly_bracket", "left_curly_bracket", Mark.ATTEMPT),
        ("n", "p", Mark.QUESTION),
        ("e", "E", Mark.FAILURE),
        ("r", "R", Mark.REPAIR),
        ("v", "V", Mark.JUDGEMENT),
    ],
)
async def test_marks_are_stepped_both_ways(on: str, back: str, mark: Mark) -> None:
    app = console(judged_run(), room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        places = list(playing(app).chart.marks[mark])
        for place in places[:3]:
            await pilot.press(on)
            assert playing(app).at == place
        for place in places[:2][::-1] if len(places) > 2 else places[:-1][::-1]:
            await pilot.press(back)
            assert playing(app).at == place
        await pilot.press("0", back)
        assert notices(app)[-1] == f"There is no {mark.value} before this place."


async def test_speeds_go_from_one_to_a_hundred() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        seen = [playing(app).speed]
        for _ in range(7):
            await pilot.press("plus")
            seen.append(playing(app).speed)
        assert seen == [1, 2, 5, 10, 20, 50, 100, 100]
        await pilot.press("minus")
        assert playing(app).speed == 50


async def test_space_plays_and_holds() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press(*["plus"] * 6, "space")
        await until(pilot, lambda: playing(app).at > 20)
        await pilot.press("space")
        assert not playing(app).playing


async def test_a_run_that_was_asked_for_plays_at_once() -> None:
    app = console(room="replay", replay_run="run-1", replay_speed=100)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: screen(app).playback is not None and playing(app).ended)
        await settled(pilot)
        assert "8/8" in on_screen(app)
        assert "= end" in on_screen(app)


async def test_beginning_and_end_have_keys_everywhere() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("dollar_sign")
        assert playing(app).ended
        await pilot.press("0")
        assert playing(app).at == 0


async def test_the_bar_takes_keys_once_it_has_the_focus() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("shift+tab")
        assert isinstance(app.focused, Transport)
        length = len(playing(app))
        await pilot.press("pagedown")
        assert playing(app).at == round(length * (1 / length + 0.1))
        await pilot.press("end")
        assert playing(app).ended
        await pilot.press("pageup")
        assert playing(app).at == round(length * 0.9)
        await pilot.press("home")
        assert playing(app).at == 0
        await pilot.press("tab")
        assert app.focused is not None
        assert app.focused.id == "queue"


async def test_the_bar_is_clicked_and_dragged() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.click(Transport, offset=(119, 1))
        assert playing(app).ended
        await pilot.mouse_down(Transport, offset=(0, 1))
        await pilot.pause()
        assert playing(app).at == 0
        await pilot.hover(Transport, offset=(60, 1))
        await pilot.pause()
        assert playing(app).at == pytest.approx(len(playing(app)) / 2, rel=0.03)
        await pilot.mouse_up(Transport, offset=(60, 1))
        await pilot.hover(Transport, offset=(10, 1))
        await pilot.pause()
        assert playing(app).at == pytest.approx(len(playing(app)) / 2, rel=0.03)


@pytest.mark.parametrize(
    ("words", "share"),
    [("0%", 0.0), ("40 %", 0.4), ("100%", 1.0), ("250%", 1.0), ("event 7", None), ("1,000,000", 1.0)],
)
async def test_places_are_gone_to_by_their_name(words: str, share: float | None) -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await said(pilot, "percent_sign", words)
        assert playing(app).at == (7 if share is None else round(share * len(playing(app))))


async def test_questions_times_and_bookmarks_are_places_too() -> None:
    app = console(room="replay")
    app.bookmarks.put("run-1", Bookmark(place=33, name="The turn"))
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await said(pilot, "percent_sign", "q3")
        assert playing(app).view.live == 2
        await said(pilot, "percent_sign", "0:05")
        assert playing(app).seconds <= 5
        assert playing(app).at > 1
        await said(pilot, "percent_sign", "the TU")
        assert playing(app).at == 33
        for nonsense, why in (
            ("q99", "Question 99 has not"),
            ("elsewhere [/x]", "is no place in this"),
        ):
            await pilot.press("percent_sign")
            await until(pilot, lambda: isinstance(app.screen, Words))
            app.screen.query_one("#words").value = nonsense
            await pilot.press("enter")
            await until(pilot, lambda why=why: why in on_screen(app))
            assert app.screen.query_one("#words").value == nonsense
            assert playing(app).at == 33
            app.screen.query_one("#words").value = ""
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
        assert not notices(app)


async def said(pilot, key: str, words: str) -> None:
    """Press a key that asks for words, and answer."""
    app = pilot.app
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, Words))
    app.screen.query_one("#words").value = words
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
    await settled(pilot)


async def test_bookmarks_are_set_named_gone_to_and_kept(tmp_path: Path) -> None:
    app = console(room="replay")
    app.bookmarks = Bookmarks(tmp_path / "bookmarks.json")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("n", "n")
        first = playing(app).at
        await said(pilot, "b", "")
        assert BOOKMARK in on_screen(app)
        await pilot.press("n", "n")
        second = playing(app).at
        await said(pilot, "b", "  second [/x] ")
        await pilot.press("0", "apostrophe")
        assert playing(app).at == first
        await pilot.press("apostrophe")
        assert playing(app).at == second
        assert "second [/x]" in on_screen(app)
        await pilot.press("quotation_mark")
        assert playing(app).at == first
        await pilot.press("quotation_mark")
        assert notices(app)[-1] == "There is no bookmark before this place."
    kept = Bookmarks(tmp_path / "bookmarks.json").of("run-1")
    assert [(each.place, each.name) for each in kept] == [
        (first, "question 2, started"),
        (second, "second [/x]"),
    ]


async def test_the_list_of_bookmarks_goes_renames_removes_and_undoes() -> None:
    app = console(room="replay")
    for place, name in ((5, "early"), (30, "middle"), (40, "late")):
        app.bookmarks.put("run-1", Bookmark(place=place, name=name))
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, ChooseBookmark))
        await pilot.press("down", "r")
        await until(pilot, lambda: isinstance(app.screen, Words))
        app.screen.query_one("#words").value = "the turn"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChooseBookmark))
        await until(pilot, lambda: "the turn" in on_screen(app))
        await pilot.press("x")
        assert [each.name for each in app.bookmarks.of("run-1")] == ["early", "late"]
        await pilot.press("x", "u", "u")
        assert [each.name for each in app.bookmarks.of("run-1")] == ["early", "the turn", "late"]
        app.screen.query_one(BookmarkList).select(1)
        await pilot.press("enter")
        await until(pilot, lambda: playing(app).at == 30)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, ChooseBookmark))
        await pilot.press("escape")
        await settled(pilot)
        assert playing(app).at == 30


async def test_without_bookmarks_the_list_says_how_to_set_one() -> None:
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, ChooseBookmark))
        await until(pilot, lambda: "b sets one" in on_screen(app))
        await pilot.press("x", "r", "u", "escape")
        await settled(pilot)
        assert isinstance(app.screen, ReplayScreen)


async def test_a_bookmark_that_cannot_be_kept_keeps_its_name_in_the_field(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{")
    app = console(room="replay")
    app.bookmarks = Bookmarks(tmp_path / "b.json")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert "make no sense" in notices(app)[-1]
        app.clear_notifications()
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, Words))
        await pilot.press("x", "enter")
        await until(pilot, lambda: "make no sense" in refusal(app))
        assert app.screen.query_one("#words").value == "x"
        assert not notices(app)
        assert (tmp_path / "b.json").read_text() == "{"


def test_the_bar_shows_every_kind_of_mark() -> None:
    playback = Playback(Listed(judged_run()))
    while playback.survey():
        pass
    assert {sign for sign, _ in signs_of(playback, 200).values()} == {"|", "+", "\u00d7", "?"}
    assert "|" not in {sign for sign, _ in signs_of(playback, 20).values()}


async def test_another_run_is_chosen_from_the_list() -> None:
    first, second = run_events(8), run_events(3, run="run-2")
    app = console(first, room="replay", archive=Annals(first, second))
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ChooseRun))
        await pilot.press("down", "enter")
        await until(pilot, lambda: playing(app).view.figures.run == "run-2")
        await settled(pilot)
        assert "0/3" in on_screen(app)


async def test_a_replay_leaves_the_live_run_alone() -> None:
    app = console(hold=20)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        finished = app.session.view.figures.finished
        await app.action_room("replay")
        await settled(pilot)
        await pilot.press("n", "n", "n", "n")
        assert app.session.view.figures.finished == finished
        await app.action_room("run")
        await settled(pilot)
        assert f"{finished}/8" in on_screen(app)


async def test_an_old_episode_is_shown_as_far_as_it_had_come() -> None:
    app = console(run_events(60), room="replay")
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("dollar_sign", "g")
        await settled(pilot)
        shown = screen(app).episode
        assert shown is not None
        assert shown.position == 0
        assert shown.outcome is not None


class Slow(Listed):
    """Gives its first page at once, and the rest when it is let."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        super().__init__(events)
        self.broken = False

    def read(self, start: int, stop: int) -> Sequence[AnyEvent]:
        if self.broken and start:
            raise MeritoError("The disk is gone.", "Bring it back.")
        return super().read(start, stop)


async def test_a_place_that_is_not_read_yet_is_gone_to_once_it_is() -> None:
    app = console(run_events(60), room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        here = screen(app)
        fresh = Playback(Listed(run_events(60)))
        fresh.survey(10)
        here.playback = fresh
        await pilot.press("dollar_sign")
        assert fresh.at == 0
        assert "read so far" in on_screen(app)
        app.start(here._survey(fresh), group="survey")
        await until(pilot, lambda: fresh.ended)


async def test_a_run_that_cannot_be_read_to_its_end_is_played_as_far_as_it_can() -> None:
    events = run_events(60)
    reel = Slow(events)
    reel.broken = True

    class Broken(Annals):
        async def reel(self, run: str) -> Listed:
            return reel

    app = console(events, room="replay", archive=Broken(events))
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert "The disk is gone." in notices(app)[-1]
        await pilot.press("n")
        assert playing(app).view.live == 0


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("p", "merito-run-1.html"),
        ("P", "merito-run-1-redacted.html"),
        ("r", "merito-run-1.jsonl.gz"),
        ("R", "merito-run-1-redacted.jsonl.gz"),
    ],
)
async def test_a_run_is_written_for_others_by_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    app = console(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        for _ in range(2):
            await pilot.press("H")
            await until(pilot, lambda: isinstance(app.screen, Share))
            await pilot.press(key)
            await settled(pilot)
        assert notices(app)[-2] == f"Wrote {name}"
        assert len(names(tmp_path)) == 2, "the second takes another name"
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, Share))
        await pilot.press("escape")
        await settled(pilot)
        assert len(names(tmp_path)) == 2


def names(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_picture_is_saved_from_a_replay_of_hostile_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = console(poisoned(EVERYTHING), room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("dollar_sign", "S")
        await settled(pilot)
    (picture,) = names(tmp_path)
    root = ElementTree.parse(picture).getroot()
    assert {each.tag.rpartition("}")[2] for each in root.iter()} <= {
        "svg", "style", "defs", "clipPath", "rect", "g", "text", "circle",
    }  # fmt: skip


async def test_with_no_run_every_key_says_so() -> None:
    app = MeritoApp(room="replay")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        for key in ("space", "n", "right", "0", "percent_sign", "b", "B", "apostrophe", "plus"):
            await pilot.press(key)
        await settled(pilot)
        assert set(notices(app)) == {"No run is loaded. o chooses one of the stored runs."}
        await pilot.press("o")
        await settled(pilot)
        assert "no runs to replay" in notices(app)[-1]
        assert "merito replay FILE" in on_screen(app)
