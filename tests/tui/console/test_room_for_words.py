"""Where room is short, words are left out as a whole, in the sequence of their worth, and what belongs
together stays together."""

from __future__ import annotations

import pytest
from textual.content import Content

from core.memory.entry import ReviewState
from tests.streams import episode_events, run_events
from tests.tui.console.stage import Shelves, console, on_screen, settled, sheet
from tests.tui.console.studied import computed, room, study
from tui.console.widgets.banner import Banner, in_lines
from tui.console.widgets.head import fitted
from tui.console.widgets.listing import Listing
from tui.console.widgets.shelf import Shelf


def plain(lines: list[Content]) -> list[str]:
    return [each.plain.strip() for each in lines]


def test_figures_that_find_no_room_leave_it_to_shorter_ones() -> None:
    chips = [Content("first 20 %"), Content("a model of a very long name"), Content("44 calls")]
    assert plain(fitted(chips, 40, lines=1)) == ["first 20 %  │  44 calls"]
    assert plain(fitted(chips, 40, lines=2)) == ["first 20 %", "a model of a very long name"]
    assert plain(fitted(chips, 44, lines=2)) == [
        "first 20 %  │  a model of a very long name",
        "44 calls",
    ]
    assert plain(fitted(chips, 8, lines=1)) == [""]


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (120, "12 of 12 · right: helped/retrieved"),
        (200, "12 of 12 · right: helped/retrieved · nothing to review"),
        (84, "12 of 12 · right: helped/retrieved · nothing to review"),
    ],
)
async def test_what_stands_below_the_memories_is_never_cut(width: int, words: str) -> None:
    app = console(run_events(24), room="memory")
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        await pilot.resize_terminal(width, 40)
        await settled(pilot)
        assert str(app.screen.query_one(Shelf).border_subtitle) == words


async def test_below_no_memories_stands_nothing() -> None:
    app = console(run_events(1), room="memory")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "No memory yet" in on_screen(app)
        assert not app.screen.query_one(Shelf).border_subtitle


async def test_what_is_to_be_reviewed_comes_before_what_the_columns_mean() -> None:
    events = run_events(8)
    library = Shelves(events)
    first = (await library.entries())[0]
    app = console(events, room="memory", library=library)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        await settled(pilot)
        assert library.state(first.id) is ReviewState.REJECTED
        assert "1 of 1 reviewed" in str(app.screen.query_one(Shelf).border_subtitle)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("folder", ["", "/a/folder/with/a/long/name" * 6], ids=["short", "long"])
async def test_a_notice_is_read_to_its_end_which_says_what_to_do(
    size: tuple[int, int], folder: str
) -> None:
    busy = f"Another Merito is writing to {folder}/merito.sqlite."
    notice = f"{busy} What it records is followed live, and can be reviewed."
    app = console(run_events(8), notice=notice, room="memory")
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        banner = app.screen.query_one(Banner)
        assert "".join(banner.render().plain.split()) == "i" + "".join(notice.split())
        assert banner.size.height == len(banner.render().plain.split("\n"))
        text = " ".join(on_screen(app).split())
        assert "followed live, and can be reviewed." in text
        assert "━ Memories" in text, "the panes begin below it"


@pytest.mark.parametrize("words", ["", "short", "two words " * 9, "漢字 " * 40, "x" * 300])
@pytest.mark.parametrize("most", [2, 3])
def test_a_notice_never_takes_more_lines_than_it_may(words: str, most: int) -> None:
    lines = in_lines(words, 60, most)
    assert 1 <= len(lines) <= most
    assert all(Content(line).cell_length <= 60 for line in lines)
    if " ".join(lines).split() != words.split():
        assert "…" in lines[-1]


async def test_a_setting_and_its_value_stand_on_one_line() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("down")
        await computed(pilot, app)
        lines = sheet(app, "figures").split("\n")
        assert any("worked 28 s" in each for each in lines)
        assert any("prompts built in" in each for each in lines)


async def test_a_row_ends_with_its_state_also_where_the_list_has_not_heard_of_its_new_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = run_events(8)[:1]
    app = console(begun, hold=len(begun))
    async with app.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        monkeypatch.setattr(Listing, "on_resize", lambda _listing, _event: None)
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert on_screen(app).count("… waiting ") == 8
        app.staged.let_go.set()


async def test_a_question_of_which_nothing_is_written_says_so() -> None:
    begun = [*run_events(2)[:1], episode_events(0)[0]]
    app = console(begun, hold=len(begun))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert "Nothing is written yet." in sheet(app, "episode")
        app.staged.let_go.set()
